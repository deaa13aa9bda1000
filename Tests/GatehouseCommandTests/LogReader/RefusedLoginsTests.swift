// SPDX-License-Identifier: Apache-2.0

import Bytes
import RealmKit
import RealmTesting
import Testing

@testable import GatehouseCommand

struct RefusedLoginsTests {
    private struct TownRealm: Realm {
        static let properties: PropertySchema = []
        let jaasContext = "town"
        let authType = "Town"
        init() {}
        init(_ properties: RealmProperties) throws(BadRealm) {}
    }

    /// Modules that fail if they are called.
    private static let realm = BoundRealm(
        name: "town",
        className: "TownRealm",
        realm: TownRealm(),
        stack: LoginStack(
            name: "town",
            [
                .init(ScriptedModule(.fail(.internalError("called"))), .sufficient, name: "LDAP"),
                .init(ScriptedModule(.fail(.internalError("called"))), .required, name: "File"),
            ],
            clock: ManualClock()
        )
    )

    private func lines(_ text: String, realm: String = "town") throws -> [String] {
        let line = #"\#(LogLineTests.time) access: ::1 "ann"@"\#(realm)" "GET" "/" 401 21 2us \#(text)"#
        var refusals = RefusedLogins([Self.realm])
        let entry = try #require(LogLineTests.entry(line))
        let lines = refusals.lines(about: entry)
        #expect(refusals.lines(about: entry) == lines)
        return lines
    }

    @Test(arguments: [
        (
            #"wrong-credentials module=1 phase=login answers="LDAP=unavailable File=wrong-credentials" rule="r:1:1 /""#,
            "decided by File (required): wrong-credentials counts as a failure|granted, if LDAP=success"
        ),
        (
            #"unknown-user module=0 phase=login answers="LDAP=unknown-user File=wrong-credentials""#,
            "the stack has changed; now:|decided by File (required): wrong-credentials counts as a failure|granted, if LDAP=success"
        ),
        (
            #"disabled module=1 phase=login answers="LDAP=unavailable Post\u{f6}=disabled""#,
            #"the stack town has no Post\u{f6} now"#
        ),
        (
            #"unavailable module=0 phase=login answers="LDAP=unavailable""#,
            "the login would go on to File now, of which the line has no answer"
        ),
        (
            #"unavailable module=1 phase=login answers="LDAP=success""#,
            "the answers LDAP=success would be granted now"
        ),
        (
            #"no-user-established answers="LDAP=success""#,
            "the answers LDAP=success granted, but a module has failed in its commit"
        ),
        (
            // The module is that of an outage, and does not decide.
            #"wrong-credentials module=1 answers="LDAP=unavailable File=wrong-credentials""#,
            "decided by File (required): wrong-credentials counts as a failure|granted, if LDAP=success"
        ),
        (
            #"unavailable module=0 phase=commit answers="LDAP=success""#,
            "the answers LDAP=success granted, but a module has failed in its commit"
        ),
        (
            #"disabled module=9 phase=login answers="LDAP=disabled ...""#,
            "the line has only the first answers of the login"
        ),
        (
            #"disabled module=0 phase=login answers="LDAP=maybe""#,
            "the answers of the line cannot be used: LDAP=maybe: the answers of modules are success, ignored"
        ),
        (
            "wrong-credentials module=0 phase=login",
            "the line has no answers: the account was locked, the client closed the connection"
        ),
        (
            "wrong-credentials module=0 answers=LDAP=success",
            "the line has no answers: the account was locked, the client closed the connection"
        ),
        ("locked", "no module has decided: see gatehouse lockouts list"),
        (#"rule="r:1:1 /""#, ""),
    ])
    func `a refused login is explained by the answers in its line`(text: String, expected: String) throws {
        let lines = try lines(text)
        #expect(lines.joined(separator: "|").hasPrefix(expected), "\(lines)")
        #expect(lines.isEmpty == expected.isEmpty)
    }

    @Test func `a realm that the configuration does not have is reported`() throws {
        let text = #"wrong-credentials module=0 phase=login answers="LDAP=success""#
        #expect(try lines(text, realm: "Town") == ["the configuration does not have the realm now"])
    }
}
