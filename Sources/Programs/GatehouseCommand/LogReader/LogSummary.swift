// SPDX-License-Identifier: Apache-2.0

package import Bytes
internal import CommandSupport

/// The numbers of failures in a log, by user, by address, by reason and by rule.
package struct LogSummary: Sendable {
    /// The number of values for which failures are counted, for each kind.
    private static var capacity: Int { 20_000 }

    package struct User: Sendable, Hashable {
        package let name: UTF8Text
        package let realm: UTF8Text?

        /// The name and the realm in quotes, with all characters but visible ASCII escaped.
        package var text: UTF8Text { UTF8Text("\(LogEntry.quoted(name))@\(LogEntry.quoted(realm ?? "-"))") }
    }

    package private(set) var entries = 0
    package private(set) var failures = 0
    /// The times of the first and the last entry; nil without entries.
    package private(set) var times: ClosedRange<LogTime>?
    package private(set) var users = FrequencyTable<User>(capacity: capacity)
    package private(set) var addresses = FrequencyTable<UTF8Text>(capacity: capacity)
    package private(set) var reasons = FrequencyTable<UTF8Text>(capacity: capacity)
    package private(set) var rules = FrequencyTable<UTF8Text>(capacity: capacity)

    package init() {}

    package mutating func add(_ entry: LogEntry) {
        entries += 1
        times = times.map { min($0.lowerBound, entry.time)...max($0.upperBound, entry.time) } ?? entry.time...entry.time
        guard entry.isFailure else { return }
        failures += 1
        if let user = entry.user { users.count(User(name: user, realm: entry.realm)) }
        if let address = entry.address { addresses.count(address) }
        if let rule = entry.rule { rules.count(rule) }
        reasons.count(entry.reason ?? entry.status.map { UTF8Text("\($0)") } ?? UTF8Text(entry.kind.rawValue))
    }

    /// The number by which counts may be too low, because there were too many different values.
    package var error: Int { max(users.error, addresses.error, reasons.error, rules.error) }
}

/// Counts values in a limited number of counters.
///
/// Clients choose user names and may change their addresses, so the number of values has no limit. If there are more
/// values than counters, the counts are too low by ``error`` at most, and the most frequent values are kept (Misra and
/// Gries, 1982).
package struct FrequencyTable<Value: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var counts: [Value: Int] = [:]
    /// The number by which each count may be too low.
    package private(set) var error = 0

    package init(capacity: Int) { self.capacity = capacity }

    package mutating func count(_ value: Value) {
        guard counts[value] == nil, counts.count >= capacity else {
            counts[value, default: 0] += 1
            return
        }
        // The present value and all others lose one. This happens once for at least `capacity` values that were counted.
        error += 1
        counts = counts.compactMapValues { $0 > 1 ? $0 - 1 : nil }
    }

    /// The most frequent values, the most frequent first, and values with the same count by their texts.
    ///
    /// A value whose count is not above ``error`` is left out: it may be less frequent than values without a counter.
    package func mostFrequent(_ number: Int, text: (Value) -> UTF8Text) -> [(value: Value, count: Int)] {
        counts.filter { $0.value > error }.sorted {
            guard $0.value == $1.value else { return $0.value > $1.value }
            return text($0.key).string.utf8.lexicographicallyPrecedes(text($1.key).string.utf8)
        }.prefix(number).map { ($0.key, $0.value) }
    }
}

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

    private static func table(_ title: String, _ values: [(value: UTF8Text, count: Int)]) -> [String] {
        guard !values.isEmpty else { return [] }
        return [""] + Table.lines([["failures", title]] + values.map { ["\($0.count)", $0.value.string] })
    }
}
