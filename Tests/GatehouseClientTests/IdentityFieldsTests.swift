// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import RealmKit
import Testing

@testable import Gatehouse
@testable import GatehouseClient

struct IdentityFieldsTests {
    private static let fields = [
        "remote-user": ["ann"], "remote-groups": ["Staff,Night%20shift"], "remote-realm": ["people"],
        "remote-email": ["ann@town.example"], "remote-name": ["Ann%20%C3%84"], "remote-token": ["x"],
    ]

    private static func user(_ fields: [String: [String]]) throws(GatehouseClientError) -> SignedInUser? {
        try IdentityFields.user { name in fields[name.lowercased()] ?? [] }
    }

    @Test func `the fields of the server give the user`() throws {
        let users = [
            try TestSigner.user(), try TestSigner.user("e\u{301}", realm: "my realm/Ä", groups: []),
            try TestSigner.user("DOM\\a,b%+", groups: ["a,b", "100%", "Ä", " x", "\n"]),
            try TestSigner.user(
                attributes: [
                    try UserAttribute(name: "displayName", values: ["Ann Ä, \"A\""]),
                    try UserAttribute(name: "mail", values: ["ann@town.example"]),
                ]
            ),
        ]
        for user in users {
            let values = IdentityHeaders(user).values
            let fields = zip(IdentityHeaders.names.map(\.canonicalName), values).map { ($0, [$1]) }
            #expect(try Self.user(Dictionary(fields) { first, _ in first }) == user)
        }
    }

    @Test func `without a user no user is signed in, whether the fields are empty or missing`() throws {
        let empty = zip(IdentityHeaders.names.map(\.canonicalName), IdentityHeaders(nil).values).map { ($0, [$1]) }
        #expect(try Self.user(Dictionary(empty) { first, _ in first }) == nil)
        #expect(try Self.user([:]) == nil)
    }

    @Test(arguments: ["remote-user", "remote-groups", "remote-realm", "remote-email", "remote-name"])
    func `a field that occurs twice is rejected`(name: String) {
        var fields = Self.fields
        fields[name, default: []].append("root")
        #expect(throws: GatehouseClientError.self) { try Self.user(fields) }
        fields[name] = ["", ""]
        #expect(throws: GatehouseClientError.self) { try Self.user(fields) }
    }

    @Test(arguments: [
        "a b", "Zoë", "a,b", "ann, root", "a+b", "a%", "a%2", "a%zz", "%61nn", "%7E", "a%2f", "a%c3%a4", "%C3", "%FF",
        "%ED%A0%80", "a%00", "a\u{0}", "a\tb", " ann", "ann ", "a/b", "a:b", "a\"b",
    ])
    func `a value in another spelling than that of the server is rejected`(value: String) {
        for name in ["remote-user", "remote-realm", "remote-email", "remote-name", "remote-groups"] {
            // A list of groups has a comma, and a group or a realm may have a control character.
            guard name != "remote-groups" || value != "a,b", value != "a%00" || name == "remote-user" else { continue }
            var fields = Self.fields
            fields[name] = [value]
            #expect(throws: GatehouseClientError.self, "\(name)") { try Self.user(fields) }
        }
    }

    private static let changes: [[String: [String]]] = [
        ["remote-realm": []], ["remote-realm": [""]], ["remote-groups": [","]], ["remote-groups": ["Staff,"]],
        ["remote-groups": [",Staff"]], ["remote-groups": ["Staff,,x"]], ["remote-user": ["%20ann"]],
    ]

    @Test(arguments: changes)
    func `fields that the server does not send are rejected`(changes: [String: [String]]) {
        let fields = Self.fields.merging(changes) { _, changed in changed }
        #expect(throws: GatehouseClientError.self) { try Self.user(fields) }
    }
}
