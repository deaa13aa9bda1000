// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes
internal import Logging
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store
internal import Synchronization

/// The sessions and pending logins of users, which outlive the configuration, as it may be reloaded.
final class SignInState: Sendable {
    /// The sessions of all users.
    let sessions: SessionTable
    let tickets: SignInTickets
    let waiting: PendingLogins<MultiRealmLoginReport.Outcome>
    /// The user names of rejected sign-ins, which the next sign-in page shows again.
    let names = BoundedCache<String>()
    /// The sessions that browsers have begun with a sign-in page; another sign-in with the same page ends them.
    let recent = BoundedCache<Session>()
    let clock: any LoginClock
    let wall: WallClock
    /// The queue for the logouts of ended sessions.
    let logouts: LogoutQueue
    private let reloads = Atomic(0)
    private let log: SessionLog

    /// The number of reloads of the configuration.
    var generation: Int { reloads.load(ordering: .acquiring) }

    /// Counts a reload of the configuration: a login that began before must not create a session.
    func noteReload() { reloads.add(1, ordering: .acquiringAndReleasing) }

    init(
        sessions: SessionTable,
        tickets: SignInTickets,
        settings: SignInSettings,
        clock: any LoginClock,
        wall: WallClock,
        logouts: LogoutQueue,
        log: SessionLog
    ) {
        self.sessions = sessions
        self.tickets = tickets
        waiting = PendingLogins(limit: settings.waiting, time: settings.time.nanoseconds, clock: clock)
        self.clock = clock
        self.wall = wall
        self.logouts = logouts
        self.log = log
    }

    /// Returns the state of a server, kept in the store that the realms share, if there is one.
    static func make(_ configuration: Configuration, logger: Logger) throws -> SignInState {
        let log = SessionLog(logger)
        let logouts = LogoutQueue(clock: SystemClock(), logger: logger)
        let sessions = SessionTable(
            configuration.server.sessions,
            store: try configuration.services[LazyStore.self]?.store(),
            clock: SystemClock(),
            wall: WallClock.system,
            onWrongHost: { session, host in log.noteStray(session, at: host) },
            onEnd: { session, cause in
                log.noteEnd(session, cause)
                logouts.add(session.identity)
            }
        )
        return SignInState(
            sessions: sessions,
            tickets: try SignInTickets(),
            settings: configuration.server.signIn,
            clock: SystemClock(),
            wall: WallClock.system,
            logouts: logouts,
            log: log
        )
    }

    /// Logs the beginning of a session.
    func noteBeginning(_ session: Session) { log.noteBeginning(session) }

    /// Logs that the end of a session could not be stored.
    func noteUnstoredEnd(_ session: Session) { log.noteUnstoredEnd(session) }

    /// Logs a login that was rejected or found a realm unavailable, if there is a report.
    func noteRefusal(_ report: LoginReport?) {
        if let report { log.noteRefusal(report) }
    }

    /// Expires sessions and pending logins, and runs logouts, until the task is cancelled.
    ///
    /// - Parameter onError: Called when sessions cannot be stored.
    func run(onError: @escaping @Sendable (SessionStoreError) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sessions.run(onError: onError) }
            group.addTask { await self.sweep() }
            group.addTask { await self.logouts.run() }
        }
        waiting.cancelAll()
    }

    private func sweep() async {
        while true {
            do throws(CancellationError) {
                try await clock.sleep(until: clock.now &+ 1_000_000_000)
            } catch {
                return
            }
            waiting.sweep(clock.now)
        }
    }
}
