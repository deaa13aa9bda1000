// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import Passwords
internal import RealmConfiguration
internal import Sessions
internal import Synchronization
internal import Throttle

/// The gauges of sessions, locks and password hashing, which are set once a second.
final class ServiceMetrics: Sendable {
    /// The values of which the gauges show one each.
    private struct Values {
        let service: SignInService
        let throttle: ThrottleStatistics
        /// Nil if no realm needs it.
        let hashing: HashingPool?
    }

    private struct GaugeDefinition: Sendable {
        let name: String
        var kind: String?
        let value: @Sendable (Values) -> Int?
    }

    private static let definitions = [
        GaugeDefinition(name: MetricName.sessions) { $0.service.sessions.count },
        GaugeDefinition(name: MetricName.pendingLogins) { $0.service.pendingLogins.count },
        GaugeDefinition(name: MetricName.locked, kind: "account") { $0.throttle.lockedAccounts },
        GaugeDefinition(name: MetricName.locked, kind: "network") { $0.throttle.lockedNetworks },
        GaugeDefinition(name: MetricName.waitingAttempts) { $0.throttle.waitingAttempts },
        GaugeDefinition(name: MetricName.hashingRunning) { $0.hashing?.statistics.running },
        GaugeDefinition(name: MetricName.hashingWaiting) { $0.hashing?.statistics.waiting },
        GaugeDefinition(name: MetricName.hashingWorkers) { $0.hashing?.settings.workers },
    ]

    private let gauges: [Gauge]
    private let hashingRefused: Counter
    private let lockedAccounts: Counter
    private let lockedNetworks: Counter
    /// The number of refused checks that were counted, and the pool that refused them.
    private let counted = Mutex<(pool: ObjectIdentifier?, refused: Int)>((nil, 0))

    init(_ factory: any MetricsFactory) {
        gauges = Self.definitions.map { definition in
            let dimensions = definition.kind.map { [("kind", $0)] } ?? []
            return Gauge(label: definition.name, dimensions: dimensions, factory: factory)
        }
        hashingRefused = Counter(label: MetricName.hashingRefused, factory: factory)
        lockedAccounts = Counter(label: MetricName.lockouts, dimensions: [("kind", "account")], factory: factory)
        lockedNetworks = Counter(label: MetricName.lockouts, dimensions: [("kind", "network")], factory: factory)
    }

    func countLock(_ key: ThrottleKey) {
        switch key {
        case .account: lockedAccounts.increment()
        case .source: lockedNetworks.increment()
        }
    }

    func update(_ service: SignInService) {
        let pool = service.hashingPool.withLock { $0 }
        let values = Values(service: service, throttle: service.throttle.statistics, hashing: pool)
        for (gauge, definition) in zip(gauges, Self.definitions) {
            if let value = definition.value(values) { gauge.record(value) }
        }
        guard let pool else { return }
        let refused = pool.statistics.refused + pool.statistics.timedOut
        // After a reload, the counts of the new pool begin at zero.
        let newlyRefused = counted.withLock { counted in
            let before = counted.pool == ObjectIdentifier(pool) ? counted.refused : 0
            counted = (ObjectIdentifier(pool), refused)
            return refused - before
        }
        if newlyRefused > 0 { hashingRefused.increment(by: newlyRefused) }
    }
}

/// The names of the metrics of locks, sessions and hashing; docs/metrics.md describes them.
package enum MetricName {
    static let lockouts = "gatehouse_lockouts_total"
    static let locked = "gatehouse_locked"
    static let waitingAttempts = "gatehouse_waiting_attempts"
    static let sessions = "gatehouse_sessions"
    static let pendingLogins = "gatehouse_pending_logins"
    static let hashingRunning = "gatehouse_hashing_running"
    static let hashingWaiting = "gatehouse_hashing_waiting"
    static let hashingWorkers = "gatehouse_hashing_workers"
    static let hashingRefused = "gatehouse_hashing_refused_total"

    /// A sentence about each metric, by its name, also about those of logins.
    package static let help = LoginMetrics.help.merging(ownHelp) { first, _ in first }

    private static let ownHelp = [
        lockouts: "Accounts and client networks that were locked after failed logins.",
        locked: "Accounts and client networks that are locked now.",
        waitingAttempts: "Login attempts that wait because too many attempts at the same account or network run.",
        sessions: "Sessions, including those that have expired within the last second.",
        pendingLogins: "Logins that wait for the next answer of a user.",
        hashingRunning: "Password hashes that are being computed.",
        hashingWaiting: "Password checks that wait for a worker.",
        hashingWorkers: "Threads that compute password hashes.",
        hashingRefused: "Password checks that were refused: too many were waiting, or they waited too long.",
    ]
}
