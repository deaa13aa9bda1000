// SPDX-License-Identifier: Apache-2.0

/// The result of a conformance test: the violations, and what was checked.
public struct ConformanceReport: Sendable, CustomStringConvertible {
    /// The violations, one sentence each; empty if there are none.
    public internal(set) var violations: [String] = []
    /// The checks that were not made, each with the reason.
    public internal(set) var skipped: [String] = []
    /// The checks that were made, each with the number of its logins.
    public internal(set) var checked: [String] = []
    /// Times and other values for people to read; no check depends on them.
    public internal(set) var measurements: [String] = []

    /// All entries, one a line.
    public var description: String {
        (violations.map { "violation: \($0)" } + checked.map { "checked: \($0)" } + skipped.map { "skipped: \($0)" }
            + measurements.map { "measured: \($0)" }).joined(separator: "\n")
    }

    /// The largest number of violations of one check that are listed.
    private static let limit = 10

    /// Adds the result of a check; only the first ten violations are listed.
    mutating func add(_ check: RealmBackEndConformance.Check, logins: Int, violations found: [String]) {
        checked.append("\(check.rawValue): \(logins) logins")
        violations += found.prefix(Self.limit)
        if found.count > Self.limit {
            violations.append("\(check.rawValue): at least \(found.count - Self.limit) more violations of this check")
        }
    }
}
