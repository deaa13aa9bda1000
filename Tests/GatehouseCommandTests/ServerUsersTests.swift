// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatehouseCommand

/// The questions of `gatehouse init` about a directory or a database.
@Suite struct ServerUsersTests {
    private func users(_ kind: ServerUsers.Kind, _ properties: String...) throws -> ServerUsers {
        var users = ServerUsers(kind: kind)
        try users.add(properties)
        return users
    }

    private func question(_ kind: ServerUsers.Kind, _ property: String) throws -> RealmQuestion {
        try #require(kind.questions.first { $0.property == property })
    }

    @Test(arguments: [
        ("ldap://ldap.example.org", true), ("ldap://127.example.org", true), ("ldap://localhost-dc.example.org", true),
        ("ldap://localhost.example.org:389", true), ("ldap://[2001:db8::1]:389", true), ("LDAP://192.0.2.7", true),
        ("ldap://localhost", false), ("ldap://LOCALHOST:389/", false), ("ldap://127.0.0.1:10389", false),
        ("ldap://127.9.9.9", false), ("ldap://[::1]:389", false), ("ldaps://ldap.example.org", false),
        ("ldapi:///run/slapd/ldapi", false),
    ])
    func `init offers StartTLS for each directory of another machine`(url: String, isAsked: Bool) throws {
        let users = try users(.ldap, "directory=\(url)")
        #expect(try question(.ldap, "start-tls").isAsked(users) == isAsked)
    }

    @Test func `the authority of a certificate is needed for TLS only`() throws {
        let question = try question(.ldap, "ca-file")
        for (startTLS, isAsked) in [("true", true), ("yes", true), ("false", false), ("off", false)] {
            let users = try users(.ldap, "directory=ldap://ldap.example.org", "start-tls=\(startTLS)")
            #expect(question.isAsked(users) == isAsked)
        }
        #expect(question.isAsked(try users(.ldap, "directory=ldaps://ldap.example.org")))
    }

    @Test func `none is an answer only where a question may have none`() throws {
        #expect(try question(.sql, "group-table").values("none") == [])
        #expect(try question(.ldap, "search-bind-dn").values("none") == [])
        #expect(try question(.ldap, "start-tls").values("false") == [])
        #expect(try question(.ldap, "start-tls").values("true") == ["true"])
        #expect(throws: CommandError.self) { try question(.ldap, "start-tls").values("none") }
        for (kind, property) in [
            (ServerUsers.Kind.sql, "user-table"), (.sql, "user-name-column"), (.sql, "database"), (.ldap, "directory"),
            (.ldap, "base-dn"), (.ldap, "group-search-filter"),
        ] {
            for answer in ["none", "false", ""] {
                let error = try #require(throws: CommandError.self) { try question(kind, property).values(answer) }
                #expect(error.message == "this question needs an answer")
            }
        }
    }
}
