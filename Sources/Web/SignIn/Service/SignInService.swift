// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
package import CoreMetrics
internal import Files
package import Logging
package import LoginConf
internal import OpenSSLKit
internal import Passwords
package import RealmConfiguration
package import RealmKit
internal import Sessions
internal import Synchronization
internal import Throttle

/// The state of the sign-in that a server keeps over reloads of the configuration: sessions, pending logins, failed
/// logins, and the checks for changed users.
package final class SignInService: Sendable {
    let sessions: SessionTable
    let pendingLogins: PendingLogins
    let tickets: SignInTickets
    let handOverCodes: HandOverCodes
    let questionNumbers = QuestionNumbers()
    /// The user names of rejected sign-ins, which the next sign-in page shows again.
    let rejectedNames = PerBrowserCache<String>()
    /// The times of the last sign-outs after which a browser was led to a target.
    ///
    /// If that leads to the sign-in page, the page reports the sign-out.
    let signOuts = PerBrowserCache<UInt64>()
    /// The latest session of each browser, which ends if the browser signs in again.
    let sessionsByBrowser = PerBrowserCache<Session>()
    let announcement: AnnouncementReader
    let logouts: LogoutQueue
    package let refresher: RealmRefresher
    private let rejectionLog: HashingRejectionLog
    /// The pool that computes password hashes; nil if no realm of the configuration needs one.
    let hashingPool = Mutex<HashingPool?>(nil)
    let throttle: FailureThrottle
    let clock: any LoginClock
    let wallClock: WallClock
    let log: SessionLog
    let programLog: ProgramLog
    private let logger: Logger
    /// Counts logins; nil if there are no metrics.
    let loginMetrics: LoginMetrics?
    private let metrics: ServiceMetrics?
    private let reloads = Mutex<(count: Int, last: Authenticator?)>((0, nil))
    /// The lock of the state folder while the server runs.
    private let stateLock = Mutex<StateFolder.Lock?>(nil)

    /// The service for a configuration, whose stored state is read by ``restore(_:)``.
    package convenience init(
        _ configuration: Configuration,
        logger: Logger,
        metrics: (any MetricsFactory)? = nil
    ) throws(ConfigurationErrors) {
        do {
            let sessions = configuration.services[SessionStorage.self]
            let failures = try configuration.services[ThrottleStorage.self]?.open()
            try self.init(
                configuration,
                logger: logger,
                metrics: metrics,
                sessions: try sessions?.open(),
                announcement: sessions?.announcement,
                clock: SystemClock(),
                wallClock: .system
            ) { refresher, metrics in
                FailureThrottle(
                    configuration.server.throttle,
                    clock: SystemClock(),
                    wall: { WallClock.system.seconds },
                    jitter: { Double.random(in: 0...1) },
                    store: failures,
                    // The refresher holds the realms, which hold the throttle.
                    onLock: { [weak refresher] lockout, _ in
                        metrics?.countLock(lockout.key)
                        lockout.log(logger)
                        if FailureThrottle.networkOfTokens(lockout.key) == nil { refresher?.evict(lockout.key) }
                    }
                )
            }
        } catch {
            throw configuration.server.stateFolder.errors("\(error)")
        }
    }

    /// A service with stores, clocks and a throttle of its own.
    init(
        _ configuration: Configuration,
        logger: Logger,
        metrics factory: (any MetricsFactory)? = nil,
        sessions store: (any SessionStore)?,
        announcement: (@Sendable () async throws -> Announcement?)?,
        clock: any LoginClock,
        wallClock: WallClock,
        throttle: (RealmRefresher, ServiceMetrics?) -> FailureThrottle
    ) throws {
        let settings = configuration.server
        let (log, logouts) = (SessionLog(logger), LogoutQueue(clock: clock, logger: logger))
        (self.clock, self.wallClock, self.logger, self.log, self.logouts) = (clock, wallClock, logger, log, logouts)
        programLog = ProgramLog(logger)
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
        pendingLogins = PendingLogins(
            limit: settings.signIn.waiting,
            lifetime: settings.signIn.time.nanoseconds,
            clock: clock
        )
        tickets = try SignInTickets()
        handOverCodes = HandOverCodes(clock: clock)
        self.announcement = AnnouncementReader(clock: clock, wallClock: wallClock, read: announcement)
        loginMetrics = factory.map { LoginMetrics($0) }
        metrics = factory.map { ServiceMetrics($0) }
        loginMetrics?.begin(configuration.realms.map(\.name))
        refresher = RealmRefresher(clock: clock)
        rejectionLog = HashingRejectionLog(logger)
        self.throttle = throttle(refresher, metrics)
    }

    /// Locks the state folder, and reads the stored locks and sessions, and the message to all users.
    ///
    /// It must be called before the first login. Otherwise a locked account could log in after a restart.
    package func restore(_ configuration: Configuration) async throws(ConfigurationErrors) {
        func errors(_ problem: String, _ reason: any Error) -> ConfigurationErrors {
            configuration.server.stateFolder.errors("\(problem): \(reason)")
        }
        if configuration.services[SessionStorage.self] != nil {
            do throws(StateFolder.Fault) {
                let folder = try StateFolder(configuration.server.stateFolder.value)
                let lock = try StateFolder.Lock(ofServerIn: folder)
                stateLock.withLock { $0 = lock }
            } catch {
                throw configuration.server.stateFolder.errors(
                    "the state folder cannot be used: \(error.reason)",
                    hint: "each server needs a folder of its own, which `state` sets"
                )
            }
        }
        do { try await throttle.restore() } catch { throw errors("the locks cannot be read", error) }
        await RealmRefresher.runFirstChecks(configuration.realms)
        let validator = SessionValidator(authenticator: configuration.authenticator)
        do {
            try await sessions.restore { await validator.status(of: $0) }
        } catch {
            throw errors("the sessions cannot be read", error)
        }
        do { try await announcement.refresh() } catch { throw errors("the message to all users cannot be read", error) }
    }

    /// Runs the background work for sessions, locks and realms until the task is cancelled.
    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.refresher.run() }
            group.addTask { await self.updateMetrics() }
            group.addTask {
                await self.throttle.run(every: .milliseconds(250)) { error in
                    self.logger.error("failed logins cannot be stored", metadata: ["error": "\(error)"])
                }
            }
            group.addTask {
                await self.announcement.run { error in
                    self.logger.error("the message to all users cannot be read", metadata: ["error": "\(error)"])
                }
            }
            group.addTask {
                await self.sessions.run { error in
                    self.logger.error("sessions cannot be stored", metadata: ["error": "\(error)"])
                }
            }
            group.addTask { await self.sweep() }
            group.addTask { await self.logouts.run() }
        }
        pendingLogins.removeAll()
    }

    private func sweep() async {
        while true {
            do { try await clock.sleep(until: clock.now &+ 1_000_000_000) } catch { return }
            if let pool = hashingPool.withLock({ $0 }) { rejectionLog.logRejections(of: pool) }
            pendingLogins.sweep(clock.now)
            handOverCodes.sweep(clock.now)
        }
    }

    /// Sets the gauges every second until the task is cancelled.
    private func updateMetrics() async {
        guard let metrics else { return }
        repeat {
            metrics.update(self)
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
        } while true
    }

    /// Releases the lock of the state folder, when the server has ended.
    package func unlockStateFolder() { stateLock.withLock { $0 = nil } }

    /// Ends all event streams, with a last event, because they would prevent the server from stopping.
    package func endEventStreams() { sessions.close() }

    // MARK: Reloads

    /// The number of reloads of the configuration.
    var generation: Int { reloads.withLock { $0.count } }

    /// Counts a reload: a login of a request that was received before it creates a session only if the realm is
    /// unchanged.
    package func countReload(to authenticator: Authenticator) {
        reloads.withLock { $0 = ($0.count + 1, authenticator) }
    }

    /// Returns the names of the changed settings that a server and this service read at the start.
    package static func changesThatNeedRestart(from start: ServerSettings, to now: ServerSettings) -> [String] {
        var names: [String] = []
        if start.listen.map(\.value) != now.listen.map(\.value) { names.append("listen") }
        if start.throttle != now.throttle { names.append("throttle") }
        if start.signIn.time != now.signIn.time || start.signIn.waiting != now.signIn.waiting {
            names.append("time or waiting of sign-in")
        }
        return names
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

    /// Ends the sessions of realms and users that were removed or replaced.
    package func recheck(_ configuration: Configuration) async {
        sessions.use(configuration.server.sessions)
        let names = Set(configuration.realms.map(\.name))
        loginMetrics?.begin(configuration.realms.map(\.name))
        sessions.end(.realmGone) { !names.contains($0.user.realm) }
        let validator = SessionValidator(authenticator: configuration.authenticator)
        await sessions.recheck { await validator.status(of: $0) }
    }
}

extension Lockout {
    fileprivate func log(_ logger: Logger) {
        if let network = FailureThrottle.networkOfTokens(key) {
            logger.warning("\(failures) wrong tokens at the realm API", metadata: ["address": "\(network)"])
            return
        }
        logger.warning(
            "\(LoggedEvent.locked.rawValue) \(failures) failures",
            metadata: [LogField.locked.rawValue: "\(key.logText)", "until": "\(end)"]
        )
    }
}
