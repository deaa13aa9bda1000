// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The checks that one login computes, in the same order for every user: one for each cost in the realm, of very many
/// costs the dearest ones.
///
/// The work is the same for all users, so response times do not reveal which users exist. A fixed response time would
/// not hide this, because on a busy machine some checks take longer than any fixed time.
struct CheckPlan: Sendable, CustomStringConvertible {
    /// At most one of them is a check of the user's own hash, at ``own``.
    private let checks: [any PasswordHash]
    private let own: Int?
    /// The memory of the largest check, in bytes: the checks are computed one after the other.
    let memory: Int

    init(own: (any PasswordHash)?, hashPerCost: [any PasswordHash], longestCheck: Duration = .seconds(2)) {
        let costs = Set(HashCost.checked(of: hashPerCost.map(\.cost), longestCheck: longestCheck))
        var checks = hashPerCost.filter { costs.contains($0.cost) }
        if let own {
            var index = checks.firstIndex { $0.cost == own.cost }
            if index == nil, checks.count < hashPerCost.count || checks.count >= HashCost.maximumChecks {
                // In the place of the next dearer check, so that the login takes no more time than others.
                index = checks.indices.filter { checks[$0].cost.time >= own.cost.time }
                    .min { checks[$0].cost.time < checks[$1].cost.time }
            }
            if let index { checks[index] = own } else { checks.append(own) }
            self.own = index ?? checks.count - 1
        } else {
            self.own = nil
        }
        self.checks = checks
        memory = checks.map(\.cost.memory).max() ?? 0
    }

    /// True if the checks take less time than passing them to another thread.
    var isNegligible: Bool { checks.count <= 8 && checks.allSatisfy(\.cost.isNegligible) }

    var description: String { checks.map(\.cost.description).joined(separator: ", ") }

    /// Computes all checks; an empty password never matches, but takes the same time by a check of a fixed one.
    func compute(_ password: Secret) -> HashingResult {
        let isEmpty = password.isEmpty
        let password = isEmpty ? Secret(utf8: "empty") : password
        let own = isEmpty ? nil : own
        var result = HashingResult.checked(false)
        for (index, check) in checks.enumerated() {
            do throws(HashFault) {
                let matches = try check.matches(password)
                // The result of another user's hash or of a decoy is ignored. It is computed only for its time.
                if index == own { result = .checked(matches) }
            } catch {
                switch error.code {
                // If the library cannot compute one of the hashes, the login fails, even if the hash is not the user's
                // own. Otherwise the response would reveal the cost of the user's own hash.
                case .failed: return .failed(error)
                case .unusable: if index == own { result = .failed(error) }
                }
            }
        }
        return result
    }
}
