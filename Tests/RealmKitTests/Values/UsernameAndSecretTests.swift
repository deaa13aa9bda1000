// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Testing

struct UsernameTests {
    @Test(arguments: [
        ("", BadUsername.empty), (" ann", .whiteSpaceAtEnds), ("ann ", .whiteSpaceAtEnds), (" ", .whiteSpaceAtEnds),
        ("\u{A0}ann", .whiteSpaceAtEnds), ("ann\u{3000}", .whiteSpaceAtEnds), ("a\nb", .controlCharacter),
        ("ann\n", .controlCharacter),
        ("\u{0}", .controlCharacter), ("a\u{7F}", .controlCharacter), ("a\u{9B}b", .controlCharacter),
        ("a\u{2028}b", .controlCharacter), ("a\u{2029}b", .controlCharacter), ("a\tb", .controlCharacter),
    ])
    func `empty names, white space at the ends and control characters are refused`(text: String, fault: BadUsername) {
        #expect(throws: fault) { try Username(text) }
    }

    @Test(arguments: [
        "ann", "Ann Lee", "a", "ann@example.com", "\u{E9}", "e\u{301}", "\u{1F600}", "a\u{A0}b", "\u{200B}",
    ])
    func `a valid name is stored unchanged`(text: String) throws {
        #expect(try Username(text).text.utf8.elementsEqual(text.utf8))
        #expect(try "\(Username(text))" == text)
    }

    @Test func `a name has at most 1024 bytes`() throws {
        #expect(try Username(String(repeating: "\u{E9}", count: 512)).text.utf8.count == 1024)
        #expect(throws: BadUsername.tooLong) { try Username(String(repeating: "\u{E9}", count: 512) + "a") }
    }

    @Test func `names that differ in a byte are different names`() throws {
        let (composed, decomposed) = (try Username("\u{E9}"), try Username("e\u{301}"))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
        #expect(try Username("ann") != Username("Ann"))
        #expect(try Username("ann") == Username("ann"))
    }

    @Test(arguments: [
        ("zed", "z", true), ("zed", "", true), ("zed", "zed", true), ("zed", "zedd", false), ("Zed", "z", false),
        ("e\u{301}a", "e", true), ("e\u{301}a", "\u{E9}", false),
    ])
    func `a prefix is compared byte by byte`(name: String, prefix: String, isPrefix: Bool) throws {
        #expect(try Username(name).starts(with: prefix) == isPrefix)
    }

    @Test func `names that differ only in case have the same folded name`() throws {
        for number in UInt32(0x21)...0x1_FFFF {
            guard let letter = Unicode.Scalar(number), letter.properties.isCased else { continue }
            let key = try Username("x\(letter)x").caseFolded
            let cases = [letter.properties.lowercaseMapping, letter.properties.uppercaseMapping]
            for other in cases + [letter.properties.titlecaseMapping] {
                #expect(try Username("x\(other)x").caseFolded == key, "U+\(String(number, radix: 16))")
            }
        }
        #expect(try Username("\u{E9}").caseFolded == Username("E\u{301}").caseFolded)
        #expect(try Username("Straße").caseFolded == Username("STRASSE").caseFolded)
        #expect(try Username("ann").caseFolded != Username("bob").caseFolded)
    }

    @Test func `the description of an invalid name does not contain it`() {
        #expect(BadUsername.controlCharacter.description == "the user name contains a control character")
        #expect(BadUsername.tooLong.description == "the user name is longer than 1024 bytes")
    }
}

struct SecretTests {
    private let secret = Secret(utf8: "lilac")

    private struct Holder {
        let secret: Secret
        let number = 1
    }

    @Test func `a printed secret is redacted`() {
        #expect("\(secret)" == "<secret>")
        #expect(String(reflecting: secret) == "<secret>")
        #expect(String(describing: Optional(secret)) == "Optional(<secret>)")
        #expect("\([secret, secret])" == "[<secret>, <secret>]")
        #expect("\(["k": secret])" == "[\"k\": <secret>]")
        #expect("\(Holder(secret: secret))" == "Holder(secret: <secret>, number: 1)")
        #expect("\(Answer.secret(secret))" == "secret(<secret>)")
        #expect("\(PropertyValue.secret(secret))" == "secret(<secret>)")
        #expect("\(SharedState.Value.secret(secret))" == "secret(<secret>)")
    }

    @Test func `a dumped secret is redacted`() {
        var text = ""
        dump(secret, to: &text)
        #expect(text == "- <secret> #0\n")
        var held = ""
        dump(Holder(secret: secret), to: &held)
        #expect(!held.contains("lilac") && held.contains("- secret: <secret>"))
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }

    @Test(arguments: [
        ("lilac", "lilac", true), ("", "", true), ("lilac", "lilaC", false), ("lilac", "lila", false),
        ("lila", "lilac", false),
        ("", "a", false), ("a", "", false), ("a\0", "a", false), ("a", "a\0", false), ("\0", "", false),
        ("", "\0", false),
        ("Lilac", "lilac", false),
    ])
    func `two secrets are equal if their bytes and their lengths are equal`(
        first: String,
        second: String,
        isEqual: Bool
    ) {
        #expect(Secret(utf8: first).isEqual(to: Secret(utf8: second)) == isEqual)
    }

    @Test func `withBytes returns the bytes unchanged`() {
        #expect(secret.count == 5)
        #expect(!secret.isEmpty)
        #expect(Secret([]).isEmpty)
        #expect(Secret([]).withBytes { $0.count } == 0)
        #expect(
            Secret([0xFF, 0x00, 0x7F]).withBytes { bytes in bytes.indices.map { bytes[$0] } } == [0xFF, 0x00, 0x7F]
        )
    }

    @Test func `a secret has a copy of the bytes from which it is created`() {
        var bytes: [UInt8] = [1, 2, 3]
        let secret = Secret(bytes)
        bytes[0] = 9
        #expect(secret.isEqual(to: Secret([1, 2, 3])))
    }

    @Test(arguments: [
        ("ann.lee", "", ""), ("ann.lee@example.org", "", "@example.org"), ("TOWN\\ann.lee", "TOWN\\", ""),
        ("a@b@c", "", "@b@c"),
    ])
    func `an invented user has the domain of the name, and nothing else of it`(
        name: String,
        prefix: String,
        domain: String
    ) throws {
        let (first, second) = (try Username(name).inventedUser?.text, try Username(name).inventedUser?.text)
        let invented = try #require(first)
        // The random letters and digits of the invented name have no full stop.
        #expect(
            invented.hasPrefix(prefix + "gatehouse") && invented.hasSuffix(domain) && !invented.contains("ann.lee")
        )
        #expect(first != second)
    }
}
