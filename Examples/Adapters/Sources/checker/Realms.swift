// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Logging
import RealmVerifier

func verifierOfRealms(_ logger: Logger) async throws -> RealmVerifier {
    try await RealmVerifier(kinds: builtInRealms, stateFolder: "var", logger: logger) {
        RealmDefinition("team") { name, password in
            password.isEqual(to: Secret(utf8: "violet lamp")) ? ["Staff"] : nil
        }
        RealmDefinition("people", class: "StoreRealm")
        RealmDefinition(
            "staff",
            class: "LDAPRealm",
            ["directory": "ldaps://ldap.example.com", "base-dn": "dc=example,dc=com"]
        )
        RealmDefinition(
            "both",
            class: "StoreRealm",
            modules: ["team-password sufficient", "StoreLoginModule required"]
        )
    }
}
