// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import TestTools
import Testing

@testable import UserImports

@Suite struct AutheliaTests {
    static let file = """
        ---
        # Users.
        users:
          ann:
            disabled: false
            displayname: 'Ann Smith'
            password: '$argon2id$v=19$m=65536,t=3,p=4$ErHbLGBchzEFZHdqgSMwxg$t9MImNDV4jhJJrU1qN6X1DEyJ4+WFcgY7OrZMYQpDkE'
            email: 'ann@example.org'
            groups:
              - 'admins'
              - "night shift"  # a comment
          "b\\u00f6b":
            displayname: B\u{f6}b O'Neil # also a comment
            password: $6$5bKGbqZJq2mV1xKr$q0P0YFUZO62xhSBMsR9uKRJHoxhm9U02tR6SKugRWJM5JKr4SBxsWfBh1dPWFTvizEsNkzvzZJaCkxfQ1tUbJ/
            groups: [dev, 'a, b']
            given_name: Bob
            address:
              locality: Town
          carl:
            disabled: yes
            email: ~
            groups:
            - dev
          123:
            groups: []
            password: ""

        """

    private func read(_ text: String) throws -> ImportedUsers {
        try UserImportFormat.authelia.read(Array(text.utf8), name: "f")
    }

    @Test func `a user with many groups is reported in time proportional to their number`() throws {
        let groups = (0..<20_000).map { "      - g\($0)\n" }.joined()
        var users: ImportedUsers?
        let time = try ProcessorTime.measureThread {
            users = try UserImportFormat.authelia.read(Array("users:\n  ann:\n    groups:\n\(groups)".utf8), name: "f")
        }
        #expect(users?.users.isEmpty == true)
        #expect(users?.problems == ["f:2: the user ann is ignored: more than 1024 groups"])
        #expect(time < 5e9)
    }

    @Test func `users are read with names, groups, states and passwords`() throws {
        let users = try read(Self.file).users
        #expect(users.map(\.record.name.text) == ["ann", "b\u{f6}b", "carl", "123"])
        #expect(users.map(\.record.groups) == [["admins", "night shift"], ["dev", "a, b"], ["dev"], []])
        #expect(users.map(\.record.isEnabled) == [true, true, false, true])
        #expect(
            users.map { $0.record.attributes.values(of: "displayName") } == [
                ["Ann Smith"], ["B\u{f6}b O'Neil"], [], [],
            ]
        )
        #expect(users.map { $0.record.attributes.values(of: "mail") } == [["ann@example.org"], [], [], []])
        #expect(users.map(\.place) == ["f:4", "f:12", "f:19", "f:24"])
        let hashes = users.map(\.hash)
        #expect(hashes[0]?.hasPrefix("$argon2id$") == true && hashes[1]?.hasSuffix("UbJ/") == true)
        #expect(hashes[2] == nil && hashes[3] == nil)
    }

    @Test(arguments: [
        ("users:\n  ann: &a {}\n", 2, "anchors"), ("users:\n  ann: *a\n", 2, "anchors"),
        ("users:\n  ann: !!str x\n", 2, "tags"), ("users:\n  ann:\n    displayname: |\n      x\n", 3, "several lines"),
        ("users:\n  ann:\n    displayname: >-\n      x\n", 3, "several lines"),
        ("users:\n  ann:\n    displayname: one\n      two\n", 4, "several lines"),
        ("users:\n  ann:\n    displayname: 'one\n      two'\n", 3, "not closed"),
        ("users:\n\tann:\n", 2, "tab"), ("users:\n  ann:\t\n", 2, "tab"),
        ("users:\n  ann:\n  bob:\n  ann:\n", 4, "twice"),
        ("users:\n  ann:\n    email: a\n    'email': b\n", 4, "twice"),
        ("users:\n  ann:\n---\nusers:\n", 3, "documents"), ("%YAML 1.2\n---\n", 1, "directives"),
        ("users:\n  ann: {disabled: true}\n", 2, "mapping"), ("users:\n  <<:\n", 2, "merge"),
        ("users:\n    ann:\n  bob:\n", 3, "indentation"),
        ("users:\n  ann:\n     email: a\n    displayname: b\n", 4, "indentation"),
        ("users:\n  ann:\n    groups: [a, b\n", 3, "end on the same line"),
        ("users:\n  ann:\n    groups: a\n", 3, "list"),
        ("users:\n  ann:\n    groups:\n      - - a\n", 4, "character"),
        ("users:\n  ann:\n    groups:\n      - a: b\n", 4, "colon"),
        ("users:\n  ann:\n    displayname: a: b\n", 3, "colon"),
        ("users:\n  ann:\n    disabled: 'true'\n", 3, "quotes"),
        ("users:\n  ann:\n    disabled: maybe\n", 3, "true or false"),
        ("users:\n  ann:\n    groups: ['a' b]\n", 3, "comma"),
        ("users:\n  ann\n", 2, "colon"), ("users:\n  - ann\n", 2, "mapping"), ("user:\n  ann:\n", 1, "users"),
        ("", 1, "empty"),
        ("users:\n  ann: x\n", 2, "mapping"), ("users:\n  ann:\n    password: \"\\q\"\n", 3, "backslash"),
        ("users:\n  ann:\n    password: \"\\ud83d\"\n", 3, "not a character"), ("users:\n  'a'b: c\n", 2, "colon"),
        ("users:\n  ann:\n    email: 'a' b\n", 3, "after the value"), ("users:\n  a\u{85}b:\n", 2, "control character"),
    ])
    func `everything else is rejected with its line`(text: String, line: Int, reason: String) throws {
        let error = #expect(throws: BadUserFile.self) { try read(text) }
        let description = error?.description ?? ""
        #expect(description.hasPrefix("f:\(line): ") && description.contains(reason), "\(description)")
    }

    @Test func `levels are limited, and bytes that are not UTF-8 are rejected with the line`() throws {
        let deep = (0..<40).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
        #expect(throws: BadUserFile.self) { try read(deep) }
        let bytes = Array("users:\n  ann:\n    email: ".utf8) + [0xFF, 0x0A]
        let error = #expect(throws: BadUserFile.self) { try UserImportFormat.authelia.read(bytes, name: "f") }
        #expect(error?.description == "f:3: it is not UTF-8")
    }

    @Test func `a user with an unusable name or group is reported, and the others are read`() throws {
        let file = "users:\n  ' ann':\n    email: a\n  bob:\n    groups: [\"a\\n\"]\n  cy:\n    displayname: C\n"
        let users = try read(file)
        #expect(users.users.map(\.record.name.text) == ["cy"])
        #expect(
            users.problems.count == 2 && users.problems[0].hasPrefix("f:2: ") && users.problems[1].hasPrefix("f:4: ")
        )
    }
}

extension ImportedUser {
    /// The hash; nil for another kind of password.
    var hash: String? {
        guard case .hash(let hash) = password else { return nil }
        return hash
    }

    /// The reason why the password is not taken over.
    var reason: String? {
        guard case .unusable(let reason) = password else { return nil }
        return reason
    }

    /// The password in clear text.
    var clearText: String? {
        guard case .clearText(let secret) = password else { return nil }
        return secret.withBytes { bytes in
            var text: [UInt8] = []
            for index in bytes.indices { text.append(bytes[index]) }
            return String(decoding: text, as: UTF8.self)
        }
    }
}
