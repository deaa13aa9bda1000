// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Testing

@testable import GatehouseCommand

/// Tests of the property files of Jetty and WildFly.
@Suite struct PropertiesTests {
    static let jetty = #"""
        # Users.
        ann: MD5:164c88b302622e17050af52c89945d44,user, admin,user
        bob = CRYPT:gvyHFSlR2ygWA , user
        carl OBF:1v2j1uum1xtv1zej1zer1xtn1uvk1v1v,content-administrator
        d\u00f6ra: secret\
            \ phrase
        eve:

        """#
    /// `ann` has the password `correct horse battery`.
    static let wildfly = """
        #
        #$REALM_NAME=ApplicationRealm$ This line is used by the add-user utility to identify the realm name
        #old=164c88b302622e17050af52c89945d44
        ann=3555696b6016f377904e96609ca860b1
        bob=
        """

    private func read(_ text: String) throws -> ImportedUsers { try JettyUsers.read(Array(text.utf8), name: "f") }

    private func readWildFly(_ text: String, roles: (bytes: [UInt8], name: String)? = nil) throws -> ImportedUsers {
        try WildFlyUsers(roles: roles).read(Array(text.utf8), name: "f")
    }

    @Test func `users of Jetty are read with roles, and with credentials of all kinds`() throws {
        let users = try read(Self.jetty).users
        #expect(users.map(\.record.name.text) == ["ann", "bob", "carl", "d\u{f6}ra", "eve"])
        #expect(users.map(\.record.groups) == [["user", "admin"], ["user"], ["content-administrator"], [], []])
        #expect(users.map(\.place) == ["f:2", "f:3", "f:4", "f:5", "f:7"])
        #expect(users.map(\.hash) == ["{MD5}FkyIswJiLhcFCvUsiZRdRA==", "{CRYPT}gvyHFSlR2ygWA", nil, nil, nil])
        #expect(users.map(\.clearText) == [nil, nil, "password", "secret phrase", nil])
    }

    @Test func `a password with other letters than those of ASCII is computed from OBF`() throws {
        let users = try read("ann: OBF:1x7y1i35U12lqU11a4U0lvn1hyl1x8w,user\n").users
        #expect(users.map(\.clearText) == ["gr\u{fc}n x"])
    }

    @Test(arguments: [
        ("OBF:1v2", "malformed"), ("OBF:U1", "malformed"),
        ("OBF:0000", "malformed"), ("OBF:+111", "malformed"), ("MD5:12", "32 hexadecimal digits"),
        ("164c88b302622e17050af52c89945d44", "--format wildfly"), ("$2y$10$x", "looks like a hash"),
    ])
    func `a credential that cannot be taken over is reported, and its user is read`(
        credential: String,
        reason: String
    ) throws {
        let user = try #require(try read("ann: \(credential),a\n").users.first)
        #expect(user.record.groups == ["a"])
        #expect(user.reason?.contains(reason) == true, "\(user)")
    }

    @Test(arguments: [
        ("a=b", "a", "b"), ("a:b", "a", "b"), ("a b", "a", "b"), (" \t a \t = \t b ", "a", "b "), ("a", "a", ""),
        ("a:=b", "a", "=b"), (#"a\=\:\ b=c"#, "a=: b", "c"), (#"a=\u0062\\\tc\n"#, "a", "b\\\tc\n"),
        ("a=b\\\n   c", "a", "bc"), ("a=b\\\\\nc=d", "a", "b\\"), ("a=b\\\n#c", "a", "b#c"),
        ("a=b\\\r\n c\r\n", "a", "bc"),
        (#"a=\ud83d\ude00"#, "a", "\u{1F600}"), ("a=b\\", "a", "b"), ("! x\n\n  # x\na=b", "a", "b"),
        ("\u{FEFF}a=\u{e9}", "a", "\u{e9}"), ("a\\\nb=c", "ab", "c"),
    ])
    func `keys and values are those of Java`(text: String, key: String, value: String) throws {
        let property = try #require(try JavaProperties(Array(text.utf8), name: "f").properties.first)
        #expect(property.key == key && property.value == value, "\(property)")
    }

    @Test(arguments: [[UInt8]("a=b\nc=\\u12g4".utf8), Array("a=b\nc=".utf8) + [0xFF], Array("a=b\nc=\\ud83d".utf8)])
    func `a line that is no text is rejected with its number`(bytes: [UInt8]) throws {
        let error = #expect(throws: BadUserFile.self) { try JettyUsers.read(bytes, name: "f") }
        #expect(error?.description == "f:2: it is not UTF-8, or has a malformed \\u")
    }

    @Test func `users of WildFly are read with the realm as part of the salt, and with their roles`() throws {
        let roles = (bytes: Array("ann=staff,admin\n#x=y\nghost=staff\nbob=\n".utf8), name: "r")
        let imported = try readWildFly(Self.wildfly, roles: roles)
        #expect(imported.users.map(\.record.name.text) == ["ann", "bob"])
        #expect(imported.users.map(\.record.groups) == [["staff", "admin"], []])
        #expect(
            imported.users.map(\.hash) == [
                "{TOMCAT-MD5}616e6e3a4170706c69636174696f6e5265616c6d3a$1$3555696b6016f377904e96609ca860b1", nil,
            ]
        )
        #expect(imported.omissions == ["not imported: roles of users who are not in f (at r:3)"])
        #expect(try readWildFly(Self.wildfly).users.map(\.record.groups) == [[], []])
    }

    @Test func `a file of WildFly without the name of its realm is rejected, and a clear password is reported`() throws
    {
        let error = #expect(throws: BadUserFile.self) { try readWildFly("ann=\n# $REALM_NAME=x\n") }
        #expect(error?.description.contains("#$REALM_NAME=ApplicationRealm$") == true)
        let user = try readWildFly("# $REALM_NAME=r$\nann=secret\n").users.first
        #expect(user?.reason?.contains("32 hexadecimal digits") == true)
    }
}
