// SPDX-License-Identifier: Apache-2.0

import AccessControl
import HTTPTypes
import RealmConfiguration
import RealmKit
import SeededRandom
import Testing

@testable import Gatehouse

struct IdentityHeadersTests {
    @Test(
        arguments: [
            ("ann", "ann"), ("ann@town.example", "ann@town.example"), ("a-b.c_d~e", "a-b.c_d~e"), ("a b", "a%20b"),
            ("a+b", "a%2Bb"),
            ("a,b", "a%2Cb"), ("100%", "100%25"), ("CN=ann,O=x", "CN%3Dann%2CO%3Dx"), ("DOM\\ann", "DOM%5Cann"),
            ("été", "%C3%A9t%C3%A9"),
            ("a\"b;c", "a%22b%3Bc"), ("\u{1F600}", "%F0%9F%98%80"), ("", ""),
        ]
    )
    func `readable characters of a name are kept, and special characters are encoded`(name: String, value: String) {
        #expect(IdentityHeaders.encoded(name) == value)
    }

    @Test func `the fields contain the user name, the groups, the realm, the mail address and the display name`() throws
    {
        let user = SignedInUser(
            realm: "my realm",
            username: try Username("ann"),
            groups: ["User", "a,b", "Ä"],
            attributes: [
                try UserAttribute(name: "mail", values: ["ann@town.example", "other@town.example"]),
                try UserAttribute(name: "displayName", values: ["Ann Ä"]),
            ]
        )
        let headers = IdentityHeaders(user)
        #expect(
            headers.values == ["ann", "User,a%2Cb,%C3%84", "my%20realm", "ann@town.example", "Ann%20%C3%84", ""]
        )
        let names = [
            "remote-user", "remote-groups", "remote-realm", "remote-email", "remote-name", "remote-token",
        ]
        #expect(IdentityHeaders.names.map(\.canonicalName) == names)
    }

    @Test func `as UTF-8 the texts are unchanged, and no character of a name can add a field or a group`() throws {
        let user = SignedInUser(
            realm: "my realm",
            username: try Username("zoë 100%"),
            groups: [
                "Nachtwächter", "a,b", "a\r\nRemote-User: root", "\u{0}", "\u{9}x", "x\u{7F}", "\u{85}", "\u{2028}",
                " x", "x ",
                "", "e\u{301}", "Staff",
            ],
            attributes: [
                try UserAttribute(name: "mail", values: ["zoë@town.example"]),
                try UserAttribute(name: "displayName", values: ["Zoë, of \"Ä\""]),
            ]
        )
        let headers = IdentityHeaders(user, encoding: .utf8)
        #expect(headers.user == "zoë 100%" && headers.realm == "my realm")
        #expect(Array(headers.groups.utf8) == Array("Nachtwächter,e\u{301},Staff".utf8))
        #expect(headers.email == "zoë@town.example" && headers.name == "Zoë, of \"Ä\"")
        let realm = SignedInUser(realm: "a\nb", username: try Username("ann"), groups: [])
        #expect(IdentityHeaders(realm, encoding: .utf8).realm == "a%0Ab")
        #expect(IdentityHeaders(nil, encoding: .utf8).values == ["", "", "", "", "", ""])
    }

    @Test func `CVE-2026-30851: for an anonymous user every field is set to an empty value`() {
        #expect(IdentityHeaders(nil).values == ["", "", "", "", "", ""])
    }

    @Test func `no character of a name can add a field or a list entry`() throws {
        var random = Random(seed: 4)
        for _ in 0..<2000 {
            let text = String(decoding: random.bytes(random.below(20)), as: UTF8.self)
            let value = IdentityHeaders.encoded(text)
            #expect(value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") }, "\(text)")
            #expect(decoded(value) == Array(text.utf8), "\(text)")
        }
        #expect(IdentityHeaders.encoded("a\r\nSet-Cookie: x\u{0}") == "a%0D%0ASet-Cookie%3A%20x%00")
    }

    @Test func `all fields of hostile users are one line of allowed bytes, and decode to the same bytes`() throws {
        let parts = [
            "\n", "\r\n", "\r\nRemote-User: root", "\u{0}", "\t", ",", ";", ":", "=", "%", "%0A", "%2C", "+", " ", "\"",
            "\\", "{\"a\":1}", "[]", "\u{2028}", "\u{85}", "\u{FEFF}", "e\u{301}", "é", "日本", "😀", "\u{202E}", "-",
            "--",
            "a", "Z", "@", "/", "..", "<b>", "'", "`", "$(id)", "&", "|", "~", "_", "root",
        ]
        var random = Random(seed: 1313)
        func text() -> String { (0..<random.below(9)).map { _ in random.pick(parts) }.joined() }
        func attribute(_ name: String) -> (values: [String], attributes: [UserAttribute]) {
            let values = (0..<random.below(3)).map { _ in text() }
            guard let attribute = try? UserAttribute(name: name, values: values) else { return ([], []) }
            return (values, [attribute])
        }
        var counts = (users: 0, mails: 0, names: 0)
        for _ in 0..<5000 {
            guard let username = try? Username(text()) else { continue }
            let (mail, name, groups, realm) = (
                attribute("mail"), attribute("displayName"), (0..<random.below(4)).map { _ in text() }, text()
            )
            let user = SignedInUser(
                realm: realm,
                username: username,
                groups: groups,
                attributes: mail.attributes + name.attributes
            )
            let headers = IdentityHeaders(user)
            for value in headers.values {
                let isAllowed = value.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"):
                        true
                    default: "-._~@%,".utf8.contains(byte)
                    }
                }
                #expect(isAllowed, "\(value)")
            }
            for value in [headers.user, headers.realm, headers.email, headers.name] {
                #expect(!value.utf8.contains(UInt8(ascii: ",")), "\(value)")
            }
            #expect(decoded(headers.user) == Array(username.text.utf8))
            #expect(decoded(headers.realm) == Array(realm.utf8))
            #expect(decoded(headers.email) == Array((mail.values.first ?? "").utf8))
            #expect(decoded(headers.name) == Array((name.values.first ?? "").utf8))
            let list = headers.groups.split(separator: ",", omittingEmptySubsequences: false).map { decoded("\($0)") }
            #expect(list == (groups.isEmpty ? [[]] : groups.map { Array($0.utf8) }))
            counts.users += 1
            counts.mails += mail.attributes.count
            counts.names += name.attributes.count
        }
        // Otherwise the test would check too few users.
        #expect(counts.users > 1000 && counts.mails > 200 && counts.names > 200, "\(counts)")
    }

    private func decoded(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            bytes.append(
                UInt8(
                    rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }.reduce(0) { $0 * 16 + $1 }
                )
            )
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
