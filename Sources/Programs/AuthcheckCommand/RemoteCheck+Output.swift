// SPDX-License-Identifier: Apache-2.0

internal import Bytes
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
        if options.json { write(result.report.json) } else { Output.write(text(result.report), to: STDOUT_FILENO) }
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
            write(realms.json)
        } else {
            let lines = Table.lines(realms.realms.map { [$0.name, $0.authType] })
            Output.write(lines.joined(separator: "\n"), to: STDOUT_FILENO)
        }
        return .accepted
    }

    func write(_ value: JSONValue) { Output.write(value.text(.terminal), to: STDOUT_FILENO) }
}

/// The result of `authcheck --server` as JSON.
struct RemoteReportJSON {
    let accepted: Bool
    let server: String
    let realm: String
    var user: String
    var reason: String?
    var error: String?
    var principals: [RealmAPIAnswer.Principal]?
    var attributes: [String: [String]]?

    var json: JSONValue {
        [
            "accepted": .boolean(accepted),
            "server": .text(server),
            "realm": .text(realm),
            "user": .text(user),
            "reason": reason.map(JSONValue.text),
            "error": error.map(JSONValue.text),
            "principals": principals.map { .array($0.map(\.json)) },
            "attributes": attributes.map(JSONValue.lists),
        ]
    }
}
