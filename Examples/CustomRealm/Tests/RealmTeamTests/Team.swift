// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTeam
import RealmTesting

/// Creates a team and its module, as the server does for a configuration.
enum Team {
    static func make(
        members: [String] = ["ann", "zed"],
        passphrase: String = "open sesame",
        group: String? = "Crew",
        options: [String: String] = [:]
    ) throws(BadRealm) -> (realm: any Realm, module: any LoginModule) {
        var properties = ["members": members, "passphrase": [passphrase]]
        properties["group"] = group.map { [$0] }
        return try RealmKind.team.makeForTests(properties: properties, options: options)
    }

    static func stack(_ modules: [any LoginModule], clock: any LoginClock = ManualClock()) -> LoginStack {
        LoginStack(name: "team", modules.map { LoginStack.Entry($0, .required) }, clock: clock)
    }

    static func request(_ name: String) throws -> LoginRequest {
        LoginRequest(realm: "team", username: try Username(name))
    }
}
