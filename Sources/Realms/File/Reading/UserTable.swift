// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmKit

/// The users of one state of the files.
final class UserTable: Sendable {
    let form: KeyFileForm
    /// In the order of the file.
    let users: [StoredUser]
    /// One decoy of every cost that users have who may sign in.
    let costs: [any PasswordHash]
    /// Lines that were left out, and what else the administrator should know.
    let warnings: [String]
    private let places: [Username: Int]

    init(
        form: KeyFileForm,
        users: [StoredUser],
        places: [Username: Int],
        warnings: [String]
    ) {
        self.form = form
        self.users = users
        self.places = places
        var decoys: [HashCost: any PasswordHash] = [:]
        for user in users {
            guard let hash = user.usablePassword?.hash, decoys[hash.cost] == nil else { continue }
            decoys[hash.cost] = hash.decoy
        }
        costs = decoys.sorted { $0.key.description < $1.key.description }.map(\.value)
        var warnings = warnings
        if costs.count > 3 {
            let list = costs.map(\.cost.description).joined(separator: "; ")
            warnings.append("the passwords are hashed in \(costs.count) ways, and each login computes all: \(list)")
        }
        self.warnings = warnings
    }

    /// The user of that name.
    subscript(name: Username) -> StoredUser? { places[name].map { users[$0] } }

    /// Whose credentials and sessions are not to be believed any more when this state follows another.
    func changes(since old: UserTable, rehashed: [Username: String]) -> Set<Username> {
        var changed: Set<Username> = []
        for user in old.users {
            guard let now = self[user.name], user.isSame(as: now, rehashedTo: rehashed[user.name]) else {
                changed.insert(user.name)
                continue
            }
        }
        return changed
    }
}
