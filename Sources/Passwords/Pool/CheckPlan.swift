// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The checks that one login computes: one of every cost that users of the realm have, in the same order for every
/// user.
///
/// The work is the same for all users, so response times do not reveal which users exist. Padding responses to the
/// slowest would need a clock, and would fail on a busy machine.
struct CheckPlan: Sendable, CustomStringConvertible {
    /// The checks; at most one of them is the user's own.
    private let checks: [any PasswordHash]
    private let own: Int?
    /// The memory that they take, in bytes; they are computed one after the other.
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

    /// Computes all checks.
    ///
    /// An empty password never matches. Another password is checked in its place, so that it costs the same.
    func compute(_ password: Secret) -> HashingResult {
        let isEmpty = password.isEmpty
        let password = isEmpty ? Secret(utf8: "empty") : password
        let own = isEmpty ? nil : own
        var result = HashingResult.checked(false)
        for (place, check) in checks.enumerated() {
            do throws(HashFault) {
                let matches = try check.matches(password)
                // The result of another user's hash or of a decoy is ignored; only the work counts.
                if place == own { result = .checked(matches) }
            } catch {
                switch error.code {
                // If the library fails for any of the hashes, the whole login fails, so that the failure does not
                // reveal the user's own cost.
                case .failed: return .failed(error)
                case .unusable: if place == own { result = .failed(error) }
                }
            }
        }
        return result
    }
}
