// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CoreMetrics
internal import RealmKit
internal import Synchronization

/// Counts logins and measures their modules.
///
/// Labels are names of the configuration: realms, modules and outcomes. User names and addresses are never labels.
final class LoginMetrics: LoginObserver {
    private struct ModuleKey: Hashable {
        let realm: UTF8Text
        let module: UTF8Text
    }

    private struct LoginKey: Hashable {
        let realm: UTF8Text
        let failure: LoginFailure?
    }

    private struct State {
        var logins: [LoginKey: Counter] = [:]
        var durations: [UTF8Text: Timer] = [:]
        var modules: [ModuleKey: Timer] = [:]
    }

    private let factory: any MetricsFactory
    private let state = Mutex(State())

    init(_ factory: any MetricsFactory) {
        self.factory = factory
    }

    func loginEnded(_ report: LoginReport) {
        let realm = UTF8Text(report.realm)
        let steps = report.steps
        state.withLock { state in
            counter(LoginKey(realm: realm, failure: report.refusal?.failure), &state).increment()
            let timer =
                state.durations[realm]
                ?? Timer(label: MetricName.loginDuration, dimensions: [("realm", report.realm)], factory: factory)
            state.durations[realm] = timer
            timer.recordNanoseconds(steps.reduce(Duration.zero) { $0 + $1.duration }.nanoseconds)
            for step in steps where step.phase == .login { record(step, in: report.realm, &state) }
        }
    }

    /// Creates the counters of unavailable and overloaded realms, with the value 0.
    ///
    /// `rate()` of Prometheus sees the first outage of a realm only if the counter existed before.
    ///
    /// - Parameter realms: The names of the realms of a configuration.
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

    private func record(_ step: LoginStep, in realm: String, _ state: inout State) {
        let key = ModuleKey(realm: UTF8Text(realm), module: UTF8Text(step.module))
        let timer =
            state.modules[key]
            ?? Timer(
                label: MetricName.moduleDuration,
                dimensions: [("realm", realm), ("module", step.module)],
                factory: factory
            )
        state.modules[key] = timer
        timer.recordNanoseconds(step.duration.nanoseconds)
    }
}
