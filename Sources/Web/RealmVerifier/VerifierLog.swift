// SPDX-License-Identifier: Apache-2.0

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

    func log(
        _ outcome: MultiRealmLoginReport.Outcome,
        of username: Username,
        in realms: [String],
        service: String,
        peer: String?
    ) {
        let (report, standard) =
            switch outcome {
            case .accepted(_, let report): (report as LoginReport?, "accepted")
            case .rejected(let report): (report, "refused")
            case .unavailable(let report): (report, "refused: unavailable")
            }
        let result = report.map { $0.refusal == nil ? "accepted" : "refused:\(LogText.reason($0))" } ?? standard
        log(result, username.text, realm: report?.realm ?? realms[0], service: service, peer: peer)
    }

    func log(_ result: String, _ name: String, realm: String, service: String, peer: String?) {
        let name = String(name.unicodeScalars.prefix(Username.maximumBytes))
        logger.info(
            "a login was \(result)",
            metadata: [
                "user": "\(LogText.quoted(name))", "realm": "\(LogText.quoted(realm))",
                "service": "\(LogText.quoted(service))", "peer": "\(LogText.quoted(peer ?? "-"))",
            ]
        )
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
