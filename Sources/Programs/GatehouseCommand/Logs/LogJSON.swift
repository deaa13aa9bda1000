// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport

/// Entries and summaries of a log as JSON for programs, one object on a line.
enum LogJSON {
    /// An entry; a key without a value is left out.
    private struct Entry: Encodable {
        let entry: LogEntry

        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Name.self)
            let level = entry.level.isEmpty ? nil : entry.level
            let texts: [(String, String?)] = [
                ("time", entry.time.description), ("kind", entry.kind.rawValue), ("level", level),
                ("user", entry.user?.string), ("realm", entry.realm?.string), ("address", entry.address?.string),
                ("method", entry.method?.string), ("path", entry.path?.string), ("reason", entry.reason?.string),
                ("explanation", entry.explanation), ("fault", entry.fault?.string), ("rule", entry.rule?.string),
                ("deniedBy", entry.deniedBy?.string), ("needs", entry.needs?.string), ("has", entry.has?.string),
                ("original", entry.original?.string), ("host", entry.host?.string), ("session", entry.session?.string),
                ("cause", entry.cause?.string), ("text", entry.text?.string),
            ]
            for (name, text) in texts { try object.encodeIfPresent(text, forKey: Name(stringValue: name)) }
            try object.encode(entry.isFailure, forKey: Name(stringValue: "failed"))
            try object.encodeIfPresent(entry.status, forKey: Name(stringValue: "status"))
            try object.encodeIfPresent(entry.module, forKey: Name(stringValue: "module"))
            if entry.isPage { try object.encode(true, forKey: Name(stringValue: "page")) }
            let remarks = entry.remarks.isEmpty ? nil : entry.remarks.map(\.string)
            try object.encodeIfPresent(remarks, forKey: Name(stringValue: "remarks"))
        }
    }

    private struct Summary: Encodable {
        struct User: Encodable {
            let user: String
            let realm: String?
            let failures: Int
        }

        struct Value: Encodable {
            let value: String
            let failures: Int

            init(_ value: UTF8Text, failures: Int) { (self.value, self.failures) = (value.string, failures) }
        }

        let from: String?
        let to: String?
        let entries: Int
        let failures: Int
        let users: [User]
        let addresses: [Value]
        let reasons: [Value]
        let rules: [Value]
        /// The number by which the failures of a value may be too low.
        let tooLowBy: Int
        let unreadableLines: Int
        let lostLines: Int
    }

    static func text(_ entry: LogEntry) -> String { PrintableJSON.text(Entry(entry: entry)) }

    static func text(_ summary: LogSummary, unreadable: Int, lost: Int) -> String {
        func values(_ table: FrequencyTable<UTF8Text>) -> [Summary.Value] {
            table.mostFrequent(LogSummaryText.rows) { $0 }.map { Summary.Value($0.value, failures: $0.count) }
        }
        let users = summary.users.mostFrequent(LogSummaryText.rows) { $0.text }.map {
            Summary.User(user: $0.value.name.string, realm: $0.value.realm?.string, failures: $0.count)
        }
        return PrintableJSON.text(
            Summary(
                from: summary.times?.lowerBound.description,
                to: summary.times?.upperBound.description,
                entries: summary.entries,
                failures: summary.failures,
                users: users,
                addresses: values(summary.addresses),
                reasons: values(summary.reasons),
                rules: values(summary.rules),
                tooLowBy: summary.error,
                unreadableLines: unreadable,
                lostLines: lost
            )
        )
    }
}
