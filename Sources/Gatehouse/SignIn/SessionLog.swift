// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import RealmKit
internal import Sessions

/// Says who has signed in and out, and who was refused, whether or not requests are logged.
///
/// Source: ASVS 16.3.1.
struct SessionLog: Sendable {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func noteBeginning(_ session: Session) {
        logger.info("a session has begun", metadata: Self.metadata(of: session))
    }

    func noteEnd(_ session: Session, _ cause: SessionEnd) {
        var metadata = Self.metadata(of: session)
        metadata["cause"] = "\(cause.rawValue)"
        logger.info("a session has ended", metadata: metadata)
    }

    func noteRefusal(_ report: LoginReport) {
        logger.info(
            "a sign-in was refused:\(AccessLog.reason(report))",
            metadata: [
                "user": "\(AccessLog.quoted(report.username.text))", "realm": "\(AccessLog.quoted(report.realm))",
                "address": "\(report.peer ?? "-")",
            ]
        )
    }

    private static func metadata(of session: Session) -> Logger.Metadata {
        [
            "user": "\(AccessLog.quoted(session.user.username.text))",
            "realm": "\(AccessLog.quoted(session.user.realm))", "session": "\(session.id)",
            "address": "\(session.client.address ?? "-")",
        ]
    }
}
