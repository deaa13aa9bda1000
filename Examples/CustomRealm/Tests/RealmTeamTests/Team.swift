// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTeam
import RealmTesting

/// Creates a team and its module, as the server does for a configuration.
enum Team {
    static func realm(
        members: [String] = ["ann", "zed"],
        passphrase: String = "open sesame",
        group: String? = "Crew"
    ) throws -> TeamRealm {
        var values: [String: PropertyValue] = [
            "members": .list(members),
            "passphrase": .secret(Secret(utf8: passphrase)),
        ]
        if let group { values["group"] = .string(group) }
        return try TeamRealm(RealmProperties(values, schema: TeamRealm.properties, realmName: "team"))
    }

    static func module(_ options: [String: PropertyValue] = [:]) throws -> TeamLoginModule {
        let options = try ModuleOptions(options, schema: TeamLoginModule.options, realmName: "team")
        return try TeamLoginModule(realm: realm(), options: options)
    }

    static func stack(_ modules: [TeamLoginModule], clock: any LoginClock = ManualClock()) -> LoginStack {
        LoginStack(name: "team", modules.map { LoginStack.Entry($0, .required) }, clock: clock)
    }

    static func request(_ name: String) throws -> LoginRequest {
        LoginRequest(realm: "team", username: try Username(name))
    }
}
