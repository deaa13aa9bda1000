// SPDX-License-Identifier: Apache-2.0

internal import AuthcheckCommand
internal import Bytes
internal import CommandSupport
internal import GatehouseClient
internal import Glibc
internal import RealmKit

/// The result of `authcheck --server`.
struct RemoteReport {
    let server: String
    let realm: String
    let user: String
    let outcome: RealmAPIResponse.Outcome
    /// The reason why the server has not answered.
    var error: String?

    var status: ExitStatus {
        switch outcome {
        case .accepted: .accepted
        case .refused(let failure): ExitStatus(failure)
        }
    }

    var text: String {
        let place = "\(user) in realm \(realm) of \(server)"
        switch outcome {
        case .refused(let failure): return Printable.line("refused: \(place): \(failure.words)")
        case .accepted(_, _, let principals, let attributes):
            let rows = attributes.sorted { $0.key < $1.key }.flatMap { name, values in values.map { ["  " + name, $0] }
            }
            let lines = Table.lines(principals.map { ["  " + $0.kind, $0.name] }) + Table.lines(rows)
            return (["accepted: \(place)"] + lines).map(Printable.line).joined(separator: "\n")
        }
    }

    var json: JSONValue {
        let (reason, principals, attributes): (JSONValue?, JSONValue?, JSONValue?) =
            switch outcome {
            case .refused(let failure): (.text(failure.code), nil, nil)
            case .accepted(_, _, let principals, let attributes):
                (nil, .array(principals.map { ["kind": .text($0.kind), "name": .text($0.name)] }), .lists(attributes))
            }
        return [
            "accepted": .boolean(reason == nil), "server": .text(server), "realm": .text(realm), "user": .text(user),
            "reason": reason, "error": error.map(JSONValue.text), "principals": principals, "attributes": attributes,
        ]
    }
}

extension RemoteCheck {
    func report(_ outcome: RealmAPIResponse.Outcome) -> RemoteReport {
        var user = options.user ?? server.user ?? ""
        if case .accepted(let name, _, _, _) = outcome { user = name.text }
        return RemoteReport(server: url.description, realm: options.realm ?? "", user: user, outcome: outcome)
    }

    /// Prints the result of a check, unless `--quiet` is set.
    func print(_ report: RemoteReport) -> ExitStatus {
        if options.quiet { return report.status }
        if options.json { write(report.json) } else { Output.write(report.text, to: STDOUT_FILENO) }
        return report.status
    }

    /// Prints the realms of the server, unless `--quiet` is set.
    func list(_ realms: [RealmAPIResponse.ListedRealm]) -> ExitStatus {
        if options.quiet { return .accepted }
        if options.json {
            let list = realms.map { ["name": .text($0.name), "auth_type": .text($0.authType)] as JSONValue }
            write(["realms": .array(list)])
        } else {
            let lines = Table.lines(realms.map { [$0.name, $0.authType] })
            Output.write(lines.joined(separator: "\n"), to: STDOUT_FILENO)
        }
        return .accepted
    }

    func write(_ value: JSONValue) { Output.write(value.text(.terminal), to: STDOUT_FILENO) }
}
