// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CoreMetrics
internal import RealmKit
internal import Synchronization

/// Counts logins and measures their modules.
///
/// Labels are names of the configuration: realms, modules and outcomes, never user names and addresses.
final class LoginMetrics: LoginObserver {
    private struct LoginKey: Hashable {
        let realm: UTF8Text
        let failure: LoginFailure?
    }

    private struct TimerKey: Hashable {
        let realm: UTF8Text
        /// Nil for the timer of whole logins.
        let module: UTF8Text?
    }

    private struct State {
        var logins: [LoginKey: Counter] = [:]
        var timers: [TimerKey: Timer] = [:]
    }

    private let factory: any MetricsFactory
    private let state = Mutex(State())

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func loginEnded(_ report: LoginReport) {
        let realm = UTF8Text(report.realm)
        let steps = report.steps
        state.withLock { state in
            counter(LoginKey(realm: realm, failure: report.refusal?.failure), &state).increment()
            let duration = steps.reduce(Duration.zero) { $0 + $1.duration }
            timer(TimerKey(realm: realm, module: nil), &state).recordNanoseconds(duration.nanoseconds)
            for step in steps where step.phase == .login {
                let key = TimerKey(realm: realm, module: UTF8Text(step.module))
                timer(key, &state).recordNanoseconds(step.duration.nanoseconds)
            }
        }
    }

    /// Creates the counters of unavailable and overloaded realms, with the value 0: `rate()` of Prometheus sees the
    /// first outage of a realm only if the counter existed before.
    func begin(_ realms: [String]) {
        state.withLock { state in
            for realm in realms {
                for failure in [LoginFailure.unavailable, .overloaded] {
                    _ = counter(LoginKey(realm: UTF8Text(realm), failure: failure), &state)
                }
            }
        }
    }

    private func counter(_ key: LoginKey, _ state: inout State) -> Counter {
        if let known = state.logins[key] { return known }
        let new = Counter(
            label: MetricName.logins,
            dimensions: [("realm", key.realm.string), ("outcome", key.failure?.code ?? "accepted")],
            factory: factory
        )
        state.logins[key] = new
        return new
    }

    private func timer(_ key: TimerKey, _ state: inout State) -> Timer {
        if let known = state.timers[key] { return known }
        let new = Timer(
            label: key.module == nil ? MetricName.loginDuration : MetricName.moduleDuration,
            dimensions: [("realm", key.realm.string)] + (key.module.map { [("module", $0.string)] } ?? []),
            factory: factory
        )
        state.timers[key] = new
        return new
    }
}

/// The names of the metrics of logins and sessions; docs/metrics.md describes them.
package enum MetricName {
    static let logins = "gatehouse_logins_total"
    static let loginDuration = "gatehouse_login_duration_seconds"
    static let moduleDuration = "gatehouse_module_duration_seconds"
    static let lockouts = "gatehouse_lockouts_total"
    static let locked = "gatehouse_locked"
    static let waitingAttempts = "gatehouse_waiting_attempts"
    static let sessions = "gatehouse_sessions"
    static let pendingLogins = "gatehouse_pending_logins"
    static let hashingRunning = "gatehouse_hashing_running"
    static let hashingWaiting = "gatehouse_hashing_waiting"
    static let hashingWorkers = "gatehouse_hashing_workers"
    static let hashingRefused = "gatehouse_hashing_refused_total"

    /// A sentence about each metric, by its name.
    package static let help: [String: String] = [
        logins: "Logins in a realm, by outcome: accepted, or the kind of the failure.",
        loginDuration: "The duration of all module calls of a login, with the time in which a user answers questions.",
        moduleDuration: "The duration of a module's call in the login phase.",
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
