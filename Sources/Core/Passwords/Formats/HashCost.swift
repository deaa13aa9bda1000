// SPDX-License-Identifier: Apache-2.0

/// The cost of a check: checks of equal cost take the same time and the same memory.
public struct HashCost: Sendable, Hashable, CustomStringConvertible {
    /// The format's name, such as `argon2id`.
    public let format: String
    /// The parameters that determine the cost, such as `m=19456,t=2,p=1`; empty for a format without parameters.
    public let parameters: String
    /// The memory that a check takes, in bytes; 0 if it is negligible.
    public let memory: Int
    /// The time of a check on one core of a server of 2020, estimated from the parameters; 0 if it is not known.
    package let time: Duration
    /// True if a check takes a few microseconds at most, less than passing it to another thread.
    let isNegligible: Bool

    init(format: String, parameters: String = "", memory: Int = 0, time: Duration, isNegligible: Bool = false) {
        self.format = format
        self.parameters = parameters
        self.memory = memory
        self.time = time
        self.isNegligible = isNegligible
    }

    package static let maximumChecks = 8

    /// Returns the costs that every login computes, the dearest first: at most 8, and twice `longestCheck` in all.
    ///
    /// A login of a user whose hash has another cost takes a little less time, and never more. Each cost is given once.
    package static func checked(of costs: [HashCost], longestCheck: Duration) -> [HashCost] {
        var time = Duration.zero
        // The order of costs of the same time must be the same in every login.
        let sorted = costs.enumerated().sorted { ($1.element.time, $0.offset) < ($0.element.time, $1.offset) }
        let checked = sorted.map(\.element).prefix(maximumChecks).prefix { cost in
            defer { time += cost.time }
            return time == .zero || time + cost.time <= longestCheck * 2
        }
        return Array(checked)
    }

    /// Returns a warning if the hashes of a realm have many different costs.
    package static func warning(about costs: [HashCost], longestCheck: Duration) -> String? {
        let checked = checked(of: costs, longestCheck: longestCheck)
        guard costs.count > 3 || checked.count < costs.count else { return nil }
        let start = "the password hashes have \(costs.count) different costs, and each login computes one hash of each"
        guard checked.count < costs.count else {
            return "\(start) cost: \(costs.map(\.description).joined(separator: "; "))"
        }
        return "\(start) of the \(checked.count) dearest: \(checked.map(\.description).joined(separator: "; ")); "
            + "users with other costs can be recognized by the time of a login, until their hashes are replaced"
    }

    /// The format and the parameters, such as `argon2id m=19456,t=2,p=1`.
    public var description: String { parameters.isEmpty ? format : "\(format) \(parameters)" }
}
