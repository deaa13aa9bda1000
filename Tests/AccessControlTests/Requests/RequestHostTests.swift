// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import AccessControl

struct RequestHostTests {
    @Test(
        arguments: [
            ("app.example.com", "app.example.com", nil), ("APP.Example.Com.", "app.example.com", nil),
            ("a:443", "a", 443), ("a.:65535", "a", 65_535), ("a:", "a", nil), ("a:0443", "a", 443),
            ("127.0.0.1:8443", "127.0.0.1", 8443), ("my_app", "my_app", nil),
            ("xn--caf-dma.example", "xn--caf-dma.example", nil),
            ("[::1]", "[::1]", nil), ("[0:0::0001]:8443", "[::1]", 8443), ("[2001:DB8::A]", "[2001:db8::a]", nil),
            ("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", nil),
        ] as [(String, String, UInt16?)]
    )
    func `every spelling of a host has the same canonical form`(text: String, name: String, port: UInt16?) throws {
        let host = try #require(RequestHost(text))
        #expect(host.name == name)
        #expect(host.port == port)
        #expect(host.text == (port.map { "\(name):\($0)" } ?? name))
    }

    @Test(
        arguments: [
            "", ".", "..", "a..b", ".a", "-a", "a-", "a.-b", "a-.b", "a b", " a", "a ", "a,b", "a/b", "a@b", "u@a",
            "a?b", "a#b",
            "a\\b", "a%2eb", "é", "a\u{0}", "a\r\nb", ":443", "a:0", "a:65536", "a:1:2", "a:+1", "a:000443", "a:x",
            "::1", "[::1",
            "[]", "[a]", "[1.2.3.4]", "[::1]x", "[::1%25eth0]", "[::1]:x", "[[::1]]", "*.a", "a\u{2024}b",
            "ａ.example", "a\u{301}", String(repeating: "a", count: 64), String(repeating: "a.", count: 127) + "a",
        ]
    )
    func `an invalid host is rejected`(text: String) {
        #expect(RequestHost(text) == nil)
    }

    @Test func `labels and host names of the maximum length are accepted`() {
        #expect(RequestHost(String(repeating: "a", count: 63)) != nil)
        #expect(RequestHost(String(repeating: "a.", count: 126) + "a") != nil)
        #expect(RequestHost(String(repeating: "a.", count: 126) + "a.") != nil)
    }

    @Test func `the canonical form is in lower case without a final dot and can be parsed again`() throws {
        var random = Random(seed: 3)
        let pieces = [
            "a", "B", ".", "-", "_", ":", "1", "443", "[", "]", "::", "é", " ", "@", "%", "\u{0}", "f", "example",
        ]
        var read = 0
        for _ in 0..<20_000 {
            let text = (0..<random.below(7)).map { _ in random.pick(pieces) }.joined()
            guard let host = RequestHost(text) else { continue }
            read += 1
            #expect(RequestHost(host.text) == host, "\(text)")
            #expect(!host.name.hasSuffix(".") && host.name == host.name.lowercased(), "\(text)")
            #expect(RequestHost(text.uppercased()) == host, "\(text)")
        }
        #expect(read > 500)
    }
}
