// SPDX-License-Identifier: Apache-2.0

/// A fault of a realm's back end that ``RealmBackEndConformance`` causes and ends.
///
/// ```swift
/// BackEndFault("the server is stopped", causes: ["Connection refused"]) {
///     try await server.stop()
/// } end: {
///     try await server.start()
/// }
/// ```
public struct BackEndFault: Sendable {
    /// The effect of a fault on logins.
    public enum Effect: Sendable, Hashable {
        /// Every login is refused as unavailable.
        case unavailable
        /// Every login has the same result as without the fault, because the realm uses what it has loaded before.
        ///
        /// The log must still name the cause.
        case none
    }

    /// The name of the fault in violations, such as `the server is stopped`.
    public let name: String
    /// The effect on logins.
    public let effect: Effect
    /// True if the back end accepts calls and never answers.
    ///
    /// The checks of deadlines and cancellations use these faults.
    public let hangs: Bool
    /// Texts of which the log must contain at least one, compared byte by byte.
    public let causes: [String]
    let begin: @Sendable () async throws -> Void
    let end: @Sendable () async throws -> Void

    /// Creates a fault.
    ///
    /// - Parameters:
    ///   - name: The name of the fault in violations.
    ///   - effect: The effect on logins.
    ///   - hangs: True if the back end accepts calls and never answers.
    ///   - causes: Texts that name the cause, at least one. The test searches for them in the lines that the realm
    ///     writes to its `RealmLog`, and in the faults that its modules throw, which the program logs.
    ///   - begin: Breaks the back end. The fault must be in effect when it returns.
    ///   - end: Restores the back end. It is called after every `begin` that has returned.
    public init(
        _ name: String,
        effect: Effect = .unavailable,
        hangs: Bool = false,
        causes: [String],
        begin: @escaping @Sendable () async throws -> Void,
        end: @escaping @Sendable () async throws -> Void
    ) {
        self.name = name
        self.effect = effect
        self.hangs = hangs
        self.causes = causes
        self.begin = begin
        self.end = end
    }
}

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
