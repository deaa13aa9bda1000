// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import Logging
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store
internal import Synchronization

/// The sessions and pending logins.
///
/// This state is kept when the configuration is reloaded.
final class SignInState: Sendable {
    /// The sessions of all users.
    let sessions: SessionTable
    let tickets: SignInTickets
    let handOverCodes: HandOverCodes
    let pendingLogins: PendingLogins<MultiRealmLoginReport.Outcome>
    /// The message of the administrator to all users.
    let announcement: AnnouncementReader
    /// The user names of rejected sign-ins.
    ///
    /// The next sign-in page shows them again.
    let rejectedNames = PerBrowserCache<String>()
    /// The times of the last sign-outs after which a browser was led to a target.
    ///
    /// If the target leads to the sign-in page, the page reports the sign-out.
    let signOuts = PerBrowserCache<UInt64>()
    /// The latest session of each browser.
    ///
    /// If the browser signs in again, that session ends.
    let sessionsByBrowser = PerBrowserCache<Session>()
    let clock: any LoginClock
    let wallClock: WallClock
    /// The queue for the logouts of ended sessions.
    let logouts: LogoutQueue
    /// The numbers of questions to users.
    let questionNumbers = QuestionNumbers()
    private let reloads = Mutex<(count: Int, last: Authenticator?)>((0, nil))
    private let log: SessionLog

    /// The number of reloads of the configuration.
    var generation: Int { reloads.withLock { $0.count } }

    /// Counts a reload of the configuration.
    ///
    /// - Parameter authenticator: The authenticator of the new configuration.
    func countReload(to authenticator: Authenticator) {
        reloads.withLock { $0 = ($0.count + 1, authenticator) }
    }

    /// Returns whether a realm is the same as when a login began: since then, the configuration was not reloaded, or
    /// not changed.
    ///
    /// Secrets are not compared, as for sessions.
    func isUnchanged(_ realm: String, since generation: Int, of authenticator: Authenticator) -> Bool {
        let (count, last) = reloads.withLock { $0 }
        guard count != generation else { return true }
        guard let before = authenticator.realms[realm], let now = last?.realms[realm] else { return false }
        return now.hasSameConfiguration(as: before)
    }

    init(
        sessions: SessionTable,
        tickets: SignInTickets,
        settings: SignInSettings,
        clock: any LoginClock,
        wallClock: WallClock,
        logouts: LogoutQueue,
        announcementStore: (any AnnouncementStore)? = nil,
        log: SessionLog
    ) {
        self.sessions = sessions
        announcement = AnnouncementReader(announcementStore, clock: clock, wallClock: wallClock)
        self.tickets = tickets
        handOverCodes = HandOverCodes(clock: clock)
        pendingLogins = PendingLogins(limit: settings.waiting, lifetime: settings.time.nanoseconds, clock: clock)
        self.clock = clock
        self.wallClock = wallClock
        self.logouts = logouts
        self.log = log
    }

    /// Returns the state of a server.
    ///
    /// Sessions are stored if the configuration has a store.
    static func make(_ configuration: Configuration, logger: Logger) throws -> SignInState {
        let log = SessionLog(logger)
        let logouts = LogoutQueue(clock: SystemClock(), logger: logger)
        let store = try configuration.services[LazyStore.self]?.store()
        let sessions = SessionTable(
            configuration.server.sessions,
            store: store,
            clock: SystemClock(),
            wall: WallClock.system,
            onWrongHost: { session, host in log.logWrongHost(session, at: host) },
            onEnd: { session, cause in
                log.logEnd(session, cause)
                logouts.add(session.identity)
            }
        )
        return SignInState(
            sessions: sessions,
            tickets: try SignInTickets(),
            settings: configuration.server.signIn,
            clock: SystemClock(),
            wallClock: WallClock.system,
            logouts: logouts,
            announcementStore: store,
            log: log
        )
    }

    /// Logs the beginning of a session.
    func logBeginning(_ session: Session) { log.logBeginning(session) }

    /// Logs that a code was presented at another host or by another browser.
    func logRejectedHandOver(of session: Session, to origin: SignInSettings.Origin, reason: String, address: String?) {
        log.logRejectedHandOver(of: session, to: origin.description, reason: reason, address: address)
    }

    /// Logs that the end of a session could not be stored.
    func logUnstoredEnd(_ session: Session) { log.logUnstoredEnd(session) }

    /// Logs a login that was rejected or whose realm was unavailable, if there is a report.
    ///
    /// - Parameters:
    ///   - report: The report of the login.
    ///   - rule: The rule of the page that the user wants to open; nil if there is none.
    func logRejection(_ report: LoginReport?, for rule: ProtectRule?) {
        if let report { log.logRejection(report, for: rule) }
    }

    /// Ends expired sessions and pending logins, runs logouts, and reads the message to all users, until the task is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - onError: Called when sessions cannot be stored.
    ///   - onUnreadable: Called when the message cannot be read.
    func run(
        onError: @escaping @Sendable (SessionStoreError) -> Void,
        onUnreadable: @escaping @Sendable (StoreFault) -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.announcement.run(onError: onUnreadable) }
            group.addTask { await self.sessions.run(onError: onError) }
            group.addTask { await self.sweep() }
            group.addTask { await self.logouts.run() }
        }
        pendingLogins.cancelAll()
    }

    private func sweep() async {
        while true {
            do throws(CancellationError) {
                try await clock.sleep(until: clock.now &+ 1_000_000_000)
            } catch {
                return
            }
            pendingLogins.sweep(clock.now)
            handOverCodes.sweep(clock.now)
        }
    }
}

/// The message of the administrator to all users, as the store contained it a second ago at most.
final class AnnouncementReader: Sendable {
    private let store: (any AnnouncementStore)?
    private let clock: any LoginClock
    private let wallClock: WallClock
    private let latest = Mutex<Announcement?>(nil)

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - store: The store; nil if there is none, and so no message.
    ///   - clock: The clock that measures the interval between two reads.
    ///   - wallClock: The clock that decides whether the message has ended.
    init(_ store: (any AnnouncementStore)?, clock: any LoginClock, wallClock: WallClock) {
        self.store = store
        self.clock = clock
        self.wallClock = wallClock
    }

    /// The text of the message; nil if there is none, or if it has ended.
    var text: String? {
        guard let announcement = latest.withLock({ $0 }), announcement.end > wallClock.seconds else { return nil }
        return announcement.text
    }

    /// Reads the message.
    ///
    /// - Throws: ``StoreFault`` when the store cannot be read. The earlier message is then still shown.
    func refresh() async throws(StoreFault) {
        guard let store else { return }
        let announcement = try await store.announcement()
        latest.withLock { $0 = announcement }
    }

    /// Reads the message every second until the task is cancelled.
    ///
    /// - Parameter onError: Called when the store begins to fail.
    func run(onError: @escaping @Sendable (StoreFault) -> Void) async {
        guard store != nil else { return }
        var isFailing = false
        while true {
            do throws(CancellationError) {
                try await clock.sleep(until: clock.now &+ 1_000_000_000)
            } catch {
                return
            }
            do throws(StoreFault) {
                try await refresh()
                isFailing = false
            } catch {
                // A read that was cancelled with this task is not a fault.
                if !isFailing, error.code != .cancelled { onError(error) }
                isFailing = true
            }
        }
    }
}
