// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmKit

/// The users of one version of the files.
final class UserTable: Sendable {
    let form: KeyFileForm
    /// The users in the order of the file.
    let users: [FileUser]
    /// One decoy of every cost among the users that can sign in.
    let costs: [any PasswordHash]
    /// Warnings for the administrator: ignored lines and other problems.
    let warnings: [String]
    /// Those of the ``warnings`` that are about single lines.
    let lineWarnings: [String]
    private let places: [Username: Int]

    init(
        form: KeyFileForm,
        users: [FileUser],
        places: [Username: Int],
        fileWarnings: [String],
        lineWarnings: [String]
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
        var warnings = fileWarnings + lineWarnings
        if costs.count > 3 {
            let list = costs.map(\.cost.description).joined(separator: "; ")
            warnings.append(
                "the password hashes have \(costs.count) different costs, and each login computes one of each: \(list)"
            )
        }
        self.warnings = warnings
        self.lineWarnings = lineWarnings
    }

    /// The user of a name; nil if there is none.
    subscript(name: Username) -> FileUser? { places[name].map { users[$0] } }

    /// Returns the users whose cached credentials and sessions are no longer valid when this version replaces another.
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
