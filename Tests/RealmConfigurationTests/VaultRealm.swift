// SPDX-License-Identifier: Apache-2.0

import RealmKit

/// A realm with properties of all kinds.
struct VaultRealm: Realm {
    static let properties: PropertySchema = [
        .jaasContext(default: "vault"),
        .required("key", .secret),
        Property("tries", .integer(1...9), default: "3"),
        Property("strict", .boolean, default: "no"),
        Property("wait", .duration, default: "30s"),
        .optional("file", .path),
        Property("friends", .list, default: "ann bob"),
        Property("colour", .choice(["red", "green"]), default: "red"),
        .string("note", default: "none"),
    ]

    let jaasContext: String
    let authType = "Vault"
    let properties: RealmProperties

    init(_ properties: RealmProperties) throws(BadRealm) {
        self.properties = properties
        jaasContext = try properties.jaasContext
        if try properties.string("note") == "bad" { throw BadRealm("is bad", setting: "note") }
        if properties.has("key"), try properties.secret("key").isEqual(to: Secret(utf8: "hunter2")) {
            throw BadRealm("is too short", setting: "key")
        }
        if try properties.string("note") == "worse" { throw BadRealm("nothing goes together") }
    }
}

/// A module with options of all kinds, which works only with ``VaultRealm``.
struct VaultLoginModule: LoginModule {
    static let moduleNames = ["VaultLoginModule", "com.example.Vault"]
    static let options: PropertySchema = [
        Property("depth", .integer(0...5), default: "1"),
        .optional("token", .secret),
        .optional("list", .list),
        .optional("path", .path),
        .optional("mode", .choice(["soft", "hard"])),
    ]

    let options: ModuleOptions
    let realm: VaultRealm

    init(realm: VaultRealm, options: ModuleOptions) throws(BadModule) {
        self.realm = realm
        self.options = options
        if options.has("token"), try options.secret("token").isEqual(to: Secret(utf8: "hunter2")) {
            throw BadModule("is too short", setting: "token")
        }
        if options.has("mode"), try options.string("mode") == "hard" { throw BadModule("is too hard", setting: "mode") }
    }

    /// Accepts the user, and returns the options of the module as groups.
    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        do throws(BadModule) {
            var groups = ["depth \(try options.integer("depth"))"]
            if options.has("token") { groups.append("token \(try options.secret("token").count)") }
            if options.has("list") { groups += try options.list("list") }
            if options.has("path") { groups.append("path \(try options.string("path"))") }
            return attempt.commit(groups: groups)
        } catch {
            throw .internalError("\(error)")
        }
    }
}
