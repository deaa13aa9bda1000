// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
package import CoreMetrics
package import Logging
package import LoginConf
internal import OpenSSLKit
internal import Passwords
package import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store
internal import Synchronization
internal import Throttle

/// The state of the sign-in: sessions, failed logins and the checks for changed users.
///
/// A server keeps one service over reloads of the configuration.
package final class SignInService: Sendable {
    let refresher: RealmRefresher
    let throttle: FailureThrottle
    let state: SignInState
    let logger: Logger
    /// Counts logins; nil if there are no metrics.
    let loginMetrics: LoginMetrics?
    private let metrics: ServiceMetrics?
    let clock: any LoginClock
    let wallClock: WallClock
    /// The lock of the state folder while the server runs.
    private let stateLock = Mutex<StateFolder.Lock?>(nil)

    /// The service for a configuration, whose stored state is read by ``restore(_:)``.
    package convenience init(
        _ configuration: Configuration,
        logger: Logger,
        metrics: (any MetricsFactory)? = nil
    ) throws(ConfigurationErrors) {
        do {
            let store = try configuration.services[LazyStore.self]?.store()
            try self.init(
                configuration,
                logger: logger,
                metrics: metrics,
                sessions: store,
                announcements: store,
                clock: SystemClock(),
                wallClock: .system
            ) { refresher, metrics in
                FailureThrottle.make(configuration, store: store, refresher: refresher, logger: logger) {
                    metrics?.countLock($0)
                }
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
        sessions: (any SessionStore)?,
        announcements: (any AnnouncementStore)?,
        clock: any LoginClock,
        wallClock: WallClock,
        throttle: (RealmRefresher, ServiceMetrics?) -> FailureThrottle
    ) throws {
        self.logger = logger
        (self.clock, self.wallClock) = (clock, wallClock)
        loginMetrics = factory.map { LoginMetrics($0) }
        metrics = factory.map { ServiceMetrics($0) }
        loginMetrics?.begin(configuration.realms.map(\.name))
        refresher = RealmRefresher(clock: clock, logger: logger)
        self.throttle = throttle(refresher, metrics)
        state = try SignInState(
            configuration.server,
            store: sessions,
            announcementStore: announcements,
            clock: clock,
            wallClock: wallClock,
            logger: logger
        )
    }

    /// Locks the state folder, and reads the stored locks and sessions, and the message to all users.
    ///
    /// It must be called before the first login. Otherwise a locked account could log in after a restart.
    package func restore(_ configuration: Configuration) async throws(ConfigurationErrors) {
        if let folder = configuration.services[LazyStore.self]?.folder {
            do throws(StateFolder.Fault) {
                let lock = try StateFolder.Lock(ofServerIn: StateFolder(folder))
                stateLock.withLock { $0 = lock }
            } catch {
                throw configuration.server.stateFolder.errors(
                    "the state folder cannot be used: \(error.reason)",
                    hint: "each server needs a folder of its own, which `state` sets"
                )
            }
        }
        do throws(ThrottleStoreError) {
            try await throttle.restore()
        } catch {
            throw configuration.server.stateFolder.errors("the locks cannot be read: \(error)")
        }
        await RealmRefresher.runFirstChecks(configuration.realms)
        do throws(SessionStoreError) {
            let validator = SessionValidator(authenticator: configuration.authenticator)
            try await state.sessions.restore { await validator.status(of: $0) }
        } catch {
            throw configuration.server.stateFolder.errors("the sessions cannot be read: \(error)")
        }
        do throws(StoreFault) {
            try await state.announcement.refresh()
        } catch {
            throw configuration.server.stateFolder.errors("the message to all users cannot be read: \(error)")
        }
    }

    /// Runs the background work for sessions, locks and realms until the task is cancelled.
    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.refresher.run() }
            group.addTask { await self.updateMetrics() }
            group.addTask {
                await self.throttle.run(every: FailureThrottle.storingInterval) { error in
                    self.logger.error("failed logins cannot be stored", metadata: ["error": "\(error)"])
                }
            }
            group.addTask {
                await self.state.run { error in
                    self.logger.error("sessions cannot be stored", metadata: ["error": "\(error)"])
                } onUnreadable: { error in
                    self.logger.error("the message to all users cannot be read", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    /// Sets the gauges every second until the task is cancelled.
    private func updateMetrics() async {
        guard let metrics else { return }
        repeat {
            metrics.update(state, throttle, refresher.hashingPool)
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
        } while true
    }

    /// Releases the lock of the state folder, when the server has ended.
    package func releaseState() { stateLock.withLock { $0 = nil } }

    /// Ends all event streams, which would prevent the server from stopping.
    package func close() { state.sessions.close() }

    /// Counts a reload: a login of a request that was received before it creates a session only if the realm is
    /// unchanged.
    package func countReload(to configuration: Configuration) { state.countReload(to: configuration.authenticator) }

    /// Checks the realms for changed users once, as ``run()`` does every second.
    package func refresh() async { await refresher.refresh() }

    /// Ends the sessions of realms and users that were removed or replaced.
    package func recheck(_ configuration: Configuration) async {
        state.sessions.use(configuration.server.sessions)
        let names = Set(configuration.realms.map(\.name))
        loginMetrics?.begin(configuration.realms.map(\.name))
        state.sessions.end(.realmGone) { !names.contains($0.user.realm) }
        let validator = SessionValidator(authenticator: configuration.authenticator)
        await state.sessions.recheck { await validator.status(of: $0) }
    }
}

extension FailureThrottle {
    /// The time between two writes of the counters; locks are stored at once.
    static let storingInterval = Duration.milliseconds(250)

    /// Returns the throttle of a server, whose counters are stored if the configuration has a store.
    static func make(
        _ configuration: Configuration,
        store: (any ThrottleStore)?,
        refresher: RealmRefresher,
        logger: Logger,
        onLock: @escaping @Sendable (ThrottleKey) -> Void
    ) -> FailureThrottle {
        FailureThrottle(
            configuration.server.throttle,
            clock: SystemClock(),
            wall: { WallClock.system.seconds },
            jitter: { Double.random(in: 0...1) },
            store: store,
            onLock: { lockout, _ in
                onLock(lockout.key)
                if let network = FailureThrottle.networkOfTokens(lockout.key) {
                    logger.warning(
                        "\(lockout.failures) wrong tokens at the realm API",
                        metadata: ["address": "\(network)"]
                    )
                    return
                }
                logger.warning(
                    "locked after \(lockout.failures) failures",
                    metadata: ["locked": "\(Self.logText(lockout.key))", "until": "\(lockout.end)"]
                )
                refresher.evict(lockout.key)
            }
        )
    }

    /// Returns an account or a source for the log; the name of an account comes from a client.
    private static func logText(_ key: ThrottleKey) -> String {
        switch key {
        case .account(let account): LogText.quoted(account.description)
        case .source(let network): network.description
        }
    }
}
