// SPDX-License-Identifier: Apache-2.0

/// The log in which a realm reports problems to the administrator, such as a file that cannot be read or a line that is
/// ignored.
public struct RealmLog: Sendable {
    /// The severity of a message.
    public enum Level: Sendable, Hashable {
        /// A normal event.
        case notice
        /// A problem that does not stop the realm.
        case warning
        /// A problem that keeps users from signing in.
        case error
    }

    private let write: @Sendable (Level, String) -> Void

    /// Creates a log.
    ///
    /// - Parameter write: Takes a message without secrets. It is called on any thread, and must not block.
    public init(_ write: @escaping @Sendable (Level, String) -> Void) {
        self.write = write
    }

    /// Writes a message.
    ///
    /// - Parameters:
    ///   - message: The event, without secrets. The program's log quotes names that came from outside.
    ///   - level: The severity.
    public func callAsFunction(_ message: String, _ level: Level = .warning) {
        write(level, message)
    }
}
