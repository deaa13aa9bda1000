// SPDX-License-Identifier: Apache-2.0

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
