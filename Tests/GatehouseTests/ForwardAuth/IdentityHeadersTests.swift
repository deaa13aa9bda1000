// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
        #expect(headers.values == ["ann", "User,a%2Cb,%C3%84", "my%20realm", "ann@town.example", "Ann%20%C3%84"])
        let names = ["remote-user", "remote-groups", "remote-realm", "remote-email", "remote-name"]
        #expect(IdentityHeaders.names.map { "\($0)" } == names)
    }

    @Test func `CVE-2026-30851: for an anonymous user every field is set to an empty value`() {
        #expect(IdentityHeaders(nil).values == ["", "", "", "", ""])
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
