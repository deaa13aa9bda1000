// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Passwords
internal import RealmKit

/// The users of one version of the files.
final class UserTable: Sendable {
    let format: KeyFileFormat
    /// The users in the order of the file.
    let users: [FileUser]
    /// One decoy for each cost among the hashes of users that can sign in.
    let hashPerCost: [any PasswordHash]
    /// The warnings for the administrator about ignored lines and other problems.
    let warnings: [String]
    /// The ``warnings`` about single lines.
    let lineWarnings: [String]
    private let indexByKey: [UTF8Text: Int]
    private let readOptions: ReadOptions

    init(
        format: KeyFileFormat,
        users: [FileUser],
        indexByKey: [UTF8Text: Int],
        readOptions: ReadOptions,
        fileWarnings: [String],
        lineWarnings: [String]
    ) {
        self.format = format
        self.users = users
        self.indexByKey = indexByKey
        self.readOptions = readOptions
        var decoys: [HashCost: any PasswordHash] = [:]
        for user in users {
            guard let hash = user.usablePassword?.hash, decoys[hash.cost] == nil else { continue }
            decoys[hash.cost] = hash.decoy
        }
        hashPerCost = decoys.sorted { $0.key.description < $1.key.description }.map(\.value)
        var warnings = fileWarnings + lineWarnings
        let costs = hashPerCost.map(\.cost)
        if let warning = HashCost.warning(about: costs, longestCheck: readOptions.longestCheck) {
            warnings.append(warning)
        }
        self.warnings = warnings
        self.lineWarnings = lineWarnings
    }

    /// The user with a name; nil if the file does not contain it.
    subscript(name: Username) -> FileUser? { indexByKey[readOptions.key(of: name)].map { users[$0] } }

    /// Returns the users whose cached credentials and sessions are no longer valid after a change from an old version
    /// to this one.
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
