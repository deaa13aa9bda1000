// SPDX-License-Identifier: Apache-2.0

#if LDAP
import Foundation
import RealmKit
import TLSTesting
import Testing

@testable import RealmLDAP

struct SettingsTests {
    /// The shortest properties of a realm.
    private static let words: [String: [String]] = [
        "directory": ["ldaps://ldap.example.org"], "base-dn": ["dc=example,dc=org"],
    ]

    private static func problem(_ changes: [String: [String]?]) -> BadRealm? {
        var words = words
        for (name, value) in changes { words[name] = value }
        do {
            _ = try LDAPSetup.realm(words)
            return nil
        } catch {
            return error as? BadRealm ?? BadRealm("\(error)")
        }
    }

    private func expect(_ setting: String, _ message: String, _ changes: [String: [String]?]) {
        let problem = Self.problem(changes)
        #expect(problem?.setting == setting, "\(changes): \(problem?.message ?? "accepted")")
        #expect(problem?.message == message, "\(changes)")
    }

    @Test func `search-scope holds for the search after a direct bind, too`() throws {
        let words = Self.words.merging(["user-dn-pattern": ["%s@example.org"], "search-scope": ["one-level"]]) {
            _,
            new in new
        }
        #expect(try LDAPSetup.realm(words).directory.settings.location.search?.scope == .oneLevel)
        let standard = Self.words.merging(["user-dn-pattern": ["%s@example.org"]]) { _, new in new }
        #expect(try LDAPSetup.realm(standard).directory.settings.location.search?.scope == .subtree)
    }

    @Test func `the shortest settings, and all kinds of them, are accepted`() throws {
        let pki = try LDAPSetup.pki
        let key = pki.file("client.key").path
        let certificate: [String: [String]?] = [
            "client-certificate": [pki.file("client-chain.pem").path], "client-key": [key],
        ]
        let accepted: [[String: [String]?]] = [
            [:], ["base-dn": [""]], ["directory": ["ldap://a.b"], "start-tls": ["true"]],
            ["directory": ["ldap://a.b"], "allow-unencrypted": ["true"]], ["directory": ["ldap://127.0.0.1"]],
            ["directory": ["ldapi:///run/ldapi"]], ["directory": ["ldapi:///run/ldapi", "ldaps://a.b"]],
            ["search-bind-dn": ["cn=a"], "search-bind-password": ["b"]],
            ["search-bind-dn": ["a@example.org"], "search-bind-password": ["b"]],
            ["user-dn-pattern": ["uid=%s,dc=org"], "base-dn": nil, "group-source": ["none"]],
            ["user-dn-pattern": ["%s@example.org"], "active-directory": ["true"]], certificate,
            certificate.merging(["search-bind-mechanism": ["external"]]) { $1 },
            ["search-bind-mechanism": ["external"], "directory": ["ldapi:///run/ldapi"]],
            ["nested-groups": ["true"]], ["nested-groups": ["true"], "active-directory": ["true"]],
            [
                "nested-groups": ["true"], "group-search-filter": ["memberUid=%s"],
                "nested-group-search-filter": ["member=%d"],
            ],
            ["attributes": ["mail", "name=cn"]], ["group-cache-time": ["0s"]],
        ]
        for changes in accepted { #expect(Self.problem(changes) == nil, "\(changes)") }
    }

    @Test func `mistakes in the servers are named`() {
        expect("directory", "takes 1 to 16 URLs", ["directory": (0..<17).map { "ldaps://a\($0)" }])
        expect("directory", "names ldaps://A.b twice", ["directory": ["ldaps://A.b", "ldaps://A.b"]])
        expect("directory", "names ldaps://a.b:636 twice", ["directory": ["ldaps://a.b", "ldaps://a.b:636"]])
        expect(
            "directory",
            "takes URLs such as ldaps://ldap.example.org:636, not a.b",
            ["directory": ["ldaps://a.b", "a.b"]]
        )
        let unencrypted = "would receive passwords without encryption; use ldaps, or set start-tls to true"
        for changes in [["directory": ["ldap://a.b"]], ["directory": ["ldaps://c.d", "ldap://a.b:389/"]]] {
            expect("directory", "ldap://a.b:389 \(unencrypted)", changes)
        }
        expect("start-tls", "applies to ldap URLs only, and there is none", ["start-tls": ["true"]])
        expect("base-dn", "must be set", ["base-dn": nil])
        expect("base-dn", "must be set", ["base-dn": nil, "user-dn-pattern": ["uid=%s,dc=org"]])
        expect("base-dn", "is no distinguished name: example.org", ["base-dn": ["example.org"]])
        for name in ["connect-timeout", "bind-timeout", "search-timeout", "timeout", "idle-time", "check-interval"] {
            expect(name, "is from 1ms to 1h", [name: ["0s"]])
            expect(name, "is from 1ms to 1h", [name: ["61m"]])
        }
    }

    @Test func `mistakes in the account for searches are named`() {
        expect("search-bind-password", "must be set together with search-bind-dn", ["search-bind-dn": ["cn=a"]])
        expect("search-bind-dn", "must be set together with search-bind-password", ["search-bind-password": ["b"]])
        expect(
            "search-bind-password",
            "is empty, and a server would accept it as an anonymous bind",
            ["search-bind-dn": ["cn=a"], "search-bind-password": [""]]
        )
        expect(
            "search-bind-dn",
            "is no distinguished name: cn=a,",
            ["search-bind-dn": ["cn=a,"], "search-bind-password": ["b"]]
        )
        for name in ["search-bind-dn", "search-bind-password"] {
            let changes = ["search-bind-mechanism": ["external"], "directory": ["ldapi:///run/ldapi"], name: ["cn=a"]]
            expect(name, "must not be set if search-bind-mechanism is external", changes)
        }
        expect(
            "client-certificate",
            "must be set if search-bind-mechanism is external, unless all URLs are ldapi",
            ["search-bind-mechanism": ["external"]]
        )
    }

    @Test func `mistakes in the files are named`() throws {
        let pki = try LDAPSetup.pki
        let chain = pki.file("client-chain.pem").path
        let missing = "/nonexistent/a.pem cannot be read: No such file or directory"
        expect("ca-file", missing, ["ca-file": ["/nonexistent/a.pem"]])
        expect("ca-file", "/tmp is not a file of at most 1048576 bytes", ["ca-file": ["/tmp"]])
        expect("client-certificate", missing, ["client-certificate": ["/nonexistent/a.pem"], "client-key": [chain]])
        expect("client-certificate", "must be set together with client-key", ["client-key": [chain]])
        expect("client-key", missing, ["client-certificate": [chain], "client-key": ["/nonexistent/a.pem"]])
        expect(
            "client-certificate",
            "needs ldaps or start-tls",
            [
                "client-certificate": [chain], "client-key": [pki.file("client.key").path],
                "directory": ["ldapi:///run/ldapi"],
            ]
        )
        let other = Self.problem([
            "client-certificate": [chain], "client-key": [pki.file("server.key").path],
        ])
        #expect(other?.setting == "client-key")
        #expect(
            other?.message.contains("the key does not belong to the certificate") == true,
            "\(other?.message ?? "")"
        )
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = folder.appendingPathComponent("client.key").path
        try FileManager.default.copyItem(atPath: pki.file("client.key").path, toPath: key)
        for mode in [0o644, 0o604, 0o660, 0o666] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
            let problem = Self.problem(["client-certificate": [chain], "client-key": [key]])
            #expect(problem?.setting == "client-key")
            #expect(
                problem?.message == "\(key) contains a private key that other users can read or change; "
                    + "set its mode to 0600, or to 0640 if root owns it"
            )
        }
    }

    @Test func `mistakes in the search for users are named`() {
        expect(
            "search-filter",
            "needs a closing parenthesis at character 8 of the filter",
            ["search-filter": ["(uid=%s"]]
        )
        expect("search-filter", "has no %s or %n: (uid=ann)", ["search-filter": ["(uid=ann)"]])
        expect("search-filter", "cannot have %d here at character 7 of the filter", ["search-filter": ["(uid=%d)"]])
        let unnamed =
            "compares no attribute with the user name for equality, as in uid=%s, so the name of the found user could "
            + "not be checked"
        for filter in ["(uid=%s*)", "(uid>=%s)", "(!(uid=%s))", "(uid=*%s)", "(cn=%s%s)"] {
            expect("search-filter", unnamed, ["search-filter": [filter]])
        }
        expect(
            "user-dn-pattern",
            "needs one %s for the user name, and no other %: uid=ann",
            ["user-dn-pattern": ["uid=ann"]]
        )
        expect(
            "user-dn-pattern",
            "cannot be set together with search-filter: the pattern names the entry",
            ["user-dn-pattern": ["uid=%s,dc=org"], "search-filter": ["uid=%s"]]
        )
        for name in ["user-name-attribute", "group-target"] {
            expect(name, "is no name of an attribute: a b", [name: ["a b"]])
            expect(name, "is no name of an attribute: ", [name: [""]])
        }
        for word in ["a=b=c", "=a", "a=", "a b"] {
            expect(
                "attributes",
                "takes attributes such as mail or displayName=cn, not \(word)",
                ["attributes": ["mail", word]]
            )
        }
        expect("attributes", "has more than 64 attributes", ["attributes": (0..<65).map { "a\($0)" }])
    }

    @Test func `mistakes in the search for groups are named`() {
        expect("group-base-dn", "is no distinguished name: groups", ["group-base-dn": ["groups"]])
        let missing = "has no %d or %s or %n: cn=a"
        for name in ["group-search-filter", "dynamic-group-search-filter"] { expect(name, missing, [name: ["cn=a"]]) }
        expect(
            "nested-group-search-filter",
            missing,
            ["nested-groups": ["true"], "nested-group-search-filter": ["cn=a"]]
        )
        expect("nested-group-search-filter", "needs nested-groups true", ["nested-group-search-filter": ["member=%d"]])
        expect(
            "nested-group-search-filter",
            "must be set with nested-groups, because group-search-filter has %s or %n",
            ["nested-groups": ["true"], "group-search-filter": ["memberUid=%s"]]
        )
        for filter in ["memberUid=%s", "(|(member=%d)(memberUid=%n))"] {
            expect(
                "nested-group-search-filter",
                "takes %d only: a group has no user name",
                ["nested-groups": ["true"], "nested-group-search-filter": [filter]]
            )
        }
        expect(
            "dynamic-group-target",
            "is no name of an attribute: a b",
            [
                "dynamic-group-search-filter": ["uid=%s"], "dynamic-group-target": ["a b"],
            ]
        )
        for source in ["member-of", "none"] {
            expect(
                "group-search-filter",
                "has no effect with group-source \(source); remove it, or set group-source search",
                ["group-source": [source], "group-search-filter": ["member=%d"]]
            )
        }
        #expect(
            Self.problem([
                "group-source": ["member-of"], "nested-groups": ["true"], "group-search-filter": ["member=%d"],
            ]) == nil
        )
        expect("group-cache-time", "is at most 1h", ["group-cache-time": ["61m"]])
    }

    @Test func `domains with commas and files without certificates are named`() throws {
        expect(
            "domains",
            "takes names that are separated by blanks, not EXAMPLE,example.org",
            ["domains": ["EXAMPLE,example.org"]]
        )
        let path = FileManager.default.temporaryDirectory.appending(path: "gatehouse-ca-\(UUID()).pem").path
        try "no certificate".write(toFile: path, atomically: false, encoding: .utf8)
        defer { _ = unsafe unlink(path) }
        let problem = Self.problem(["ca-file": [path]])
        #expect(problem?.setting == "ca-file")
        #expect(problem?.message.contains("\(path): contains no certificate; expected a PEM block") == true)
        try "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
            .write(toFile: path, atomically: false, encoding: .utf8)
        let malformed = Self.problem(["ca-file": [path]])
        #expect(malformed?.message.contains("\(path), certificate 1: ") == true, "\(malformed?.message ?? "")")
    }

    private static let warnings: [(changes: [String: [String]], settings: [String])] = [
        ([:], []), (["active-directory": ["true"]], []), (["search-filter": ["uid=%s"]], []),
        (["search-filter": ["(|(uid=%s)(mail=%s))"]], ["search-filter: the filter compares mail"]),
        (["search-filter": ["(&(uid=%s)(description=staff))"]], ["search-filter: the filter compares description"]),
        (["search-filter": ["(&(uid=%s)(mail=*))"]], []),
        (["search-filter": ["(Mail=%s)"]], ["search-filter: the user name is taken from mail"]),
        (
            ["search-filter": ["(mail=%s)"], "user-name-attribute": ["uid"]],
            ["search-filter: the filter compares mail"]
        ),
        (["user-name-attribute": ["displayName"]], ["user-name-attribute: the user name is taken from displayname"]),
        (
            ["user-dn-pattern": ["mail=%s,ou=people,dc=example,dc=org"]],
            ["user-dn-pattern: the user name is taken from mail"]
        ),
        (
            ["group-search-filter": ["(&(member=%d)(description=x))"]],
            ["group-search-filter: the filter compares description"]
        ),
        (
            ["dynamic-group-search-filter": ["mail=%n"]], ["dynamic-group-search-filter: the filter compares mail"]
        ),
    ]

    @Test(arguments: warnings)
    func `attributes that users can write in many directories give a warning`(
        changes: [String: [String]],
        settings: [String]
    ) throws {
        let warnings = try LDAPSetup.realm(Self.words.merging(changes) { $1 }).warnings
        #expect(warnings.count == settings.count, "\(warnings)")
        for (warning, text) in zip(warnings, settings) {
            #expect("\(warning.setting): \(warning.message)".hasPrefix(text + ", which users can write"), "\(warning)")
        }
    }

    @Test(arguments: [
        "localityName", "stateOrProvinceName", "pagerTelephoneNumber", "2.5.4.13", "2.16.840.1.113730.3.1.241",
    ])
    func `other names and numbers of these attributes give the warning, too`(attribute: String) throws {
        let words = Self.words.merging(["search-filter": ["(&(uid=%s)(\(attribute)=x))"]]) { $1 }
        let warnings = try LDAPSetup.realm(words).warnings
        #expect(warnings.map(\.setting) == ["search-filter"])
        #expect(warnings.first?.message.hasPrefix("the filter compares \(attribute.lowercased()), ") == true)
    }

    @Test func `no mistake contains the password`() {
        let problem = Self.problem(["search-bind-password": ["a secret password"]])
        #expect(problem.map { "\($0)".contains("secret password") } == false)
    }
}
#endif
