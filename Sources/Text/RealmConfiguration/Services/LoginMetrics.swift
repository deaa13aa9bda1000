// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import CoreMetrics
package import RealmKit
internal import Synchronization

/// Counts logins and measures their modules.
///
/// Labels are names of the configuration: realms, modules and outcomes, never user names and addresses.
package final class LoginMetrics: LoginObserver {
    private static let logins = "gatehouse_logins_total"
    private static let loginDuration = "gatehouse_login_duration_seconds"
    private static let moduleDuration = "gatehouse_module_duration_seconds"

    /// A sentence about each metric, by its name.
    package static let help = [
        logins: "Logins in a realm, by outcome: accepted, or the kind of the failure.",
        loginDuration: "The duration of all module calls of a login, with the time in which a user answers questions.",
        moduleDuration: "The duration of a module's call in the login phase.",
    ]

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

    package init(_ factory: any MetricsFactory) { self.factory = factory }

    package func loginEnded(_ report: LoginReport) {
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
    package func begin(_ realms: [String]) {
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
            label: Self.logins,
            dimensions: [("realm", key.realm.string), ("outcome", key.failure?.code ?? "accepted")],
            factory: factory
        )
        state.logins[key] = new
        return new
    }

    private func timer(_ key: TimerKey, _ state: inout State) -> Timer {
        if let known = state.timers[key] { return known }
        let new = Timer(
            label: key.module == nil ? Self.loginDuration : Self.moduleDuration,
            dimensions: [("realm", key.realm.string)] + (key.module.map { [("module", $0.string)] } ?? []),
            factory: factory
        )
        state.timers[key] = new
        return new
    }
}
