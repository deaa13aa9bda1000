// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// What is computed for one question: one check of every cost that users of a realm have, in the same order for everybody.
///
/// That the sum is the same for all, rather than that all are padded to the slowest by waiting, holds on a busy machine
/// too, and needs no clock.
struct CheckPlan: Sendable, CustomStringConvertible {
    /// The checks; at most one of them is the user's own.
    private let checks: [any PasswordHash]
    private let own: Int?
    /// How much memory they take; they are made one after the other.
    let memory: Int

    /// - Parameters:
    ///   - own: The user's hash.
    ///   - costs: One hash or decoy of every cost.
    init(own: (any PasswordHash)?, costs: [any PasswordHash]) {
        var checks = costs
        if let own {
            let place = costs.firstIndex { $0.cost == own.cost }
            if let place { checks[place] = own } else { checks.append(own) }
            self.own = place ?? checks.count - 1
        } else {
            self.own = nil
        }
        self.checks = checks
        memory = checks.map(\.cost.memory).max() ?? 0
    }

    var description: String { checks.map(\.cost.description).joined(separator: ", ") }

    /// Makes all checks.
    ///
    /// An empty password is nobody's, and costs what any other does: something else is checked in its place.
    func compute(_ password: Secret) -> HashingResult {
        let isEmpty = password.isEmpty
        let password = isEmpty ? Secret(utf8: "empty") : password
        let own = isEmpty ? nil : own
        var result = HashingResult.checked(false)
        for (place, check) in checks.enumerated() {
            do throws(HashFault) {
                let matches = try check.matches(password)
                // Of somebody else's, or of a decoy, it matters only that it was computed.
                if place == own { result = .checked(matches) }
            } catch {
                switch error.code {
                // Where the library cannot do it, nobody is told anything, whosever hash it was.
                case .failed: return .failed(error)
                case .unusable: if place == own { result = .failed(error) }
                }
            }
        }
        return result
    }
}
