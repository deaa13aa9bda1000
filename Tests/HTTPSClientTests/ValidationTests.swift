// SPDX-License-Identifier: Apache-2.0

import HTTPSClient
import OpenSSLKit
import RealmKit
import SeededRandom
import Testing

struct ValidationTests {
    @Test(arguments: [
        ("https://example.com", "example.com", 443, "/"),
        ("HTTPS://Example.COM/a/b?c=d", "example.com", 443, "/a/b?c=d"),
        ("https://localhost:8443?x", "localhost", 8443, "/?x"),
        ("https://127.0.0.1:1/", "127.0.0.1", 1, "/"),
        ("https://[::1]:65535/%2F", "::1", 65_535, "/%2F"),
    ])
    func `URLs that are accepted`(text: String, host: String, port: Int, target: String) throws {
        let url = try HTTPSURL(text)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.target == target)
        #expect(try HTTPSURL(url.description) == url)
    }

    @Test(arguments: [
        "", "https://", "https:///a", "http://example.com/", "example.com", "https://user@example.com/",
        "https://user:pass@example.com/", "https://example.com:0/", "https://example.com:65536/",
        "https://example.com:/",
        "https://example.com:08/", "https://example.com/#a", "https://example.com/a b", "https://example.com/\u{e9}",
        "https://example.com/\r\nX: y", "https://example.com/%", "https://example.com/%4", "https://example.com/%zz",
        "https://-a.com/", "https://a-.com/", "https://a..com/", "https://a.com./", "https://a_b.com/", "https://[::1/",
        "https://[1.2.3.4]/", "https://[fe80::1%25eth0]/", "https://1.2.3/", "https://0x7f.1/", "https://2130706433/",
        "https://256.1.1.1/", "https://01.2.3.4/", "https://example.com\\@evil.com/", "https://example.com/../a",
        "https://example.com/a/./b", "https://example.com/a\"b", "https://exam\u{0}ple.com/", "https:/example.com/",
        "https://*.example.com/",
    ])
    func `URLs that are rejected`(text: String) {
        #expect(throws: HTTPSClientError.self) { try HTTPSURL(text) }
    }

    @Test func `a URL that is too long is rejected`() throws {
        let base = "https://example.com/"
        let rest = HTTPSURL.maximumBytes - base.utf8.count
        _ = try HTTPSURL(base + String(repeating: "a", count: rest))
        #expect(throws: HTTPSClientError.self) { try HTTPSURL(base + String(repeating: "a", count: rest + 1)) }
    }

    @Test func `random URLs are rejected, or read the same again`() {
        var random = Random(seed: 13)
        let pieces = [
            "https://", "http://", "localhost", "127.0.0.1", "[::1]", ":", "443", "/", "?", "#", "@", "%", "%41", "..",
            ".", "\\",
            "a", "\r\n", " ", "\u{0}", "\u{e9}", "[", "]", "*", "-", "xn--a", "0x7f", ":0", ":99999",
        ]
        var accepted = 0
        for _ in 0..<50_000 {
            let text =
                (random.below(4) > 0 ? "https://" : "")
                + (0..<random.below(7)).map { _ in random.pick(pieces) }.joined()
            guard let url = try? HTTPSURL(text) else { continue }
            accepted += 1
            #expect((try? HTTPSURL(url.description)) == url)
            #expect(url.target.utf8.allSatisfy { (0x21..<0x7F).contains($0) })
            #expect(url.authority.utf8.allSatisfy { (0x21..<0x7F).contains($0) })
        }
        #expect(accepted > 1000)
    }

    @Test(arguments: ["", "GET /", "G\r\nET", "CONNECT", "G\u{e9}T"])
    func `invalid methods are rejected`(method: String) throws {
        let url = try HTTPSURL("https://localhost/")
        #expect(throws: HTTPSClientError.self) { try HTTPSRequest(method, url) }
    }

    @Test(arguments: [
        ("X", "a\r\nY: b"), ("X", "a\nb"), ("X", "a\u{0}b"), ("X", "a\u{7F}"), ("X Y", "a"), ("X:", "a"), ("", "a"),
        ("X\r\nY", "a"), ("Host", "a"), ("content-length", "1"), ("Transfer-Encoding", "chunked"),
        ("Connection", "close"),
        ("Accept-Encoding", "gzip"), ("Expect", "100-continue"), ("X", String(repeating: "a", count: 8193)),
    ])
    func `fields that would change the message are rejected`(name: String, value: String) throws {
        var request = try HTTPSRequest("GET", HTTPSURL("https://localhost/"))
        #expect(throws: HTTPSClientError.self) { try request.addField(name, value: value) }
        #expect(throws: HTTPSClientError.self) { try request.addField(name, secret: Secret(utf8: value)) }
        #expect(throws: HTTPSClientError.self) {
            var configuration = HTTPSClientConfiguration(trust: .system)
            configuration.userAgent = "a\r\nX: y"
            _ = try HTTPSClient(configuration)
        }
    }

    @Test func `a request prints no secret`() throws {
        var request = try HTTPSRequest("GET", HTTPSURL("https://localhost/"), body: Secret(utf8: "sesame"))
        try request.addField("Authorization", prefix: "Basic ", secret: Secret(utf8: "sesame"))
        #expect(!"\(request)".contains("sesame"))
    }
}
