// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The user that sessions are counted for: a realm and a user name, both compared byte by byte.
struct SessionOwner: Sendable, Hashable {
    let realm: String
    let name: Username

    init(_ user: SignedInUser) {
        realm = user.realm
        name = user.username
    }

    static func == (left: SessionOwner, right: SessionOwner) -> Bool {
        left.realm.hasBytes(of: right.realm) && left.name == right.name
    }

    func hash(into hasher: inout Hasher) {
        realm.hashBytes(into: &hasher)
        hasher.combine(name)
    }
}
