// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import RealmKit
internal import Synchronization

/// Logs out the modules of logins that have ended, each login once and outside the path of requests.
///
/// At most ``width`` logouts run at the same time. The queue waits for each of them for at most ``deadline``, and every
/// module has a deadline of its own. Logouts that still wait when the server stops are not run.
final class LogoutQueue: Sendable {
    /// The number of logouts that run at the same time.
    static let width = 4
    /// The time that the modules of one login may take together.
    static let deadline = Duration.seconds(30)
    /// The number of logins that may wait; the logout of one more is dropped, which is logged.
    static let bound = 100_000

    private let logins: AsyncStream<AuthenticatedIdentity>
    private let waiting: AsyncStream<AuthenticatedIdentity>.Continuation
    private let clock: any LoginClock
    private let logger: Logger
    private let dropped = Atomic(0)

    /// An empty queue.
    ///
    /// - Parameters:
    ///   - bound: The number of logins that may wait.
    ///   - clock: The clock that measures the deadline.
    ///   - logger: The log for failed and dropped logouts.
    init(bound: Int = LogoutQueue.bound, clock: any LoginClock, logger: Logger) {
        (logins, waiting) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(bound))
        self.clock = clock
        self.logger = logger
    }

    /// Adds a login, unless it has been added before; the call does not wait for the logout.
    ///
    /// - Parameter identity: The identity of the login; nil for a login before a restart, of which nothing is known.
    func add(_ identity: AuthenticatedIdentity?) {
        // Another request may end a session while its sign-in fails for another reason: then the login is added twice.
        guard let identity, identity.beginLogout(), case .dropped = waiting.yield(identity) else { return }
        // The first dropped logout and then every thousandth is logged, as many are dropped at once.
        let count = dropped.wrappingAdd(1, ordering: .relaxed).newValue
        guard count % 1000 == 1 else { return }
        logger.error(
            "too many logouts are waiting, so the modules of a login are not called",
            metadata: ["count": "\(count)"]
        )
    }

    /// Runs logouts until the task is cancelled.
    ///
    /// Only one task may run it.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await identity in logins {
                if running == Self.width {
                    await group.next()
                    running -= 1
                }
                group.addTask { await self.logOut(identity) }
                running += 1
            }
        }
    }

    private func logOut(_ identity: AuthenticatedIdentity) async {
        // A blocked module must not keep the server from stopping. The task ends with the deadlines of its modules.
        let work = Task { await identity.logout() }
        guard let report = await TimeLimitedWait.value(of: work, within: Self.deadline, clock: clock) else {
            if !Task.isCancelled { note(identity, "the modules did not answer within \(Self.deadline)") }
            return
        }
        for step in report.steps {
            if let fault = step.fault { note(identity, "\(step.module): \(fault)") }
        }
    }

    private func note(_ identity: AuthenticatedIdentity, _ reason: String) {
        logger.warning(
            "a logout has failed",
            metadata: [
                "user": "\(LogText.quoted(identity.username.text))", "realm": "\(LogText.quoted(identity.realm))",
                "reason": "\(LogText.quoted(reason))",
            ]
        )
    }
}
