// SPDX-License-Identifier: Apache-2.0

import RealmConfiguration
import RealmKit
import RealmTesting
import Testing

struct PropertyValueTests {
    private static let login = "login vault { VaultLoginModule required; }\n"

    private func vault(
        _ properties: String,
        _ change: (inout MemoryFolder) -> Void = { _ in }
    ) throws -> RealmProperties {
        var folder = MemoryFolder(Self.login + "realm v { class VaultRealm; \(properties) }")
        change(&folder)
        return try #require(try folder.load().realms.first?.realm as? VaultRealm).properties
    }

    private func text(_ secret: Secret) -> String {
        secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    @Test func `a property of every kind has its value`() throws {
        let set = try vault("key k; tries 7; strict ON; wait 5m; file a.txt; friends x y; colour green; note \"a b\";")
        #expect(try text(set.secret("key")) == "k")
        #expect(try set.integer("tries") == 7)
        #expect(try set.boolean("strict"))
        #expect(try set.duration("wait") == .seconds(300))
        #expect(try set.string("file") == "etc/a.txt")
        #expect(try set.list("friends") == ["x", "y"])
        #expect(try set.string("colour") == "green")
        #expect(try set.string("note") == "a b")
        #expect(set.realmName == "v")
    }

    @Test func `a property that is not set has its default; without a default it has no value`() throws {
        let unset = try vault("key k;")
        #expect(try unset.integer("tries") == 3)
        #expect(try !unset.boolean("strict"))
        #expect(try unset.duration("wait") == .seconds(30))
        #expect(!unset.has("file"))
        #expect(try unset.list("friends") == ["ann", "bob"])
        #expect(try unset.string("colour") == "red")
    }

    @Test func `references to properties, variables and files are replaced`() throws {
        let properties = try vault(
            "key \"${env:KEY}\"; note \"${config.dir}-${name}\"; file \"${env:DIR}/x\"; friends \"${file:friend}\";"
        ) { folder in
            folder.environment = ["KEY": "sesame", "DIR": "/srv"]
            folder.properties = ["name": "value"]
            folder.files["etc/friend"] = Array("zed\n".utf8)
        }
        #expect(try text(properties.secret("key")) == "sesame")
        #expect(try properties.string("note") == "etc-value")
        #expect(try properties.string("file") == "/srv/x")
        #expect(try properties.list("friends") == ["zed"])
    }

    @Test(arguments: [
        ("lilac", "lilac"), ("lilac\n", "lilac"), ("lilac\r\n", "lilac"), ("lilac\n\n", "lilac\n"),
        (" lilac ", " lilac "),
    ])
    func `only one line end is removed from the secret of a file`(content: String, secret: String) throws {
        let properties = try vault("key \"${file:/run/key}\";") { $0.files["/run/key"] = Array(content.utf8) }
        #expect(try text(properties.secret("key")) == secret)
    }

    @Test func `a secret may be any bytes`() throws {
        let properties = try vault("key \"${file:key}\";") { $0.files["etc/key"] = [0xFF, 0x00, 0x0A] }
        #expect(try properties.secret("key").count == 2)
        #expect("\(try properties.secret("key"))" == "<secret>")
    }

    @Test func `module options are read from realms.conf and from login.conf`() async throws {
        let options = #"depth="4" token="${name}" list="a,b c" path="x/y""#
        var inline = MemoryFolder(
            "login vault { VaultLoginModule required \(options); }\nrealm v { class VaultRealm; key k; }"
        )
        var apart = MemoryFolder(
            "login-config sub/login.conf;\nrealm v { class VaultRealm; key k; }",
            ["etc/sub/login.conf": "vault { com.example.Vault required \(options); };"]
        )
        inline.properties = ["name": "12345"]
        apart.properties = ["name": "12345"]
        for (folder, path) in [(inline, "etc/x/y"), (apart, "etc/sub/x/y")] {
            let request = LoginRequest(realm: "v", username: try Username("ann"))
            let report = try await folder.load().authenticator.login(request, asking: PreparedConversation.silent)
            #expect(report.identity?.groups == ["depth 4", "token 5", "a", "b", "c", "path \(path)"])
        }
    }

    @Test func `references to files and environment variables are errors in login.conf`() {
        var folder = MemoryFolder(
            "login-config login.conf;\nrealm v { class VaultRealm; key k; }",
            ["etc/login.conf": "vault { VaultLoginModule required token=\"${env:KEY}\"; };"]
        )
        folder.environment = ["KEY": "sesame"]
        #expect(
            folder.diagnostics() == [
                "etc/login.conf:1:42: error: the property `env:KEY` is not defined | `${env:...}` and `${file:...}` work in realms.conf only"
            ]
        )
    }
}
