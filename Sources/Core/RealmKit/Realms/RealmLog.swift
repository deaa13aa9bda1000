// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

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

    /// Creates a log from a closure that is called on any thread, and must not block.
    public init(_ write: @escaping @Sendable (Level, String) -> Void) { self.write = write }

    /// Writes a message without secrets; the program's log quotes names that came from outside.
    public func callAsFunction(_ message: String, _ level: Level = .warning) { write(level, message) }
}

/// Logs the outages of the back end of a realm, each cause at most once a second.
package final class OutageLog: Sendable {
    private static let interval: UInt64 = 1_000_000_000

    private let log: RealmLog?
    private let realmName: String
    private let now: @Sendable () -> UInt64
    /// The times at which the causes were logged last, by server and kind of cause.
    private let times = Mutex<[String: UInt64]>([:])

    /// Creates a log; `now` returns the time of a monotonic clock, in nanoseconds.
    package init(_ log: RealmLog?, realmName: String, now: @escaping @Sendable () -> UInt64) {
        self.log = log
        self.realmName = realmName
        self.now = now
    }

    /// Runs the check of a login, and logs the cause if the back end is unavailable or overloaded, unless it was cancelled.
    package func watching<Result>(_ check: () async throws(LoginFault) -> Result) async throws(LoginFault) -> Result {
        do throws(LoginFault) {
            return try await check()
        } catch {
            if error.kind.isTemporary, !Task.isCancelled { write(error.log, kind: error.kind.code) }
            throw error
        }
    }

    /// Logs a cause, without secrets, unless one of the same kind, of a limited number, was logged for the same server in the
    /// last second.
    package func write(_ cause: String, kind: String, server: String = "") {
        guard let log else { return }
        let time = now()
        let isDue = times.withLock { times in
            if let last = times["\(kind) \(server)"], time &- last < Self.interval { return false }
            times["\(kind) \(server)"] = time
            return true
        }
        guard isDue else { return }
        log("realm \(realmName): \(server.isEmpty ? "" : "\(server): ")\(cause)", .error)
    }
}
