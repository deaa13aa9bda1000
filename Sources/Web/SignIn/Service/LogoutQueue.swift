// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Logging
internal import RealmKit
internal import Synchronization

/// Calls the logout of the modules of ended logins, once for each login and in the background.
///
/// When the server stops, the logouts that are still queued are dropped.
final class LogoutQueue: Sendable {
    /// The maximum number of logouts that run at the same time.
    static let maximumConcurrent = 4
    /// The time limit for all modules of a login together; each module also has its own.
    static let deadline = Duration.seconds(30)
    /// The maximum number of queued logins; the drop of a further login is logged.
    static let capacity = 100_000

    private let logins: AsyncStream<AuthenticatedIdentity>
    private let waiting: AsyncStream<AuthenticatedIdentity>.Continuation
    private let clock: any LoginClock
    private let logger: Logger
    private let dropped = Atomic(0)

    init(capacity: Int = LogoutQueue.capacity, clock: any LoginClock, logger: Logger) {
        (logins, waiting) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(capacity))
        self.clock = clock
        self.logger = logger
    }

    /// Adds a login without waiting for the logout, unless it was added before; nil for a login before a restart, whose
    /// modules cannot be called.
    func add(_ identity: AuthenticatedIdentity?) {
        // A login can be added twice, if another request ends the session while the sign-in fails.
        guard let identity, identity.beginLogout(), case .dropped = waiting.yield(identity) else { return }
        // A full queue drops many logouts, so only the first and every thousandth drop is logged.
        let count = dropped.wrappingAdd(1, ordering: .relaxed).newValue
        guard count % 1000 == 1 else { return }
        logger.error(
            "too many logouts are waiting, so the modules of a login are not called",
            metadata: ["count": "\(count)"]
        )
    }

    /// Runs logouts until the task is cancelled; only one task may call it.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await identity in logins {
                if running == Self.maximumConcurrent {
                    await group.next()
                    running -= 1
                }
                group.addTask { await self.logOut(identity) }
                running += 1
            }
        }
    }

    private func logOut(_ identity: AuthenticatedIdentity) async {
        // The wait is limited, so that a blocked module cannot prevent the server from stopping. The task itself ends
        // at the deadlines of the modules.
        let work = Task { await identity.logout() }
        guard let report = await TimeLimitedWait.value(of: work, within: Self.deadline, clock: clock) else {
            if !Task.isCancelled { logFailure(identity, "the modules did not answer within \(Self.deadline)") }
            return
        }
        for step in report.steps {
            if let fault = step.fault { logFailure(identity, "\(step.module): \(fault)") }
        }
    }

    private func logFailure(_ identity: AuthenticatedIdentity, _ reason: String) {
        var metadata = LogField.metadata([.user: identity.username.text, .realm: identity.realm])
        metadata["reason"] = "\(LogText.quoted(reason))"
        logger.warning("a logout has failed", metadata: metadata)
    }
}
