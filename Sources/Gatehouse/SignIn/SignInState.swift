// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import Logging
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store
internal import Synchronization

/// What is known of people who sign in: it outlives the configuration, which may be read again.
final class SignInState: Sendable {
    /// What a login that waits for a person has to remember.
    struct Pending: Sendable {
        /// Where somebody wanted to go.
        let target: String?
        /// What is said before that.
        let messages: [String]
        /// What is asked.
        let questions: [Callback]
        let number: Int
        /// When it began.
        let began: Beginning
    }

    /// When a login began: what has changed since then it may not have seen.
    struct Beginning: Sendable {
        /// As sessions count.
        let mark: SessionMark
        /// How often the configuration had been read again.
        let generation: Int
    }

    /// Who has signed in.
    let sessions: SessionTable
    let tickets: SignInTickets
    let waiting: WaitingLogins<SignInAttempt, Pending>
    /// The names that were typed and not accepted, to be shown again.
    let names = Recent<String>()
    /// The sessions that browsers have begun with a sign-in page; another sign-in with the same page ends them.
    let recent = Recent<Session>()
    let clock: any LoginClock
    let wall: WallClock
    private let reloads = Atomic(0)
    private let log: SessionLog

    /// How often the configuration was read again.
    var generation: Int { reloads.load(ordering: .acquiring) }

    /// Takes note that the configuration was read again: a login that began before is not to begin a session.
    func noteReload() { reloads.add(1, ordering: .acquiringAndReleasing) }

    init(
        sessions: SessionTable,
        tickets: SignInTickets,
        settings: SignInSettings,
        clock: any LoginClock,
        wall: WallClock,
        log: SessionLog
    ) {
        self.sessions = sessions
        self.tickets = tickets
        waiting = WaitingLogins(limit: settings.waiting, time: settings.time.nanoseconds, clock: clock)
        self.clock = clock
        self.wall = wall
        self.log = log
    }

    /// What a server knows, kept in the store that the realms were lent, if there is one.
    static func make(_ configuration: Configuration, logger: Logger) throws -> SignInState {
        let log = SessionLog(logger)
        let sessions = SessionTable(
            configuration.server.sessions,
            store: try configuration.services[StoreSource.self]?.store(),
            clock: SystemClock(),
            wall: WallClock.system,
            onEnd: { session, cause in log.noteEnd(session, cause) }
        )
        return SignInState(
            sessions: sessions,
            tickets: try SignInTickets(),
            settings: configuration.server.signIn,
            clock: SystemClock(),
            wall: WallClock.system,
            log: log
        )
    }

    /// Takes note that somebody was let in.
    func noteBeginning(_ session: Session) { log.noteBeginning(session) }

    /// Takes note that somebody was not.
    func noteRefusal(_ report: LoginReport?) {
        if let report { log.noteRefusal(report) }
    }

    /// Ends what has taken too long, until the task is cancelled.
    ///
    /// - Parameter onError: Told when sessions cannot be stored.
    func run(onError: @escaping @Sendable (SessionStoreError) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sessions.run(onError: onError) }
            group.addTask { await self.sweep() }
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
