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
