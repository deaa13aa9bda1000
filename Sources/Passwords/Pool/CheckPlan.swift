// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The checks that one login computes: one check of every cost in the realm, in the same order for every user.
///
/// The work is the same for all users, so response times do not reveal which users exist. A fixed response time would
/// not hide it: on a busy machine some checks would take longer.
struct CheckPlan: Sendable, CustomStringConvertible {
    /// The checks.
    ///
    /// At most one of them is a check of the user's own hash.
    private let checks: [any PasswordHash]
    private let own: Int?
    /// The memory of the most costly check, in bytes.
    ///
    /// The checks are computed one after the other.
    let memory: Int

    /// - Parameters:
    ///   - own: The user's hash; nil for a user without a usable hash.
    ///   - costs: One hash or decoy of every cost in the realm.
    init(own: (any PasswordHash)?, costs: [any PasswordHash]) {
        var checks = costs
        if let own {
            let index = costs.firstIndex { $0.cost == own.cost }
            if let index { checks[index] = own } else { checks.append(own) }
            self.own = index ?? checks.count - 1
        } else {
            self.own = nil
        }
        self.checks = checks
        memory = checks.map(\.cost.memory).max() ?? 0
    }

    var description: String { checks.map(\.cost.description).joined(separator: ", ") }

    /// Computes all checks.
    ///
    /// An empty password never matches. A fixed password is checked instead, so that the login takes the same time.
    func compute(_ password: Secret) -> HashingResult {
        let isEmpty = password.isEmpty
        let password = isEmpty ? Secret(utf8: "empty") : password
        let own = isEmpty ? nil : own
        var result = HashingResult.checked(false)
        for (index, check) in checks.enumerated() {
            do throws(HashFault) {
                let matches = try check.matches(password)
                // The result of another user's hash or of a decoy is ignored; only the work counts.
                if index == own { result = .checked(matches) }
            } catch {
                switch error.code {
                // If the library cannot compute one of the hashes, the login fails, whether or not it is the user's own
                // hash. A failure only for the own hash would reveal its cost.
                case .failed: return .failed(error)
                case .unusable: if index == own { result = .failed(error) }
                }
            }
        }
        return result
    }
}
