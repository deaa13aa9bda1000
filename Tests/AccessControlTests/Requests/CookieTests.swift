// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import SeededRandom
import Sessions
import Testing

@testable import AccessControl

@Suite struct CookieTests {
    private static let text = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    private static let other = "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

    private func word(_ found: OurCookies.Found) -> String {
        switch found {
        case .none: "none"
        case .token(let token): token.text
        case .unreadable: "unreadable"
        case .repeated: "repeated"
        }
    }

    private func read(_ fields: [String]) -> (session: String, signIn: String) {
        var cookies = OurCookies()
        for field in fields { cookies.read(field.utf8Span.span) }
        return (word(cookies.session), word(cookies.signIn))
    }

    @Test(
        arguments: [
            ([], "none"), ([""], "none"), (["__Host-gatehouse=\(text)"], text),
            (["a=b; __Host-gatehouse=\(text)"], text),
            (["a=b;__Host-gatehouse=\(text);c=d"], text), (["a=b", "__Host-gatehouse=\(text)", "c=d"], text),
            (["  __Host-gatehouse=\(text)\t ;"], text), ([";;;__Host-gatehouse=\(text)"], text),
            (["__host-gatehouse=\(text)"], "none"), (["__HOST-GATEHOUSE=\(text)"], "none"),
            (["x__Host-gatehouse=\(text)"], "none"), (["__Host-gatehouse2=\(text)"], "none"),
            (["__Host-gatehouse =\(text)"], "none"), (["=__Host-gatehouse=\(text)"], "none"),
            (["gatehouse=\(text)"], "none"), (["__Host-gatehouse"], "none"), (["a=__Host-gatehouse=\(text)"], "none"),
            (["__Host-gatehouse="], "unreadable"), (["__Host-gatehouse=x"], "unreadable"),
            (["__Host-gatehouse=\"\(text)\""], "unreadable"), (["__Host-gatehouse= \(text)"], "unreadable"),
            (["__Host-gatehouse=\(text)A"], "unreadable"), (["__Host-gatehouse=\(text.dropLast())B"], "unreadable"),
            (["__Host-gatehouse=\(text), a=b"], "unreadable"), (["__Host-gatehouse==\(text)"], "unreadable"),
            (["__Host-gatehouse=\(text); __Host-gatehouse=\(other)"], "repeated"),
            (["__Host-gatehouse=\(text); __Host-gatehouse=\(text)"], "repeated"),
            (["__Host-gatehouse=\(text)", "__Host-gatehouse=\(other)"], "repeated"),
            (["__Host-gatehouse=x; __Host-gatehouse=\(text)"], "repeated"),
            (["__Host-gatehouse=\(text); __Host-gatehouse="], "repeated"),
            (["__Host-gatehouse=\(text);__Host-gatehouse=\(text);__Host-gatehouse=\(text)"], "repeated"),
        ] as [([String], String)]
    )
    func `the session cookie is found by its exact name`(fields: [String], found: String) {
        #expect(read(fields) == (found, "none"))
        let signIn = fields.map { $0.replacing("__Host-gatehouse", with: "__Host-gatehouse-sign-in") }
        #expect(read(signIn) == ("none", found))
    }

    @Test func `both cookies are found in the same field`() {
        let field = "__Host-gatehouse-sign-in=\(Self.other); __Host-gatehouse=\(Self.text)"
        #expect(read([field]) == (Self.text, Self.other))
        #expect(read([field, "__Host-gatehouse=x"]) == ("repeated", Self.other))
    }

    @Test func `bytes that are not UTF-8 do not hide a cookie`() {
        var cookies = OurCookies()
        cookies.read(([0xFF, 0x3B] + Array("__Host-gatehouse=\(Self.text)".utf8) + [0x3B, 0x00]).span)
        #expect(word(cookies.session) == Self.text)
    }

    @Test func `random Cookie fields give the same result as a simple model`() {
        var random = Random(seed: 31)
        let pieces = ["__Host-gatehouse", "-sign-in", "=", ";", " ", Self.text, Self.other, "a", "\t", "\""]
        for _ in 0..<20_000 {
            let field = (0..<random.below(12)).map { _ in random.pick(pieces) }.joined()
            // The model splits the field into pairs.
            let blanks: Set<Character> = [" ", "\t"]
            let pairs = field.split(separator: ";").map { pair in
                let head = pair.drop { blanks.contains($0) }
                return String(head.reversed().drop { blanks.contains($0) }.reversed())
            }
            func expected(_ name: String) -> String {
                let values = pairs.filter { $0.hasPrefix(name + "=") }.map { $0.dropFirst(name.count + 1) }
                guard let value = values.first else { return "none" }
                guard values.count == 1 else { return "repeated" }
                return value == Self.text || value == Self.other ? String(value) : "unreadable"
            }
            #expect(read([field]) == (expected("__Host-gatehouse"), expected("__Host-gatehouse-sign-in")), "\(field)")
        }
    }

    @Test func `cookies are set and removed with the attributes that the __Host- prefix requires`() throws {
        let read = OpaqueToken(Self.text.utf8Span.span)
        let token = try #require(read)
        #expect(
            SetCookie.session(token, replacing: .none).joined()
                == "__Host-gatehouse=\(Self.text); Path=/; Secure; HttpOnly; SameSite=Lax"
        )
        #expect(
            SetCookie.signIn(token, replacing: .none).joined()
                == "__Host-gatehouse-sign-in=\(Self.text); Path=/; Secure; HttpOnly; SameSite=Strict"
        )
        let removal = "__Host-gatehouse=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0"
        #expect(SetCookie.sessionRemoval(.none) == [removal])
        let partitioned = "__Host-gatehouse=; Path=/; Secure; HttpOnly; SameSite=None; Partitioned; Max-Age=0"
        for present in [OurCookies.Found.token(token), .unreadable, .repeated] {
            #expect(SetCookie.sessionRemoval(present) == [partitioned, removal])
            #expect(SetCookie.session(token, replacing: present).first == partitioned)
            #expect(SetCookie.signIn(token, replacing: present).count == 2)
        }
        #expect(
            SetCookie.signInRemoval
                == "__Host-gatehouse-sign-in=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0"
        )
    }

    @Test func `a cookie that the server has set is found in the next request`() throws {
        let token = try OpaqueToken()
        let pair = try #require(SetCookie.session(token, replacing: .none).joined().split(separator: ";").first)
        #expect(read([String(pair)]).session == token.text)
    }
}
