// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport
internal import SignIn

/// The numbers of failures in a log, by user, by address, by reason and by rule.
struct LogSummary: Sendable {
    /// The number of values for which failures are counted, for each kind.
    private static var capacity: Int { 20_000 }

    struct User: Sendable, Hashable {
        let name: UTF8Text
        let realm: UTF8Text?

        /// The name and the realm in quotes, with all characters but visible ASCII escaped.
        var text: UTF8Text { UTF8Text("\(LogEntry.quoted(name))@\(LogEntry.quoted(realm ?? "-"))") }
    }

    private(set) var entries = 0
    private(set) var failures = 0
    /// The times of the first and the last entry; nil without entries.
    private(set) var times: ClosedRange<LogTime>?
    private(set) var users = FrequencyTable<User>(capacity: capacity)
    private(set) var addresses = FrequencyTable<UTF8Text>(capacity: capacity)
    private(set) var reasons = FrequencyTable<UTF8Text>(capacity: capacity)
    private(set) var rules = FrequencyTable<UTF8Text>(capacity: capacity)

    mutating func add(_ entry: LogEntry) {
        entries += 1
        times = times.map { min($0.lowerBound, entry.time)...max($0.upperBound, entry.time) } ?? entry.time...entry.time
        guard entry.isFailure else { return }
        failures += 1
        if let user = entry[.user] { users.count(User(name: user, realm: entry[.realm])) }
        if let address = entry[.address] { addresses.count(address) }
        if let rule = entry[.rule] { rules.count(rule) }
        reasons.count(entry.reason ?? entry.status.map { UTF8Text("\($0)") } ?? UTF8Text(entry.kind.rawValue))
    }

    /// The number by which counts may be too low, because there were too many different values.
    var error: Int { max(users.error, addresses.error, reasons.error, rules.error) }
}

extension LogSummary {
    /// The number of rows of each table.
    private static let rows = 10

    /// The summary as text for administrators.
    var text: String {
        guard let times else { return "there are no such entries" }
        var lines = ["\(times.lowerBound) to \(times.upperBound): \(entries) entries, \(failures) failures"]
        let users = users.mostFrequent(Self.rows) { $0.text }.map { (value: $0.value.text, count: $0.count) }
        lines += Self.table("user", users)
        for (title, values) in [("address", addresses), ("reason", reasons), ("rule", rules)] {
            lines += Self.table(title, values.mostFrequent(Self.rows) { $0 })
        }
        if error > 0 { lines += ["", "there are too many different values: a number may be \(error) too low"] }
        return lines.joined(separator: "\n")
    }

    private static func table(_ title: String, _ values: [(value: UTF8Text, count: Int)]) -> [String] {
        guard !values.isEmpty else { return [] }
        return [""] + Table.lines([["failures", title]] + values.map { ["\($0.count)", $0.value.string] })
    }

    /// The summary as JSON for programs.
    func json(unreadable: Int, lost: Int) -> JSONValue {
        func values(_ table: FrequencyTable<UTF8Text>) -> JSONValue {
            let values = table.mostFrequent(Self.rows) { $0 }
            return .array(values.map { ["value": .text($0.value.string), "failures": .number($0.count)] })
        }
        let users = users.mostFrequent(Self.rows) { $0.text }.map { user, count -> JSONValue in
            [
                "user": .text(user.name.string), "realm": (user.realm?.string).map(JSONValue.text),
                "failures": .number(count),
            ]
        }
        return [
            "from": (times?.lowerBound.description).map(JSONValue.text),
            "to": (times?.upperBound.description).map(JSONValue.text),
            "entries": .number(entries), "failures": .number(failures), "users": .array(users),
            "addresses": values(addresses), "reasons": values(reasons), "rules": values(rules),
            // The number by which the failures of a value may be too low.
            "tooLowBy": .number(error), "unreadableLines": .number(unreadable), "lostLines": .number(lost),
        ]
    }
}

/// Counts values in a limited number of counters.
///
/// Clients choose user names and may change their addresses, so the number of values has no limit. If there are more
/// values than counters, the counts are too low by ``error`` at most, and the most frequent values are kept (Misra and
/// Gries, 1982).
struct FrequencyTable<Value: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var counts: [Value: Int] = [:]
    /// The number by which each count may be too low.
    private(set) var error = 0

    init(capacity: Int) { self.capacity = capacity }

    mutating func count(_ value: Value) {
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
    func mostFrequent(_ number: Int, text: (Value) -> UTF8Text) -> [(value: Value, count: Int)] {
        counts.filter { $0.value > error }.sorted {
            guard $0.value == $1.value else { return $0.value > $1.value }
            return text($0.key).string.utf8.lexicographicallyPrecedes(text($1.key).string.utf8)
        }.prefix(number).map { ($0.key, $0.value) }
    }
}
