// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import OpenSSLKit
import Foundation
import RealmKit
import TLSTesting
import Testing

@testable import RealmLDAP

@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct ConnectionTests {
    @Test func `LDAP over TLS, StartTLS, and LDAP on this machine`() async throws {
        let server = try await SlapdServer()
        let changes: [[String: [String]?]] = [
            ["directory": [server.tlsURL]], ["directory": [server.url], "start-tls": ["true"]],
            ["directory": [server.url]],
        ]
        for change in changes {
            let log = LogEntries()
            let report = try await LDAPSetup.realm(server, change, log: log).login(SlapdServer.ann)
            #expect(report.failure == nil, "\(change) \(log.all)")
        }
        #expect(server.received.components(separatedBy: "STARTTLS").count == 3)
    }

    @Test func `a server with the certificate of another host or of another authority gets no password`() async throws {
        var settings = SlapdServer.Settings()
        settings.certificate = "other"
        let other = try await SlapdServer(settings)
        let server = try await SlapdServer()
        let attempts: [(SlapdServer, [String: [String]?])] = [
            (other, ["directory": [other.tlsURL]]), (other, ["directory": [other.url], "start-tls": ["true"]]),
            (server, ["ca-file": [try LDAPSetup.pki.file("client.pem").path]]), (server, ["ca-file": nil]),
            (server, ["ca-file": nil, "directory": [server.url], "start-tls": ["true"]]),
        ]
        for (server, change) in attempts {
            let log = LogEntries()
            let realm = try LDAPSetup.realm(server, change, log: log)
            #expect(try await realm.login(SlapdServer.ann).failure == .unavailable, "\(change)")
            let cause = "no TLS connection: the certificate of the server is not trusted, or not for 127.0.0.1"
            #expect(log.contains(cause), "\(log.all)")
            #expect(server.binds == [], "\(change)")
        }
    }

    @Test func `the message about a rejected certificate says what it is, and nothing is sent to the server`()
        async throws
    {
        let rows: [(certificate: String, authority: String, texts: [String])] = [
            ("expiredserver", "root", ["it has expired", "to 2020-02-01 00:00 UTC", "issuer CN=inter"]),
            (
                "clientonly", "root",
                ["it is not for servers", "subject CN=clientonly", "alternative names: localhost, "]
            ),
            ("other", "root", ["it has other alternative names", "other.test, *.wild.test"]),
            ("server", "client", ["its issuer is none of the authorities (ca-file)"]),
        ]
        for (certificate, authority, texts) in rows {
            var settings = SlapdServer.Settings()
            settings.certificate = certificate
            let server = try await SlapdServer(settings)
            for change in [["directory": [server.tlsURL]], ["directory": [server.url], "start-tls": ["true"]]] {
                let log = LogEntries()
                let authorities = [try LDAPSetup.pki.file("\(authority).pem").path]
                let changes: [String: [String]?] = change.merging(["ca-file": authorities]) { $1 }.mapValues { $0 }
                let realm = try LDAPSetup.realm(server, changes, log: log)
                #expect(try await realm.login(SlapdServer.ann).failure == .unavailable, "\(certificate)")
                for text in texts { #expect(log.contains(text), "\(text): \(log.all)") }
            }
            #expect(server.binds == [], "\(certificate)")
        }
        let certificate = try #require(try LDAPSetup.pki.certificates("strange").first)
        func text(_ now: Int64) -> String {
            LDAPTransport.rejection(of: certificate, host: "a.test", now: Int(now))
        }
        #expect(text(certificate.notBefore).contains("it has no alternative name, and its common name is no host name"))
        #expect(text(certificate.notBefore).hasSuffix("alternative names: none"))
        #expect(
            text(certificate.notBefore - 1).contains("it is not valid yet; subject CN=strange, issuer CN=strange, ")
        )
        #expect(text(certificate.notAfter + 1).contains("it has expired"))
    }

    @Test func `the client certificate is the account for searches`() async throws {
        let server = try await SlapdServer()
        let pki = try LDAPSetup.pki
        let log = LogEntries()
        let report = try await LDAPSetup.realm(
            server,
            [
                "search-bind-dn": nil, "search-bind-password": nil, "search-bind-mechanism": ["external"],
                "client-certificate": [pki.file("client-chain.pem").path], "client-key": [pki.file("client.key").path],
            ],
            log: log
        ).login(SlapdServer.ann)
        #expect(report.failure == nil, "\(log.all)")
        #expect(report.identity?.subject.groups.contains("staff") == true)
    }

    @Test func `users bind directly, and their entries are read by their own bind`() async throws {
        let server = try await SlapdServer()
        let realm = try LDAPSetup.realm(
            server,
            [
                "search-bind-dn": nil, "search-bind-password": nil, "group-source": ["member-of"],
                "user-dn-pattern": ["uid=%s,\(SlapdServer.people)"],
            ]
        )
        let report = try await realm.login(SlapdServer.ann)
        #expect(report.identity?.subject.users == ["ann"], "\(report.noteTexts)")
        #expect(report.identity?.subject.groups.sorted() == ["comma, group", "level1", "staff", "unique"])
        #expect(try await realm.login("ann", "wrong").failure == .wrongCredentials)
        #expect(try await realm.login("zoe", "wrong").failure == .wrongCredentials)
        for person in SlapdServer.peopleWithSpecialNames {
            #expect(try await realm.login(person).identity?.subject.users == [person.uid], "\(person.uid)")
        }
        // A name of another user, and one in which the directory would find more than a name.
        for name in ["two  spaces", "a nn", "ann,\(SlapdServer.people)"] {
            #expect(try await realm.login(name, SlapdServer.ann.password).failure == .wrongCredentials, "\(name)")
        }
    }

    @Test func `a rejected account for searches is unavailable, and is not tried again at each login`() async throws {
        let server = try await SlapdServer()
        let log = LogEntries()
        let realm = try LDAPSetup.realm(server, ["search-bind-password": ["wrong"]], log: log)
        for _ in 0..<20 { #expect(try await realm.login(SlapdServer.ann).failure == .unavailable) }
        #expect(server.binds.count == 1)
        #expect(log.contains("the bind of this program as \(SlapdServer.service.name) was rejected: 49"))
    }

    @Test func `a base without an entry, and a right that is missing, are named`() async throws {
        let server = try await SlapdServer()
        let log = LogEntries()
        let realm = try LDAPSetup.realm(server, ["base-dn": ["ou=nowhere,dc=example,dc=org"]], log: log)
        #expect(try await realm.login(SlapdServer.ann).failure == .unavailable)
        #expect(
            log.contains("the search below ou=nowhere,dc=example,dc=org for (uid=ann) has failed: 32 (No such object)"),
            "\(log.all)"
        )
        let anonymous = try LDAPSetup.realm(server, ["search-bind-dn": nil, "search-bind-password": nil])
        #expect(try await anonymous.login(SlapdServer.ann).failure != nil)
    }

    @Test func `an alias of an attribute, which the server returns by another name, is no wrong user name`()
        async throws
    {
        let server = try await SlapdServer()
        let log = LogEntries()
        let realm = try LDAPSetup.realm(server, ["search-filter": ["userid=%s"]], log: log)
        #expect(try await realm.login(SlapdServer.ann).failure == .unavailable)
        #expect(log.contains("has no userid that this program may read, or has it by another name"), "\(log.all)")
    }

    @Test func `two entries with the name of the user let nobody in`() async throws {
        let server = try await SlapdServer()
        try await server.add(
            ldif: """
                dn: uid=ann,\(SlapdServer.groups)
                objectClass: inetOrgPerson
                uid: ann
                cn: Ann
                sn: Other
                userPassword: another password

                """
        )
        let log = LogEntries()
        let realm = try LDAPSetup.realm(server, log: log)
        #expect(try await realm.login(SlapdServer.ann).failure == .unknownUser)
        #expect(try await realm.login("ann", "another password").failure == .unknownUser)
        #expect(log.contains("several entries match (uid=ann), and not exactly one has this uid"), "\(log.all)")
        // A limit of the server must not hide the second one.
        var settings = SlapdServer.Settings()
        settings.databaseLines = ["limits dn.exact=\"\(SlapdServer.service.name)\" size=1"]
        settings.entries =
            Entry(
                "uid=ann,\(SlapdServer.groups)",
                [
                    ("objectClass", "inetOrgPerson"), ("uid", "ann"), ("cn", "Ann"), ("sn", "Other"),
                    ("userPassword", "another password"),
                ]
            ).ldif
        let limited = try LDAPSetup.realm(try await SlapdServer(settings), ["group-source": ["none"]])
        #expect(try await limited.login(SlapdServer.ann).failure == .unavailable)
        #expect(try await limited.login("ann", "another password").failure == .unavailable)
        let narrow = try LDAPSetup.realm(server, ["base-dn": [SlapdServer.people]])
        #expect(try await narrow.login(SlapdServer.ann).failure == nil)
    }
}
#endif
