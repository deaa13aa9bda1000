// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import SeededRandom
import Testing

@testable import Sessions

struct ValueTests {
    @Test func `a session id is 22 random characters and can be parsed again`() throws {
        var seen: Set<SessionID> = []
        for _ in 0..<1000 {
            let id = try SessionID()
            #expect(id.description.utf8.count == 22)
            #expect(SessionID(id.description) == id)
            // A command takes a text that begins with `-` for an option.
            #expect(!id.description.hasPrefix("-"))
            #expect(seen.insert(id).inserted)
        }
    }

    @Test(arguments: [
        "", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAAA=",
        "AAAAAAAAAAAAAAAAAAAA+A", " AAAAAAAAAAAAAAAAAAAAA", "ÄAAAAAAAAAAAAAAAAAAAA",
    ])
    func `an invalid session id is rejected`(text: String) { #expect(SessionID(text) == nil) }

    @Test func `a token can be parsed again, and its digest is the SHA-256 of its bytes`() throws {
        let token = try OpaqueToken()
        let text = token.text
        #expect(text.utf8.count == 43)
        let read = OpaqueToken(text.utf8Span.span)
        let again = try #require(read)
        #expect(again.text == text)
        #expect(try again.digest() == token.digest())
        #expect(try OpaqueToken().text != text)
    }

    @Test func `a long User-Agent is shortened, and control characters are removed`() {
        let client = SessionClient(
            address: "192.0.2.7\r\nX: y",
            userAgent: "a\u{1b}[31mb\nc\u{202E}d\u{0}e\u{2028}f\u{85}g"
        )
        #expect(client.userAgent == "a[31mb cde f g")
        #expect(client.address == "192.0.2.7  X: y")
        #expect(SessionClient(address: nil, userAgent: "").address == nil)
        let long = SessionClient(address: nil, userAgent: String(repeating: "ä", count: 10_000)).userAgent
        #expect(long == String(repeating: "ä", count: 128))
        // A character that crosses the limit is removed.
        #expect(
            SessionClient(address: nil, userAgent: "x" + String(repeating: "ä", count: 200)).userAgent.utf8.count == 255
        )
        #expect(
            SessionClient(address: nil, userAgent: String(repeating: "\u{0}", count: 1_000_000) + "x").userAgent.isEmpty
        )
    }

    @Test(arguments: 0..<20)
    func `a cleaned User-Agent is printable text of at most 256 bytes`(seed: UInt64) {
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
}
