// SPDX-License-Identifier: Apache-2.0

/// The result of a login in several realms: one report for each realm that was used.
public struct MultiRealmLoginReport: Sendable {
    /// The outcome of the login as a whole.
    public enum Outcome: Sendable {
        /// A realm accepted the user. The values are the identity and the report of this realm.
        case accepted(AuthenticatedIdentity, LoginReport)
        /// All realms refused the user. The value is the report of the last realm; nil if no realm was used.
        case rejected(LoginReport?)
        /// No realm accepted the user, and at least one realm was unavailable (503).
        ///
        /// The value is the report of the last unavailable realm; nil if there is no report. See
        /// ``LoginReport/isUnavailable``.
        case unavailable(LoginReport?)
    }

    /// The reports of the realms that were used, in order; only the last realm can have accepted the user.
    public let reports: [LoginReport]

    init(_ reports: [LoginReport]) { self.reports = reports }

    /// The outcome of the login.
    public var outcome: Outcome {
        if let last = reports.last, let identity = last.identity { return .accepted(identity, last) }
        if let unavailable = reports.last(where: { $0.isUnavailable }) { return .unavailable(unavailable) }
        return .rejected(reports.last)
    }

    /// The accepted user; nil if no realm has accepted the user.
    public var identity: AuthenticatedIdentity? { reports.last?.identity }
}
