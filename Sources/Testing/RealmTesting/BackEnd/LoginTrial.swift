// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// A login that a conformance test makes, with the expected result.
struct LoginTrial: Sendable {
    enum Expectation: Sendable {
        case accepted(RealmBackEndConformance.User)
        case refused
        case unavailable
        /// Refused, or accepted under an account key that all spellings of the user share.
        case spelling(RealmBackEndConformance.User)

        var isRefused: Bool {
            if case .refused = self { true } else { false }
        }
    }

    /// The words after "the login" in a violation.
    var label: String
    let username: Username
    let password: [UInt8]?
    var certificate: [UInt8]?
    var expected = Expectation.refused

    var conversation: PreparedConversation {
        PreparedConversation(name: username.text, password: password.map { Secret($0) }, certificate: certificate)
    }

    /// Returns the difference between the result and the expected result; nil if there is none.
    func violation(_ report: LoginReport, realm: any Realm) -> String? {
        switch expected {
        case .accepted(let user): difference(report, from: user)
        case .refused: unexpectedRefusal(report)
        case .unavailable: unexpectedInOutage(report)
        case .spelling(let user): spellingViolation(report, of: user, realm: realm)
        }
    }

    private func difference(_ report: LoginReport, from user: RealmBackEndConformance.User) -> String? {
        guard let identity = report.identity else {
            return "the login \(label) should be accepted, but is refused: \(LoginModuleConformance.reason(report))"
        }
        guard identity.username.text.utf8.elementsEqual(user.acceptedName.utf8) else {
            return "the login \(label) is accepted as \(identity.username), and not as \(user.acceptedName)"
        }
        guard identity.groups.sorted() == user.groups.sorted() else {
            return "the login \(label) has the groups \(identity.groups), and not \(user.groups)"
        }
        return nil
    }

    private func unexpectedRefusal(_ report: LoginReport) -> String? {
        if let violation = unexpectedEnd(report) { return violation }
        guard report.refusal?.failure.isTemporary == true else { return nil }
        return "the login \(label) ends as unavailable, although the back end works: "
            + LoginModuleConformance.reason(report)
    }

    private func unexpectedInOutage(_ report: LoginReport) -> String? {
        if let violation = unexpectedEnd(report) { return violation }
        guard report.refusal?.failure == .unavailable else {
            return "the login \(label) is refused as \(LoginModuleConformance.reason(report)), and not as unavailable"
        }
        guard report.isUnavailable else { return "the login \(label) is unavailable, but the response may not be 503" }
        return nil
    }

    private func unexpectedEnd(_ report: LoginReport) -> String? {
        guard report.identity == nil else { return "the login \(label) is accepted" }
        return report.steps.first { $0.outcome.failure == .internalError }.map { step in
            "the login \(label) ends with an internal error: \(step.fault.map { "\($0)" } ?? step.module)"
        }
    }

    private func spellingViolation(
        _ report: LoginReport,
        of user: RealmBackEndConformance.User,
        realm: any Realm
    ) -> String? {
        guard report.identity != nil else { return unexpectedRefusal(report) }
        guard let known = try? Username(user.username) else { return "\(user.username) is not a valid user name" }
        guard realm.accountKey(of: username) == realm.accountKey(of: known) else {
            return "the login \(label) is accepted, but has another accountKey(of:) than \(user.username)"
        }
        return difference(report, from: user)
    }
}
