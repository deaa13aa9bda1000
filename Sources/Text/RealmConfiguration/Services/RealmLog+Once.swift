// SPDX-License-Identifier: Apache-2.0

package import RealmKit
internal import Synchronization

extension RealmLog {
    /// Creates a log that writes each message only once, for commands.
    ///
    /// - Parameter write: Writes a message.
    /// - Returns: The log.
    package static func once(_ write: @escaping @Sendable (String) -> Void) -> RealmLog {
        let messages = WrittenMessages()
        return RealmLog { _, message in
            if messages.isNew(message) { write(message) }
        }
    }

    /// A log that discards all messages.
    package static var discarding: RealmLog { RealmLog { _, _ in } }

    private final class WrittenMessages: Sendable {
        private let messages = Mutex<Set<String>>([])

        func isNew(_ message: String) -> Bool { messages.withLock { $0.insert(message).inserted } }
    }
}
