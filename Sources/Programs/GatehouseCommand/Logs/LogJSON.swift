// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// Entries and summaries of a log as JSON for programs, one object on a line; a key without a value is left out.
enum LogJSON {
    static func text(_ entry: LogEntry) -> String {
        func text(_ value: UTF8Text?) -> JSONValue? { (value?.string).map(JSONValue.text) }
        let json: JSONValue = [
            "time": .text(entry.time.description), "kind": .text(entry.kind.rawValue),
            "level": entry.level.isEmpty ? nil : .text(entry.level), "user": text(entry.user),
            "realm": text(entry.realm), "address": text(entry.address), "method": text(entry.method),
            "path": text(entry.path), "reason": text(entry.reason),
            "explanation": entry.explanation.map(JSONValue.text),
            "fault": text(entry.fault), "rule": text(entry.rule), "deniedBy": text(entry.deniedBy),
            "needs": text(entry.needs), "has": text(entry.has), "original": text(entry.original),
            "host": text(entry.host), "session": text(entry.session), "cause": text(entry.cause),
            "text": text(entry.text), "failed": .boolean(entry.isFailure),
            "status": entry.status.map(JSONValue.number), "module": entry.module.map(JSONValue.number),
            "page": entry.isPage ? .boolean(true) : nil,
            "remarks": entry.remarks.isEmpty ? nil : .texts(entry.remarks.map(\.string)),
        ]
        return json.text(.terminal)
    }

    static func text(_ summary: LogSummary, unreadable: Int, lost: Int) -> String {
        func values(_ table: FrequencyTable<UTF8Text>) -> JSONValue {
            .array(
                table.mostFrequent(LogSummaryText.rows) { $0 }.map {
                    ["value": .text($0.value.string), "failures": .number($0.count)]
                }
            )
        }
        let users = summary.users.mostFrequent(LogSummaryText.rows) { $0.text }.map { user -> JSONValue in
            [
                "user": .text(user.value.name.string), "realm": (user.value.realm?.string).map(JSONValue.text),
                "failures": .number(user.count),
            ]
        }
        let json: JSONValue = [
            "from": (summary.times?.lowerBound.description).map(JSONValue.text),
            "to": (summary.times?.upperBound.description).map(JSONValue.text),
            "entries": .number(summary.entries),
            "failures": .number(summary.failures),
            "users": .array(users),
            "addresses": values(summary.addresses),
            "reasons": values(summary.reasons),
            "rules": values(summary.rules),
            // The number by which the failures of a value may be too low.
            "tooLowBy": .number(summary.error),
            "unreadableLines": .number(unreadable),
            "lostLines": .number(lost),
        ]
        return json.text(.terminal)
    }
}
