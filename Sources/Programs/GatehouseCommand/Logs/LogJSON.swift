// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport

/// Entries and summaries of a log as JSON for programs, one object on a line.
enum LogJSON {
    /// An entry; a key without a value is left out.
    private struct Entry: Encodable {
        let time: String
        let kind: String
        let failed: Bool
        let level: String?
        let user: String?
        let realm: String?
        let address: String?
        let method: String?
        let path: String?
        let status: Int?
        let reason: String?
        let explanation: String?
        let module: Int?
        let fault: String?
        let rule: String?
        let deniedBy: String?
        let needs: String?
        let has: String?
        let page: Bool?
        let original: String?
        let host: String?
        let session: String?
        let cause: String?
        let remarks: [String]?
        let text: String?

        init(_ entry: LogEntry) {
            time = entry.time.description
            kind = entry.kind.rawValue
            failed = entry.isFailure
            level = entry.level.isEmpty ? nil : entry.level
            user = entry.user?.string
            realm = entry.realm?.string
            address = entry.address?.string
            method = entry.method?.string
            path = entry.path?.string
            status = entry.status
            reason = entry.reason?.string
            explanation = entry.explanation
            module = entry.module
            fault = entry.fault?.string
            rule = entry.rule?.string
            deniedBy = entry.deniedBy?.string
            needs = entry.needs?.string
            has = entry.has?.string
            page = entry.isPage ? true : nil
            original = entry.original?.string
            host = entry.host?.string
            session = entry.session?.string
            cause = entry.cause?.string
            remarks = entry.remarks.isEmpty ? nil : entry.remarks.map(\.string)
            text = entry.text?.string
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

    static func text(_ entry: LogEntry) -> String { encode(Entry(entry)) }

    static func text(_ summary: LogSummary, unreadable: Int, lost: Int) -> String {
        func values(_ table: FrequencyTable<UTF8Text>) -> [Summary.Value] {
            table.mostFrequent(LogSummaryText.rows) { $0 }.map { Summary.Value($0.value, failures: $0.count) }
        }
        let users = summary.users.mostFrequent(LogSummaryText.rows) { $0.text }.map {
            Summary.User(user: $0.value.name.string, realm: $0.value.realm?.string, failures: $0.count)
        }
        return encode(
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

    private static func encode(_ value: some Encodable) -> String {
        // Encoding strings, numbers and lists does not fail.
        do { return try PrintableJSON.text(value) } catch { return "{}" }
    }
}
