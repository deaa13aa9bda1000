// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The list of the realms that a program may use.
struct RealmListJSON: Encodable {
    /// A realm.
    struct Realm: Encodable {
        let name: String
        /// How the realm authenticates its users.
        let authType: String

        init(_ realm: BoundRealm) {
            name = realm.name
            authType = realm.realm.authType
        }
    }

    let realms: [Realm]
}

/// The outcome of a check.
struct CheckOutcomeJSON: Encodable {
    /// A principal of an accepted user.
    struct Principal: Encodable {
        let kind: String
        let name: String
    }

    let outcome: String
    var reason: String?
    var user: String?
    var groups: [String]?
    var principals: [Principal]?
    var attributes: [String: [String]]?

    /// The outcome for accepted credentials.
    ///
    /// - Parameter identity: The user.
    init(_ identity: AuthenticatedIdentity) {
        outcome = "accepted"
        user = identity.username.text
        groups = identity.groups
        principals = identity.subject.principals.map { Principal(kind: $0.kind.rawValue, name: $0.name) }
        attributes = identity.attributes.valuesByName
    }

    /// The outcome for refused credentials.
    ///
    /// - Parameter reason: The reason that the program may learn.
    init(refused reason: LoginFailure) {
        outcome = "refused"
        self.reason = reason.code
    }
}
