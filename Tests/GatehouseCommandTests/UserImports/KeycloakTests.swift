// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Testing

@testable import GatehouseCommand

@Suite struct KeycloakTests {
    static func password(_ secret: String, _ data: String) -> String {
        func quoted(_ text: String) -> String { "\"\(text.replacing("\"", with: "\\\""))\"" }
        return #"{"type": "password", "secretData": \#(quoted(secret)), "credentialData": \#(quoted(data))}"#
    }

    static let argon2 = password(
        #"{"value":"P7hg7ovemUR13qLMfBtZwjqNbM3xQ7HuKNP4LvBY1cc=","salt":"kDK8QPAzfC+ug3YbDrI3qw==","additionalParameters":{}}"#,
        #"{"hashIterations":5,"algorithm":"argon2","additionalParameters":{"hashLength":["32"],"memory":["7168"],"type":["id"],"version":["1.3"],"parallelism":["1"]}}"#
    )
    /// A key of 64 bytes with SHA-256.
    static let key = "Dy42RoAYdLwp3tFfmXGfmGsGzOYKtDPbR7kQUPz+40lj6BPUWYoPEzXh57nitWbFJx+skPmV14uXwdlrzVYSLg=="
    static let pbkdf2 = password(
        #"{"value":"\#(key)","salt":"rZzb77cNphCwfcxhOTQFKg==","additionalParameters":{}}"#,
        #"{"hashIterations":27500,"algorithm":"pbkdf2-sha256","additionalParameters":{}}"#
    )

    static let file = """
        {"realm": "town", "users": [
          {"username": "ann", "enabled": true, "email": "ann@example.org", "firstName": "Ann", "lastName": "Smith",
           "credentials": [\(argon2), {"type": "otp", "secretData": "{}", "credentialData": "{}"}],
           "realmRoles": ["default-roles-town", "editor"], "groups": ["/Staff", "/Staff/Night shift", "Staff"]},
          {"username": "bob", "enabled": true, "firstName": "Bob", "credentials": [\(pbkdf2)], "requiredActions": ["UPDATE_PASSWORD"]},
          {"username": "carl", "credentials": []},
          {"username": "service-account-app", "enabled": true, "serviceAccountClientId": "app"}
        ]}
        """

    private func read(_ text: String) throws -> ImportedUsers {
        try KeycloakUsers.read(Array(text.utf8), name: "f")
    }

    @Test func `no user is imported who has the name of a client's account, or more than 1024 groups`() throws {
        let client = #"{"username": "ann", "serviceAccountClientId": "app"}"#
        #expect(try read(#"{"users": [\#(client), {"username": "ann"}, {"username": "bob"}]}"#).users.count == 1)
        let groups = (0..<1025).map { "\"g\($0)\"" }.joined(separator: ",")
        let users = try read(#"{"users": [{"username": "ann", "groups": [\#(groups)]}]}"#)
        #expect(
            users.users.isEmpty && users.problems == ["f: users[0]: the user ann is ignored: more than 1024 groups"]
        )
    }

    @Test(arguments: [
        #"{"users": [{"username": "ann", "enabled": true, "enabled": false}]}"#,
        #"{"users": [{"username": "ann", "enabled": true, "enable\u0064": false}]}"#,
        #"{"users": [], "users": [{"username": "ann"}]}"#,
        #"{"users": [{"username": "ann", "attributes": {"a": [], "a": []}}]}"#,
    ])
    func `a member that occurs twice is rejected with its place`(text: String) throws {
        let error = #expect(throws: BadUserFile.self) { try read(text) }
        #expect(
            error?.description.hasPrefix("f: it is not the export of a realm: byte ") == true,
            "\(error?.description ?? "")"
        )
    }

    @Test func `a password with a member that occurs twice is not taken over`() throws {
        let twice = Self.password(
            #"{"value":"AAAA","salt":"AAAA","salt":"rZzb77cNphCwfcxhOTQFKg=="}"#,
            #"{"hashIterations":27500,"algorithm":"pbkdf2-sha256"}"#
        )
        let users = try read(#"{"users": [{"username": "ann", "credentials": [\#(twice)]}]}"#)
        #expect(users.users.first?.reason == "the fields of the password cannot be read")
    }

    @Test func `an export with more names than a response may have is read`() throws {
        let users = (0..<15_000).map { #"{"username": "u\#($0)", "enabled": true}"# }.joined(separator: ",")
        #expect(try read(#"{"users": [\#(users)]}"#).users.count == 15_000)
    }

    @Test func `users are read with names, groups, roles, states and hashes`() throws {
        let imported = try read(Self.file)
        let users = imported.users
        #expect(users.map(\.record.name.text) == ["ann", "bob", "carl"])
        #expect(users[0].record.groups == ["Staff", "Staff/Night shift", "editor"])
        #expect(users.map(\.record.isEnabled) == [true, true, false])
        #expect(users.map(\.record.mustChangePassword) == [false, true, false])
        #expect(users.map { $0.record.attributes.values(of: "displayName") } == [["Ann Smith"], ["Bob"], []])
        #expect(users[0].record.attributes.values(of: "mail") == ["ann@example.org"])
        #expect(
            users[0].hash
                == "$argon2id$v=19$m=7168,t=5,p=1$kDK8QPAzfC+ug3YbDrI3qw$P7hg7ovemUR13qLMfBtZwjqNbM3xQ7HuKNP4LvBY1cc"
        )
        #expect(
            users[1].hash
                == "$pbkdf2-sha256$27500$rZzb77cNphCwfcxhOTQFKg$Dy42RoAYdLwp3tFfmXGfmGsGzOYKtDPbR7kQUPz.40k"
        )
        #expect(users[2].hash == nil)
        #expect(imported.problems.isEmpty)
        #expect(
            imported.omissions == [
                "not imported: credentials of type otp (at f: users[0])",
                "not imported: accounts of clients (at f: users[3])",
            ]
        )
    }

    @Test(arguments: [#""algorithm": "pbkdf2-sha256","#, #""algorithm": "pbkdf2","#, #""algorithm": "HmacSHA1","#, ""])
    func `a password of Keycloak 7 and older is read`(algorithm: String) throws {
        let credential = """
            {"type": "password", "hashedSaltedValue": "\(Self.key)", "salt": "rZzb77cNphCwfcxhOTQFKg==", "hashIterations": 27500,
             \(algorithm) "counter": 0, "digits": 0, "period": 0, "config": {}}
            """
        let users = try read(#"{"users": [{"username": "ann", "credentials": [\#(credential)]}]}"#).users
        let (name, key) =
            algorithm.contains("256")
            ? ("pbkdf2-sha256", "Dy42RoAYdLwp3tFfmXGfmGsGzOYKtDPbR7kQUPz.40k")
            : ("pbkdf2", "Dy42RoAYdLwp3tFfmXGfmGsGzOY")
        #expect(users.first?.hash == "$\(name)$27500$rZzb77cNphCwfcxhOTQFKg$\(key)")
    }

    @Test(arguments: [(#""temporary": false"#, false), (#""temporary": true"#, true), (#""temporary": null"#, false)])
    func `a password in clear text is read, and a temporary one must be changed`(
        member: String,
        mustChange: Bool
    ) throws {
        let credentials = #"[{"type": "password", "value": "violet lamp", \#(member)}]"#
        let file = #"{"username": "ann", "enabled": true, "credentials": \#(credentials)}"#
        // The administration API returns an array of users, kc.sh export an object with them.
        for text in [#"{"realm": "town", "users": [\#(file)]}"#, "[\(file)]"] {
            let user = try #require(try read(text).users.first)
            #expect(user.clearText == "violet lamp" && user.record.mustChangePassword == mustChange)
        }
    }

    @Test func `what is not imported is reported, once for each kind`() throws {
        let user = #"""
            "credentials": [{"type": "otp"}, {"type": "webauthn"}, {"type": "password", "value": "a"}, {"value": "b"}],
            "attributes": {"locale": ["de"]}, "clientRoles": {"app": ["x"]}, "federatedIdentities": [{}],
            "requiredActions": ["CONFIGURE_TOTP", "UPDATE_PASSWORD"]
            """#
        let bob =
            #"{"username": "bob", "federationLink": "ldap", "attributes": {}, "clientRoles": {}, "federatedIdentities": []}"#
        let users = try read(#"{"users": [{"username": "ann", \#(user)}, \#(bob), {"username": "cy", \#(user)}]}"#)
        let first = "(2, the first at f: users[0])"
        #expect(
            users.omissions == [
                "not imported: credentials of type otp \(first)", "not imported: credentials of type webauthn \(first)",
                "not imported: second passwords \(first)", "not imported: client roles \(first)",
                "not imported: attributes \(first)", "not imported: accounts of identity providers \(first)",
                "not imported: the required action CONFIGURE_TOTP \(first)",
                "not imported: passwords of federated users (at f: users[1])",
            ]
        )
    }

    @Test(arguments: [
        (password("{}", "{}"), "cannot be read"), (password("x", "{}"), "cannot be read"),
        (#"{"type": "password"}"#, "no secretData"),
        (pbkdf2.replacing("pbkdf2-sha256", with: "bcrypt"), "bcrypt is not supported"),
        (pbkdf2.replacing("Dy42RoAYdLwp3t", with: "Dy42RoAYdL!p3t"), "Base64"),
        (
            password(#"{"value":"AAAA","salt":"AAAA"}"#, #"{"hashIterations":1,"algorithm":"pbkdf2-sha256"}"#),
            "less than 32 bytes"
        ),
        (argon2.replacing("1.3", with: "1.0"), "version 1.3"), (argon2.replacing("memory", with: "m"), "missing"),
        (argon2.replacing(#"[\"id\"]"#, with: #"[\"x\"]"#), "type x"),
        // Keycloak reads an array only.
        (argon2.replacing(#"[\"id\"]"#, with: #"\"id\""#), "cannot be read"),
    ])
    func `a password that cannot be taken over is reported, and the user is read`(
        credential: String,
        reason: String
    )
        throws
    {
        let users = try read(#"{"users": [{"username": "ann", "enabled": true, "credentials": [\#(credential)]}]}"#)
            .users
        #expect(users.count == 1)
        #expect(users.first?.reason?.contains(reason) == true, "\(users)")
    }

    @Test(arguments: [
        ("", "not the export"), ("7", "not the export"), (#"{"realm": "town"}"#, "there are no users"),
        (#"[{"realm": "town"}]"#, "[0]"),
        (#"{"users": [{"enabled": true}]}"#, "users[0]"), (#"{"users": [{"username": 7}]}"#, "users[0].username"),
        (#"{"users": [{"username": "ann"}, {"username": "bob", "enabled": "yes"}]}"#, "users[1].enabled"),
        (#"{"users": [{"username": "ann""#, "not the export"),
    ])
    func `another file is rejected with the place`(text: String, place: String) throws {
        let error = #expect(throws: BadUserFile.self) { try read(text) }
        #expect(
            error?.description.hasPrefix("f: ") == true && error?.description.contains(place) == true,
            "\(error as Any)"
        )
    }

    @Test func `users of the same name are both left out`() throws {
        let users = try read(#"{"users": [{"username": "ann"}, {"username": "bob"}, {"username": "ann"}]}"#)
        #expect(users.users.map(\.record.name.text) == ["bob"])
        #expect(users.problems == ["f: users[2]: duplicate user ann (also at f: users[0])"])
    }
}
