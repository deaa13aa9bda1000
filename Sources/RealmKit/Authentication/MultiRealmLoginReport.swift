// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The result of a login in the first of several realms that accepts: the report of each realm that was used.
public struct MultiRealmLoginReport: Sendable {
    /// The outcome of the login as a whole.
    public enum Outcome: Sendable {
        /// A realm accepted; the report is that of this realm.
        case accepted(AuthenticatedIdentity, LoginReport)
        /// All realms rejected; the report is that of the last one, and nil if there was no realm.
        case rejected(LoginReport?)
        /// No realm accepted, and one of them was unavailable, so the login cannot be decided now (503); the report is
        /// that of the last realm that was unavailable, and nil if there is no report. See
        /// ``LoginReport/isUnavailable``.
        case unavailable(LoginReport?)
    }

    /// The result in each realm that was used, in order; if one has accepted, it is the last.
    public let reports: [LoginReport]

    init(_ reports: [LoginReport]) { self.reports = reports }

    /// The outcome of the login.
    public var outcome: Outcome {
        if let last = reports.last, let identity = last.identity { return .accepted(identity, last) }
        if let unavailable = reports.last(where: { $0.isUnavailable }) { return .unavailable(unavailable) }
        return .rejected(reports.last)
    }

    /// The accepted user; nil if no realm has accepted.
    public var identity: AuthenticatedIdentity? { reports.last?.identity }
}
