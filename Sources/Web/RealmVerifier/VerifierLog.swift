// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import Logging
internal import RealmKit
internal import Throttle

/// The lines about logins in the log of a program.
///
/// Text of clients is quoted, so that it cannot forge another line.
struct VerifierLog {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func log(_ outcome: MultiRealmLoginReport.Outcome, of login: ProgramLogin) {
        guard logger.logLevel <= .info else { return }
        let (report, standard) =
            switch outcome {
            case .accepted(_, let report): (report as LoginReport?, "accepted")
            case .rejected(let report): (report, "refused")
            case .unavailable(let report): (report, "refused: unavailable")
            }
        let result = report.map { $0.refusal == nil ? "accepted" : "refused:\(LogText.reason($0))" } ?? standard
        let realm = report?.realm ?? login.realms[0]
        log(result, login.username.text, realm: realm, service: login.service, peer: login.address)
    }

    func log(_ result: String, _ name: String, realm: String, service: String, peer: String?) {
        logger.info("a login was \(result)", metadata: Self.fields(name, realm: realm, service: service, peer: peer))
    }

    private static func fields(_ name: String, realm: String, service: String, peer: String?) -> Logger.Metadata {
        let name =
            name.utf8.count <= Username.maximumBytes ? name : String(name.unicodeScalars.prefix(Username.maximumBytes))
        return [
            "user": "\(LogText.quoted(name))", "realm": "\(LogText.quoted(realm))",
            "service": "\(LogText.quoted(service))", "peer": "\(LogText.quoted(peer ?? "-"))",
        ]
    }

    func logChange(of identity: AuthenticatedIdentity) {
        let (name, realm) = (LogText.quoted(identity.username.text), LogText.quoted(identity.realm))
        logger.info(
            "a login was refused: the user or the realm has changed since it began",
            metadata: ["user": "\(name)", "realm": "\(realm)"]
        )
    }

    /// Logs a mistake of the program.
    func logFault(_ reason: String) { logger.error("a login could not be decided: \(LogText.quoted(reason))") }

    func logLock(_ lockout: Lockout) {
        logger.warning(
            "locked after \(lockout.failures) failures",
            metadata: ["locked": "\(lockout.key.logText)", "until": "\(lockout.end)"]
        )
    }
}
