// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import RealmKit

/// The result of a check in a realm of the configuration.
enum CheckResult {
    /// The report of a login.
    case login(LoginReport)
    /// The certificate was rejected, so no login began.
    case rejectedCertificate(LoginFault, realm: String)

    var status: ExitStatus {
        switch self {
        case .login(let report): report.refusal.map { ExitStatus($0.failure) } ?? .accepted
        case .rejectedCertificate(let fault, _): ExitStatus(fault.kind)
        }
    }

    func text(_ options: AuthcheckOptions) -> String {
        switch self {
        case .login(let report):
            options.json ? ReportJSON.text(report) : ReportText.text(report, trace: options.trace)
        case .rejectedCertificate(let fault, let realm):
            options.json
                ? ReportJSON.text(rejectedCertificate: fault, realm: realm)
                : Printable.line("refused: the certificate in realm \(realm): \(fault.kind.words) (\(fault.log))")
        }
    }
}
