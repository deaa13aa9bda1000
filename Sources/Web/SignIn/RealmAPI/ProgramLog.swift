// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import RealmKit

/// Logs the checks of programs, and the programs that are refused, even if requests are not logged.
///
/// Source: ASVS 16.3.1.
struct ProgramLog: Sendable {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    /// Logs the result of a check.
    func logCheck(_ report: LoginReport, by program: String, at address: String?) {
        let result = report.refusal == nil ? "accepted" : "refused:\(LogText.reason(report))"
        logger.info(
            "a program has checked a login: \(result)",
            metadata: [
                "user": "\(LogText.quoted(report.username.text))", "realm": "\(LogText.quoted(report.realm))",
                "address": "\(report.peer ?? "-")", "program": "\(program)", "program-address": "\(address ?? "-")",
            ]
        )
    }

    /// Logs that a program was refused.
    ///
    /// - Parameters:
    ///   - reason: The reason, as a code.
    ///   - program: The name of the program; nil if it is not known.
    ///   - address: The address of the program.
    func logRefusal(_ reason: String, of program: String?, at address: String?) {
        logger.notice(
            "a program was refused: \(reason)",
            metadata: ["program": "\(program ?? "-")", "program-address": "\(address ?? "-")"]
        )
    }
}
