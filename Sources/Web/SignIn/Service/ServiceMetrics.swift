// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import Passwords
internal import Sessions
internal import Synchronization
internal import Throttle

/// The gauges of sessions, locks and password hashing.
///
/// They are set once a second, when the realms are checked for changed users.
final class ServiceMetrics: Sendable {
    private let sessions: Gauge
    private let pendingLogins: Gauge
    private let lockedAccounts: Gauge
    private let lockedNetworks: Gauge
    private let waitingAttempts: Gauge
    private let hashingRunning: Gauge
    private let hashingWaiting: Gauge
    private let hashingWorkers: Gauge
    private let hashingRefused: Counter
    private let lockedAccountsTotal: Counter
    private let lockedNetworksTotal: Counter
    /// The number of refused checks that were counted, and the pool that refused them.
    private let counted = Mutex<(pool: ObjectIdentifier?, refused: Int)>((nil, 0))

    init(_ factory: any MetricsFactory) {
        func gauge(_ name: String, _ dimensions: [(String, String)] = []) -> Gauge {
            Gauge(label: name, dimensions: dimensions, factory: factory)
        }
        sessions = gauge(MetricName.sessions)
        pendingLogins = gauge(MetricName.pendingLogins)
        lockedAccounts = gauge(MetricName.locked, [("kind", "account")])
        lockedNetworks = gauge(MetricName.locked, [("kind", "network")])
        waitingAttempts = gauge(MetricName.waitingAttempts)
        hashingRunning = gauge(MetricName.hashingRunning)
        hashingWaiting = gauge(MetricName.hashingWaiting)
        hashingWorkers = gauge(MetricName.hashingWorkers)
        hashingRefused = Counter(label: MetricName.hashingRefused, factory: factory)
        lockedAccountsTotal = Counter(
            label: MetricName.lockouts,
            dimensions: [("kind", "account")],
            factory: factory
        )
        lockedNetworksTotal = Counter(
            label: MetricName.lockouts,
            dimensions: [("kind", "network")],
            factory: factory
        )
    }

    /// Counts a lock.
    func countLock(_ key: ThrottleKey) {
        switch key {
        case .account: lockedAccountsTotal.increment()
        case .source: lockedNetworksTotal.increment()
        }
    }

    /// Sets the gauges.
    func update(_ state: SignInState, _ throttle: FailureThrottle, _ pool: HashingPool?) {
        sessions.record(state.sessions.count)
        pendingLogins.record(state.pendingLogins.count)
        let statistics = throttle.statistics
        lockedAccounts.record(statistics.lockedAccounts)
        lockedNetworks.record(statistics.lockedNetworks)
        waitingAttempts.record(statistics.waitingAttempts)
        guard let pool else { return }
        let hashing = pool.statistics
        hashingRunning.record(hashing.running)
        hashingWaiting.record(hashing.waiting)
        hashingWorkers.record(pool.settings.workers)
        let refused = hashing.refused + hashing.timedOut
        // After a reload, the counts of the new pool begin at zero.
        let newlyRefused = counted.withLock { counted in
            let before = counted.pool == ObjectIdentifier(pool) ? counted.refused : 0
            counted = (ObjectIdentifier(pool), refused)
            return refused - before
        }
        if newlyRefused > 0 { hashingRefused.increment(by: newlyRefused) }
    }
}
