// SPDX-License-Identifier: Apache-2.0

package import Bytes

/// The numbers of failures in a log, by user, by address, by reason and by rule.
package struct LogSummary: Sendable {
    /// The number of values for which failures are counted, for each kind.
    private static var capacity: Int { 20_000 }

    /// A user of a realm.
    package struct User: Sendable, Hashable {
        package let name: UTF8Text
        package let realm: UTF8Text?

        /// The name and the realm in quotes, with all characters but visible ASCII escaped.
        package var text: UTF8Text {
            UTF8Text("\(LogEntry.quoted(name))@\(LogEntry.quoted(realm ?? "-"))")
        }
    }

    /// The number of entries.
    package private(set) var entries = 0
    /// The number of failures.
    package private(set) var failures = 0
    /// The times of the first and the last entry; nil without entries.
    package private(set) var times: ClosedRange<LogTime>?
    package private(set) var users = FrequencyTable<User>(capacity: capacity)
    package private(set) var addresses = FrequencyTable<UTF8Text>(capacity: capacity)
    package private(set) var reasons = FrequencyTable<UTF8Text>(capacity: capacity)
    package private(set) var rules = FrequencyTable<UTF8Text>(capacity: capacity)

    package init() {}

    /// Counts an entry.
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
