// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Glibc

extension RemoteCheck {
    func report(isAccepted: Bool) -> RemoteReportJSON {
        RemoteReportJSON(
            accepted: isAccepted,
            server: url.description,
            realm: options.realm ?? "",
            user: options.user ?? server.user ?? ""
        )
    }

    /// Prints the result of a check, unless `--quiet` is set.
    func print(_ result: (report: RemoteReportJSON, status: ExitStatus)) -> ExitStatus {
        guard !options.quiet else { return result.status }
        if options.json { write(result.report) } else { Output.write(text(result.report), to: STDOUT_FILENO) }
        return result.status
    }

    func text(_ report: RemoteReportJSON) -> String {
        let place = "\(report.user) in realm \(report.realm) of \(report.server)"
        var lines: [String] = []
        if report.accepted {
            lines.append("accepted: \(place)")
            lines += Table.lines((report.principals ?? []).map { ["  " + $0.kind, $0.name] })
            let attributes = (report.attributes ?? [:]).sorted { $0.key < $1.key }
            lines += Table.lines(
                attributes.flatMap { attribute in attribute.value.map { ["  " + attribute.key, $0] } }
            )
        } else {
            let words = (report.reason ?? "").split(separator: "-").joined(separator: " ")
            lines.append("refused: \(place): \(words)")
        }
        return lines.map(Printable.line).joined(separator: "\n")
    }

    /// Prints the realms of the server, unless `--quiet` is set.
    func list(_ realms: RealmAPIAnswer.Realms) -> ExitStatus {
        guard !options.quiet else { return .accepted }
        if options.json {
            write(realms)
        } else {
            let lines = Table.lines(realms.realms.map { [$0.name, $0.authType] })
            Output.write(lines.joined(separator: "\n"), to: STDOUT_FILENO)
        }
        return .accepted
    }

    func write(_ value: some Encodable) {
        Output.write(PrintableJSON.text(value, orElse: ReportJSON.internalError), to: STDOUT_FILENO)
    }
}

/// The result of `authcheck --server` as JSON.
struct RemoteReportJSON: Encodable {
    let accepted: Bool
    let server: String
    let realm: String
    var user: String
    var reason: String?
    var error: String?
    var principals: [RealmAPIAnswer.Principal]?
    var attributes: [String: [String]]?
}
