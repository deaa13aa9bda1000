// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// Logs sign-ins, ends of sessions and rejected sign-ins, even if requests are not logged.
///
/// Source: ASVS 16.3.1.
struct SessionLog: Sendable {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func logBeginning(_ session: Session) {
        logger.info("a session has begun", metadata: Self.metadata(of: session))
    }

    func logEnd(_ session: Session, _ cause: SessionEndCause) {
        var metadata = Self.metadata(of: session)
        metadata["cause"] = "\(cause.rawValue)"
        logger.info("a session has ended", metadata: metadata)
    }

    /// Logs that the cookie of a session was sent to another host.
    ///
    /// A browser never sends the cookie to another host, so the cookie was copied.
    func logWrongHost(_ session: Session, at host: SessionHost) {
        var metadata = Self.metadata(of: session)
        metadata["presented-at"] = "\(host)"
        logger.warning("a session was presented at another host", metadata: metadata)
    }

    /// Logs that the code of a hand-over was presented at another host or with the verifier of another browser.
    ///
    /// Two tabs of one browser that are opened at the same time may do this. From another address, the code was probably
    /// copied.
    func logRejectedHandOver(of session: Session, to origin: String, reason: String, address: String?) {
        var metadata = Self.metadata(of: session)
        metadata["presented-at"] = "\(origin)"
        metadata["presented-by"] = "\(address ?? "-")"
        metadata["reason"] = "\(reason)"
        let isSameAddress = address != nil && address == session.client.address
        logger.log(
            level: isSameAddress ? .info : .warning,
            isSameAddress
                ? "the code of a hand-over was presented by another tab, or by another browser of the same address"
                : "the code of a hand-over was presented in the wrong place",
            metadata: metadata
        )
    }

    /// Logs that a session has ended in memory, but not in the store.
    func logUnstoredEnd(_ session: Session) {
        logger.error(
            "the end of a session could not be stored, so the session may be valid again after a restart",
            metadata: Self.metadata(of: session)
        )
    }

    /// Logs a rejected sign-in.
    ///
    /// - Parameters:
    ///   - report: The report of the login.
    ///   - rule: The rule of the page that the user wants to open; nil if there is none.
    func logRejection(_ report: LoginReport, for rule: ProtectRule?) {
        var metadata: Logger.Metadata = [
            "user": "\(LogText.quoted(report.username.text))", "realm": "\(LogText.quoted(report.realm))",
            "address": "\(report.peer ?? "-")",
        ]
        if let rule { metadata["rule"] = "\(LogText.ruleName(rule))" }
        logger.info("a sign-in was refused:\(LogText.reason(report))", metadata: metadata)
    }

    private static func metadata(of session: Session) -> Logger.Metadata {
        [
            "user": "\(LogText.quoted(session.user.username.text))",
            "realm": "\(LogText.quoted(session.user.realm))", "session": "\(session.id)", "host": "\(session.host)",
            "address": "\(session.client.address ?? "-")",
        ]
    }
}
