// SPDX-License-Identifier: Apache-2.0

import RealmKit
import TestTools
import Testing

@testable import GatehouseCommand

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
        try AutheliaUsers.read(Array(text.utf8), name: "f")
    }

    @Test func `a user with many groups is reported in time proportional to their number`() throws {
        let groups = (0..<20_000).map { "      - g\($0)\n" }.joined()
        var users: ImportedUsers?
        let time = try ProcessorTime.measureThread {
            users = try AutheliaUsers.read(Array("users:\n  ann:\n    groups:\n\(groups)".utf8), name: "f")
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
        "users:\n  ann: {groups: [a, 'b c'], disabled: yes}\n...\n",
        "---\nusers:\n  ann: {groups: [a, 'b c'], disabled: 'on'}\n... # the end\n",
        "%YAML 1.2\n---\nusers:\n  ann: {groups: [a, 'b c'], disabled: true}\n",
        "\u{FEFF}users:\r\n  ann:\r\n    disabled: true\r\n    groups:\r\n    - a\r\n    - b c\r\n",
        "users:\n  ann:\n    disabled:\ttrue\t# a tab\n    groups: [a,\n      \"b\n      c\"\n    ]\n",
        "users:\n  ann:\n    disabled: !!bool true\n    groups:\n      - a\n      - >-\n        b\n        c\n",
        "users:\n  \"a\\x6en\":\n    disabled: true\n    groups: [!!str a, b\n      c]\n",
        "groups: &groups [a, b c]\nusers:\n  ann:\n    disabled: true\n    groups: *groups\n",
        "defaults: &defaults\n  disabled: true\n  groups: [x]\nusers:\n  ann:\n    <<: *defaults\n    groups: [a, b c]\n",
        "a: &a {groups: [a, b c]}\nb: &b {disabled: true, groups: [x]}\nusers:\n  ann: {<<: [*a, *b]}\n",
        "? users\n: ? ann\n  : disabled: true\n    groups: [a, b c]\n    extra: {more: [1, {x: y}]}\n    address:\n      locality: |\n        Town\n",
        "users: {ann: {\"disabled\":true,\"groups\":[\"a\",\"b c\"]}}",
    ])
    func `what Authelia reads is read`(text: String) throws {
        let user = try #require(try read(text).users.first)
        #expect(user.record.name.text == "ann" && user.record.groups == ["a", "b c"] && !user.record.isEnabled)
    }

    @Test func `only the first document is read, as in Authelia, and another one is reported`() throws {
        let users = try read("users:\n  ann: {}\n...\n---\nusers:\n  bob: {}\n")
        #expect(users.users.map(\.record.name.text) == ["ann"])
        #expect(users.omissions == ["not imported: documents after the first (at f:5)"])
    }

    @Test(arguments: [
        ("users:\n  ann: *a\n", 2, "undefined alias"), ("users:\n  ann: !!str x\n", 2, "mapping"),
        ("users:\n\tann:\n", 2, "cannot start any token"), ("users:\n  ann:\n", 2, "mapping"),
        ("users:\n  ann: {}\n  bob: {}\n  ann: {}\n", 2, "twice"),
        ("users:\n  ann:\n    email: a\n    'email': b\n", 3, "twice"),
        ("users: {}\n---\n- [\n", 4, "expected node content"),
        ("users:\n  <<: x\n", 2, "mapping"), ("users:\n    ann: {}\n  bob: {}\n", 3, "expected key"),
        ("users:\n  ann:\n     email: a\n    displayname: b\n", 4, "expected key"),
        ("users:\n  ann:\n    groups: [a, b\n", 4, "expected ','"), ("users:\n  ann:\n    groups: a\n", 3, "list"),
        ("users:\n  ann:\n    groups:\n      - - a\n", 4, "a text is expected"),
        ("users:\n  ann:\n    groups:\n      - a: b\n", 4, "a text is expected"),
        ("users:\n  ann:\n    displayname: a: b\n", 3, "not allowed"),
        ("users:\n  ann:\n    disabled: maybe\n", 3, "true or false"), ("users:\n  ann\n", 2, "mapping"),
        ("users:\n  - ann\n", 2, "mapping"), ("user:\n  ann:\n", 1, "users"), ("", 1, "empty"),
        ("users:\n  ann: x\n", 2, "mapping"), ("users:\n  ann:\n    password: \"\\q\"\n", 3, "escape character"),
        ("users:\n  ann:\n    password: \"\\ud83d\"\n", 3, "invalid Unicode"),
        ("users:\n  'a'b: c\n", 2, "expected key"),
        ("users:\n  ? [a]\n  : {}\n", 2, "a key must be a text"), ("users:\n  a\u{7}: {}\n", 2, "control characters"),
    ])
    func `everything else is rejected with its line`(text: String, line: Int, reason: String) throws {
        let error = #expect(throws: BadUserFile.self) { try read(text) }
        let description = error?.description ?? ""
        #expect(description.hasPrefix("f:\(line): ") && description.contains(reason), "\(description)")
    }

    @Test func `bytes that are not UTF-8 are rejected with the line`() throws {
        let bytes = Array("users:\n  ann:\n    email: ".utf8) + [0xFF, 0x0A]
        let error = #expect(throws: BadUserFile.self) { try AutheliaUsers.read(bytes, name: "f") }
        #expect(error?.description == "f:3: it is not UTF-8")
    }

    /// Aliases by which a short file stands for many values, or for values in many levels.
    @Test(arguments: [
        (12, 10, "{<<: [%]}", "more than 4 merges in each other"), (12, 10, "[%]", "must be a mapping"),
        (20_000, 1, "{<<: [%]}", "more than 10000 aliases"),
    ])
    func `aliases are limited`(levels: Int, width: Int, value: String, reason: String) throws {
        var file = "m0: &m0 {a: {}}\n"
        for level in 1..<levels {
            let aliases = repeatElement("*m\(level - 1)", count: width).joined(separator: ",")
            file += "m\(level): &m\(level) \(value.replacing("%", with: aliases))\n"
        }
        let time = ProcessorTime.measureThread {
            let error = #expect(throws: BadUserFile.self) { try read(file + "users: *m\(levels - 1)\n") }
            #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        }
        #expect(time < 5e9)
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
