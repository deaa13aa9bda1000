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

/// The sessions and pending logins, which are kept over reloads of the configuration.
final class SignInState: Sendable {
    let sessions: SessionTable
    let tickets: SignInTickets
    let handOverCodes: HandOverCodes
    let pendingLogins: PendingLogins<MultiRealmLoginReport.Outcome>
    let announcement: AnnouncementReader
    /// The user names of rejected sign-ins, which the next sign-in page shows again.
    let rejectedNames = PerBrowserCache<String>()
    /// The times of the last sign-outs after which a browser was led to a target.
    ///
    /// If that leads to the sign-in page, the page reports the sign-out.
    let signOuts = PerBrowserCache<UInt64>()
    /// The latest session of each browser, which ends if the browser signs in again.
    let sessionsByBrowser = PerBrowserCache<Session>()
    let clock: any LoginClock
    let wallClock: WallClock
    let logouts: LogoutQueue
    let questionNumbers = QuestionNumbers()
    private let reloads = Mutex<(count: Int, last: Authenticator?)>((0, nil))
    let log: SessionLog

    /// The number of reloads of the configuration.
    var generation: Int { reloads.withLock { $0.count } }

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
        _ settings: ServerSettings,
        store: (any SessionStore)?,
        announcementStore: (any AnnouncementStore)?,
        clock: any LoginClock,
        wallClock: WallClock,
        logger: Logger
    ) throws {
        let log = SessionLog(logger)
        let logouts = LogoutQueue(clock: clock, logger: logger)
        sessions = SessionTable(
            settings.sessions,
            store: store,
            clock: clock,
            wall: wallClock,
            onWrongHost: { session, host in log.logWrongHost(session, at: host) },
            onEnd: { session, cause in
                log.logEnd(session, cause)
                logouts.add(session.identity)
            }
        )
        announcement = AnnouncementReader(announcementStore, clock: clock, wallClock: wallClock)
        tickets = try SignInTickets()
        handOverCodes = HandOverCodes(clock: clock)
        pendingLogins = PendingLogins(
            limit: settings.signIn.waiting,
            lifetime: settings.signIn.time.nanoseconds,
            clock: clock
        )
        (self.clock, self.wallClock, self.logouts, self.log) = (clock, wallClock, logouts, log)
    }

    /// Ends expired sessions and pending logins, runs logouts, and reads the message to all users, until the task is
    /// cancelled.
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
            do { try await clock.sleep(until: clock.now &+ 1_000_000_000) } catch { return }
            pendingLogins.sweep(clock.now)
            handOverCodes.sweep(clock.now)
        }
    }
}

/// The message of the administrator to all users, as the store contained it a second ago at most.
final class AnnouncementReader: Sendable {
    /// Nil if there is no store, and so no message.
    private let store: (any AnnouncementStore)?
    private let clock: any LoginClock
    private let wallClock: WallClock
    private let latest = Mutex<Announcement?>(nil)

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

    /// Reads the message; if the store cannot be read, the earlier message is still shown.
    func refresh() async throws(StoreFault) {
        guard let store else { return }
        let announcement = try await store.announcement()
        latest.withLock { $0 = announcement }
    }

    /// Reads the message every second until the task is cancelled, and reports when the store begins to fail.
    func run(onError: @escaping @Sendable (StoreFault) -> Void) async {
        guard store != nil else { return }
        var isFailing = false
        while true {
            do { try await clock.sleep(until: clock.now &+ 1_000_000_000) } catch { return }
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
