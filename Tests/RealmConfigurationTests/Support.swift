// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import BuiltInRealms
import LoginConf
import RealmConfiguration
import RealmKit
import RealmTesting

/// A folder of files in memory.
struct Folder: Sendable {
    var files: [String: [UInt8]]
    var writable: Set<String> = []
    var environment: [String: String] = [:]
    var properties: [String: String] = [:]

    init(_ realms: String, _ others: [String: String] = [:]) {
        files = others.mapValues { Array($0.utf8) }
        files["etc/realms.conf"] = Array(realms.utf8)
    }

    func load(
        _ path: String = "etc/realms.conf",
        clock: ManualClock = ManualClock()
    ) throws(ConfigurationErrors) -> Configuration {
        let (files, writable, environment) = (files, writable, environment)
        let source = ConfigurationFiles(
            read: { path in
                guard let bytes = files[path] else {
                    return .failure(Expansion.UnreadableFile("No such file or directory"))
                }
                return .success(ConfigurationFiles.Contents(bytes: bytes, isWritableByAll: writable.contains(path)))
            },
            environment: { environment[$0] }
        )
        // A few, so that diagnostics that list them stay as they are when there are more.
        let few = builtInRealms.filter { !Set($0.classNames).isDisjoint(with: ["StackRealm", "StartWithRealm"]) }
        let kinds = few + [RealmKind(VaultRealm.self, modules: VaultLoginModule.self)]
        return try ConfigurationLoader(kinds, files: source, clock: clock, properties: properties).load(path)
    }

    /// All diagnostics, each as `file:line:column: severity: message | hint`.
    func diagnostics() -> [String] {
        do throws(ConfigurationErrors) {
            return try load().warnings.map(Self.line)
        } catch {
            return error.diagnostics.map(Self.line)
        }
    }

    private static func line(_ diagnostic: Diagnostic) -> String {
        let place = "\(diagnostic.file):\(diagnostic.line):\(diagnostic.column)"
        return "\(place): \(diagnostic.severity.rawValue): \(diagnostic.message)"
            + (diagnostic.hint.map { " | \($0)" } ?? "")
    }
}

/// A realm with a property of every kind.
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
        if try properties.string("note") == "worse" { throw BadRealm("nothing goes together") }
    }
}

/// A module with options, for ``VaultRealm`` only.
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
        if options.has("mode"), try options.string("mode") == "hard" { throw BadModule("is too hard", setting: "mode") }
    }

    /// Shows its options as groups.
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

extension ProtectRule {
    /// The rule with the place it was read from.
    func at(_ place: String) -> ProtectRule {
        var rule = self
        rule.place = place
        return rule
    }
}
