// SPDX-License-Identifier: Apache-2.0

import DirectoryTesting
import TestTools
import Testing

@Suite(.enabled(if: SambaServer.unavailable == nil, "\(SambaServer.unavailable ?? "")"))
struct SambaTests {
    @Test func `A user binds over LDAP, StartTLS and LDAPS with each kind of name`() async throws {
        let server = try await SambaServer.shared()
        let alice = SambaServer.alice
        for connection in [["-H", server.url], ["-H", server.url, "-ZZ"], ["-H", server.tlsURL]] {
            for name in [alice.name, "alice@example.org", "EXAMPLE\\alice"] {
                let finished = try await Self.bind(name, alice.password, connection)
                #expect(finished.status == 0, "\(connection) \(name) \(finished.errors)")
            }
        }
        #expect(try await Self.bind("alice", alice.password, ["-H", server.url]).errors.contains("data 52e"))
    }

    @Test func `The login names and passwords of all users without a restriction are accepted`() async throws {
        let server = try await SambaServer.shared()
        let people = [SambaServer.alice, SambaServer.bob, SambaServer.paul, SambaServer.service, SambaServer.admin]
        for person in people + SambaServer.peopleWithSpecialNames {
            let finished = try await Self.bind(person.name, person.password, ["-H", server.url])
            #expect(finished.status == 0, "\(person.uid): \(finished.errors)")
        }
    }

    @Test(arguments: [
        (SambaServer.bob, "wrong", "52e"), (SambaServer.dave, nil, "533"), (SambaServer.dave, "wrong", "52e"),
        (SambaServer.erin, nil, "701"), (SambaServer.mona, nil, "773"), (SambaServer.peggy, nil, "532"),
        (SambaServer.lara, nil, "775"), (SambaServer.lara, "wrong", "775"), (SambaServer.nora, nil, "530"),
        (SambaServer.walt, nil, "531"),
        (Person(uid: "nobody", name: "CN=Nobody,\(SambaServer.people)", password: "any"), nil, "52e"),
    ])
    func `A message names the reason of a failed bind`(person: Person, password: String?, code: String) async throws {
        let server = try await SambaServer.shared()
        let finished = try await Self.bind(person.name, password ?? person.password, ["-H", server.tlsURL])
        #expect(finished.status == 49)
        #expect(
            finished.errors.contains(
                "80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data \(code), v1db1"
            ),
            "\(finished.errors)"
        )
    }

    @Test func `The root entry is that of Active Directory`() async throws {
        let server = try await SambaServer.shared()
        let root = try await DirectoryTool.run(
            "ldapsearch",
            ["-x", "-LLL", "-H", server.url, "-b", "", "-s", "base", "*", "+"]
        )
        for line in [
            "supportedCapabilities: 1.2.840.113556.1.4.800", "supportedControl: 1.2.840.113556.1.4.319",
            "defaultNamingContext: DC=example,DC=org", "dnsHostName: dc1.example.org",
        ] {
            #expect(root.output.contains(line + "\n"), "\(root.output)")
        }
        // It does not name StartTLS, although the server accepts it.
        #expect(!root.output.contains("supportedExtension"))
    }

    @Test func `A rule of matching finds the groups in which a user is through other groups`() async throws {
        let server = try await SambaServer.shared()
        let rule = "1.2.840.113556.1.4.1941"
        let groups = try await Self.search(server, "(member:\(rule):=\(SambaServer.alice.name))", ["cn"])
        for name in ["Team", "Department", "Company"] { #expect(groups.output.contains("cn: \(name)\n")) }
        let direct = try await Self.search(server, "(member=\(SambaServer.alice.name))", ["cn"])
        #expect(!direct.output.contains("cn: Company\n"))
        // The search reaches other partitions, and their references are no errors.
        #expect(groups.status == 0)
        #expect(groups.output.contains("# refldap"))
        let name = SambaServer.alice.name.replacing(" ", with: "\\20")
        #expect(server.searches.contains { $0.filter == "(member:\(rule):=\(name))" }, "\(server.searches)")
    }

    @Test func `The primary group is not in the attribute of the groups`() async throws {
        let server = try await SambaServer.shared()
        let paul = try await Self.search(server, "(sAMAccountName=paul)", ["memberOf", "primaryGroupID"])
        #expect(!paul.output.contains("Accountants"))
        #expect(!paul.output.contains("primaryGroupID: 513\n"))
        let alice = try await Self.search(server, "(sAMAccountName=alice)", ["memberOf", "primaryGroupID"])
        #expect(alice.output.contains("primaryGroupID: 513\n"))
    }

    @Test func `A user changes the password, within the policy`() async throws {
        let server = try await SambaServer()
        let bob = SambaServer.bob
        let messages = [
            "short": "0000052D: Constraint violation - check_password_restrictions: the password is too short",
            "alllowercase": "0000052D: Constraint violation - check_password_restrictions: the password does not meet",
            bob.password: "0000052D: Constraint violation - check_password_restrictions: the password was already used",
        ]
        for (password, message) in messages {
            let finished = try await Self.modify(server, as: bob, SambaServer.passwordChange(of: bob, to: password))
            #expect(finished.status == 19)
            #expect(finished.errors.contains(message), "\(finished.errors)")
        }
        let changed = try await Self.modify(server, as: bob, SambaServer.passwordChange(of: bob, to: "New-password-1"))
        #expect(changed.status == 0, "\(changed.errors)")
        #expect(try await Self.bind(bob.name, "New-password-1", ["-H", server.url]).status == 0)
        #expect(try await Self.bind(bob.name, bob.password, ["-H", server.url]).status == 49)
    }

    @Test func `The service account changes passwords with the old password only`() async throws {
        let server = try await SambaServer()
        let (mona, service) = (SambaServer.mona, SambaServer.service)
        let reset = SambaServer.passwordReset(of: mona, to: "New-password-1")
        #expect(try await Self.modify(server, as: service, reset).status == 50)
        let wrong = Person(uid: mona.uid, name: mona.name, password: "wrong")
        let refused = SambaServer.passwordChange(of: wrong, to: "New-password-1")
        let refusal = try await Self.modify(server, as: service, refused)
        #expect(refusal.status == 19)
        #expect(refusal.errors.contains("00000056: Constraint violation"), "\(refusal.errors)")
        let change = SambaServer.passwordChange(of: mona, to: "New-password-1")
        #expect(try await Self.modify(server, as: service, change).status == 0)
        // The password was to be changed, and now it is changed.
        #expect(try await Self.bind(mona.name, "New-password-1", ["-H", server.url]).status == 0)
        try await server.modify(ldif: SambaServer.passwordReset(of: mona, to: "New-password-2"))
        #expect(try await Self.bind(mona.name, "New-password-2", ["-H", server.url]).status == 0)
    }

    @Test func `A server that requires encryption rejects a password on a connection without TLS`() async throws {
        var settings = SambaServer.Settings()
        settings.requiresEncryption = true
        let server = try await SambaServer(settings)
        let alice = SambaServer.alice
        let finished = try await Self.bind(alice.name, alice.password, ["-H", server.url])
        #expect(finished.status == 8)
        #expect(finished.errors.contains("Transport encryption required"), "\(finished.errors)")
        #expect(try await Self.bind(alice.name, alice.password, ["-H", server.url, "-ZZ"]).status == 0)
    }

    @Test func `A server keeps its address and its data when it is stopped, killed and suspended`() async throws {
        let server = try await SambaServer()
        let alice = SambaServer.alice
        await server.stop()
        #expect(try await Self.bind(alice.name, alice.password, ["-H", server.url]).errors.contains("Can't contact"))
        try await server.start()
        await server.kill()
        try await server.start()
        server.suspend()
        async let answer = Self.bind(alice.name, alice.password, ["-H", server.url])
        try await Waiting.until { !RunningProcesses.mentioning("-H \(server.url)").isEmpty }
        server.resume()
        #expect(try await answer.status == 0)
    }
}

extension SambaTests {
    /// Binds, and reads the root entry.
    static func bind(_ name: String, _ password: String, _ options: [String]) async throws -> Finished {
        try await DirectoryTool.run(
            "ldapsearch",
            ["-x", "-LLL", "-D", name, "-w", password, "-b", "", "-s", "base"] + options + ["vendorName"]
        )
    }

    static func search(_ server: SambaServer, _ filter: String, _ attributes: [String]) async throws -> Finished {
        let service = SambaServer.service
        let bind = ["-x", "-LLL", "-o", "ldif-wrap=no", "-D", service.name, "-w", service.password]
        return try await DirectoryTool.run(
            "ldapsearch",
            bind + ["-H", server.url, "-b", SambaServer.base, filter] + attributes
        )
    }

    static func modify(_ server: SambaServer, as person: Person, _ ldif: String) async throws -> Finished {
        try await DirectoryTool.run(
            "ldapmodify",
            ["-x", "-H", server.tlsURL, "-D", person.name, "-w", person.password],
            input: ldif
        )
    }
}
