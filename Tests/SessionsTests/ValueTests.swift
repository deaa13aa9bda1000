// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import OpenSSLKit
import SeededRandom
import Testing

@testable import Sessions

struct ValueTests {
    @Test func `an id is 22 characters, which are read again, and another each time`() throws {
        var seen: Set<SessionID> = []
        for _ in 0..<1000 {
            let id = try SessionID()
            #expect(id.description.utf8.count == 22)
            #expect(SessionID(id.description) == id)
            #expect(seen.insert(id).inserted)
        }
    }

    @Test(arguments: [
        "", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAAA=",
        "AAAAAAAAAAAAAAAAAAAA+A", " AAAAAAAAAAAAAAAAAAAAA", "ÄAAAAAAAAAAAAAAAAAAAA",
    ])
    func `what is no id is not read`(text: String) { #expect(SessionID(text) == nil) }

    @Test func `bytes have the texts of RFC 4648, in the alphabet for names`() {
        let known = [
            "": "", "f": "Zg", "fo": "Zm8", "foo": "Zm9v", "foob": "Zm9vYg", "fooba": "Zm9vYmE", "foobar": "Zm9vYmFy",
        ]
        for (bytes, text) in known { #expect(Base64URL.text(bytes.utf8Span.span) == text) }
        #expect(Base64URL.text(([0xFB, 0xFF, 0xBF] as [UInt8]).span) == "-_-_")
    }

    @Test(arguments: 0..<20)
    func `a text is read exactly if it is the one that is written`(seed: UInt64) {
        var random = Random(seed: seed)
        let alphabet = Array("ABCXYZabcxyz0189-_+/= ".utf8)
        for _ in 0..<500 {
            let length = random.below(40)
            var bytes = random.bytes(length)
            var text = Array(Base64URL.text(bytes.span).utf8)
            if !text.isEmpty, random.below(2) == 0 { text[random.below(text.count)] = random.pick(alphabet) }
            if random.below(5) == 0 { text.append(random.pick(alphabet)) }
            if Base64URL.read(text.span, length: length, { bytes[$0] = $1 }) {
                #expect(Array(Base64URL.text(bytes.span).utf8) == text)
            } else {
                #expect(Array(Base64URL.text(bytes.span).utf8) != text || text.count != (length * 8 + 5) / 6)
            }
        }
    }

    @Test func `a token is read again, and its digest is that of its bytes`() throws {
        let token = try OpaqueToken()
        let text = token.text
        #expect(text.utf8.count == OpaqueToken.textLength)
        let read = OpaqueToken(text.utf8Span.span)
        let again = try #require(read)
        #expect(again.text == text)
        #expect(try again.digest() == token.digest())
        #expect(try OpaqueToken().text != text)
    }

    @Test func `what a client calls itself is cut and cleaned`() {
        let client = SessionClient(
            address: "192.0.2.7\r\nX: y",
            userAgent: "a\u{1b}[31mb\nc\u{202E}d\u{0}e\u{2028}f\u{85}g"
        )
        #expect(client.userAgent == "a[31mb cde f g")
        #expect(client.address == "192.0.2.7  X: y")
        #expect(SessionClient(address: nil, userAgent: "").address == nil)
        let long = SessionClient(address: nil, userAgent: String(repeating: "ä", count: 10_000)).userAgent
        #expect(long == String(repeating: "ä", count: 128))
        // One that would be cut in the middle of a character loses it.
        #expect(
            SessionClient(address: nil, userAgent: "x" + String(repeating: "ä", count: 200)).userAgent.utf8.count == 255
        )
        #expect(
            SessionClient(address: nil, userAgent: String(repeating: "\u{0}", count: 1_000_000) + "x").userAgent.isEmpty
        )
    }

    @Test(arguments: 0..<20)
    func `no client's name holds more than printable text of 256 bytes`(seed: UInt64) {
        var random = Random(seed: seed)
        for _ in 0..<200 {
            let text = String(decoding: random.bytes(random.below(600)), as: UTF8.self)
            let kept = SessionClient(address: text, userAgent: text)
            #expect(kept.userAgent.utf8.count <= 256)
            #expect(kept.address.map { $0.utf8.count <= 64 } ?? false)
            #expect(kept.userAgent.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
            #expect(SessionClient(address: kept.address, userAgent: kept.userAgent) == kept)
        }
    }

    @Test func `causes have numbers of their own`() {
        #expect(Set(SessionEnd.allCases.map(\.number)).count == SessionEnd.allCases.count)
        for end in SessionEnd.allCases { #expect(SessionEnd(number: end.number) == end) }
        #expect(SessionEnd(number: 0) == nil)
        #expect(SessionEnd(number: 200) == nil)
    }
}
