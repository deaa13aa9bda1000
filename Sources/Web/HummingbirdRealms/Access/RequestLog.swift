// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import RealmConfiguration
internal import RealmKit
internal import SignIn

/// The lines about logins and refused requests in the log of an application.
///
/// Text of clients is quoted, so that it cannot forge another line. Queries and header fields are never logged.
struct RequestLog {
    let logger: Logger

    /// Logs a login; `rule` is the rule of a refused login as ``LogText/rule(_:)`` returns it, or empty.
    func logLogin(_ report: LoginReport, rule: String) {
        let result = report.refusal == nil ? "accepted" : "refused:\(LogText.reason(report))"
        logger.info(
            "a login was \(result)\(rule)",
            metadata: [
                "user": "\(LogText.quoted(report.username.text))", "realm": "\(LogText.quoted(report.realm))",
                "peer": "\(report.peer ?? "-")",
            ]
        )
    }

    /// Logs the refusal of a request by a rule; does nothing if the request is allowed.
    ///
    /// A request without credentials is logged at the level `debug`, because most sign-ins begin with one. The user is
    /// that of the session or of the cached credentials.
    func logRefusal(of request: Request, after result: AccessResult, address: String?) {
        var user = result.authentication?.user
        let reason: String
        var level = Logger.Level.info
        switch result.decision {
        case .allowed, .open: return
        case .noMatchingRule: reason = "no-rule"
        case .forbidden(let forbidden):
            reason = "forbidden"
            user = forbidden ?? user
        case .challenge(_, let wasRejected):
            reason = wasRejected ? "credentials-rejected" : "no-credentials"
            level = wasRejected ? .info : .debug
        case .certificateNeeded: reason = "certificate-needed"
        case .methodNotAllowed: reason = "method-not-allowed"
        case .malformed: reason = "malformed"
        case .unavailable: reason = "unavailable"
        }
        log("\(reason)\(LogText.refusal(result))", request: request, user: user, address: address, level: level)
    }

    /// Logs the refusal of a request by a requirement of a route, which is not a rule of realms.conf.
    func logRefusal(
        of request: Request,
        requiring requirements: [ProtectRule.Requirement],
        user: SignedInUser,
        address: String?
    ) {
        let texts = requirements.map(\.description).joined(separator: " or ")
        log("forbidden requires=\(LogText.quoted(texts))", request: request, user: user, address: address)
    }

    /// Logs the refusal of a request that a page of another site has sent.
    func logCrossOrigin(_ request: Request, user: SignedInUser, address: String?) {
        log("cross-origin", request: request, user: user, address: address)
    }

    private func log(
        _ reason: String,
        request: Request,
        user: SignedInUser?,
        address: String?,
        level: Logger.Level = .info
    ) {
        var metadata: Logger.Metadata = [
            "request": "\(LogText.quoted("\(request.method.rawValue) \(request.uri.path)"))",
            "peer": "\(address ?? "-")",
        ]
        if let user {
            metadata["user"] = "\(LogText.quoted(user.username.text))"
            metadata["realm"] = "\(LogText.quoted(user.realm))"
        }
        logger.log(level: level, "a request was refused: \(reason)", metadata: metadata)
    }
}
