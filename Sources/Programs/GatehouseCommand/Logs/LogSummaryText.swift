// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport

/// A summary of a log as text for administrators.
enum LogSummaryText {
    /// The number of rows of each table.
    static let rows = 10

    static func text(_ summary: LogSummary) -> String {
        guard let times = summary.times else { return "there are no such entries" }
        let period = "\(times.lowerBound) to \(times.upperBound)"
        var lines = ["\(period): \(summary.entries) entries, \(summary.failures) failures"]
        let users = summary.users.mostFrequent(rows) { $0.text }.map { (value: $0.value.text, count: $0.count) }
        lines += table("user", users)
        lines += table("address", summary.addresses.mostFrequent(rows) { $0 })
        lines += table("reason", summary.reasons.mostFrequent(rows) { $0 })
        lines += table("rule", summary.rules.mostFrequent(rows) { $0 })
        if summary.error > 0 {
            lines += ["", "there are too many different values: a number may be \(summary.error) too low"]
        }
        return lines.joined(separator: "\n")
    }

    /// Returns an empty line and a table; nothing without values.
    private static func table(_ title: String, _ values: [(value: UTF8Text, count: Int)]) -> [String] {
        guard !values.isEmpty else { return [] }
        return [""] + Table.lines([["failures", title]] + values.map { ["\($0.count)", $0.value.string] })
    }
}
