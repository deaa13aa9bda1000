// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The result of a login in several realms, used in order until one accepted.
public struct RealmsReport: Sendable {
    /// The result in each realm that was used, in order; if one has accepted, it is the last.
    public let reports: [LoginReport]

    init(_ reports: [LoginReport]) { self.reports = reports }

    /// The accepted user; nil if all realms have refused.
    public var identity: AuthenticatedIdentity? { reports.last?.identity }

    /// True if the response may be 503: the login cannot be decided now; see ``LoginReport/isUnavailable``.
    public var isUnavailable: Bool { identity == nil && reports.contains { $0.isUnavailable } }

    /// The report to log: of the realm that accepted; otherwise of the last one that was unavailable; otherwise the
    /// last.
    public var decisive: LoginReport? {
        guard identity == nil else { return reports.last }
        return reports.last { $0.isUnavailable } ?? reports.last
    }
}
