// SPDX-License-Identifier: Apache-2.0

/// Requests and the status with which the parser rejects them; 200 for a request that it accepts.
///
/// Sources: RFC 9112, RFC 9110, and known cases in which two programs have read one request differently.
enum RequestHeadCases {
    typealias Case = (request: String, status: Int)

    private static func get(_ fields: String..., target: String = "/") -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// Returns requests in which each of the bytes replaces the `@` of a template.
    private static func with(_ bytes: [UInt8], _ template: String) -> [Case] {
        bytes.map { byte in
            (template.replacing("@", with: String(UnicodeScalar(byte))), 400)
        }
    }

    private static let controls = (UInt8(0)...0x1F).filter { $0 != 9 } + [0x7F]

    static let lengths: [Case] = [
        (get("Content-Length: 5"), 200), (get("Content-Length: 0"), 200), (get("Content-Length: 005"), 200),
        (get("Content-Length:5"), 200), (get("content-LENGTH: \t5 \t"), 200),
        (get("Content-Length: 5", "Content-Length: 5"), 400), (get("Content-Length: 5", "Content-Length: 6"), 400),
        (get("Content-Length: 5", "content-length: 5"), 400),
        (get("Content-Length: 5, 5"), 400), (get("Content-Length: 5,"), 400), (get("Content-Length: +5"), 400),
        (get("Content-Length: -5"), 400), (get("Content-Length: -0"), 400), (get("Content-Length: 5 5"), 400),
        (get("Content-Length: "), 400), (get("Content-Length:"), 400), (get("Content-Length: 5x"), 400),
        (get("Content-Length: 0x5"), 400), (get("Content-Length: 5.0"), 400), (get("Content-Length: 1e1"), 400),
        (get("Content-Length: \"5\""), 400), (get("Content-Length: \u{665}"), 400),
        (get("Content-Length: \u{FF15}"), 400), (get("Content-Length: five"), 400),
        (get("Content-Length: 9223372036854775808"), 400), (get("Content-Length: 18446744073709551617"), 400),
        (get("Content-Length: 340282366920938463463374607431768211456"), 400),
        (get("Content-Length: 00000000000000000000000000000000000000005"), 400),
    ]

    static let codings: [Case] = [
        (get("Transfer-Encoding: chunked"), 200), (get("transfer-encoding:CHUNKED"), 200),
        (get("Transfer-Encoding: \t chunked\t "), 200),
        (get("Content-Length: 5", "Transfer-Encoding: chunked"), 400),
        (get("Transfer-Encoding: chunked", "Content-Length: 5"), 400),
        (get("Transfer-Encoding: chunked", "Content-Length: 0"), 400),
        (get("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), 400),
        (get("Transfer-Encoding: identity", "Transfer-Encoding: chunked"), 400),
        (get("Transfer-Encoding: chunked", "Transfer-Encoding: identity"), 400),
        (get("Transfer-Encoding: chunked, chunked"), 400), (get("Transfer-Encoding: gzip, chunked"), 400),
        (get("Transfer-Encoding: chunked, gzip"), 400), (get("Transfer-Encoding: identity"), 400),
        (get("Transfer-Encoding: x chunked"), 400), (get("Transfer-Encoding: chunked x"), 400),
        (get("Transfer-Encoding: xchunked"), 400), (get("Transfer-Encoding: chunkedx"), 400),
        (get("Transfer-Encoding: chunked;q=1"), 400), (get("Transfer-Encoding: ,chunked"), 400),
        (get("Transfer-Encoding: chunked,"), 400), (get("Transfer-Encoding: \"chunked\""), 400),
        (get("Transfer-Encoding: 'chunked'"), 400), (get("Transfer-Encoding: chun\tked"), 400),
        (get("Transfer-Encoding:"), 400), (get("Transfer-Encoding: cow"), 400),
        (get("Transfer-Encoding: \u{0B}chunked"), 400), (get("Transfer-Encoding: chunked\u{0B}"), 400),
        (get("Transfer-Encoding: \u{0C}chunked"), 400), (get("Transfer-Encoding: chunked\u{0}"), 400),
        (get("Transfer-Encoding: chun\u{212A}ed"), 400), (get("Transfer-Encoding: \u{A0}chunked"), 400),
        (get("Transfer-Encoding : chunked"), 400), (get("Transfer-Encoding\t: chunked"), 400),
        (get(" Transfer-Encoding: chunked"), 400), (get("X: y\r\n Transfer-Encoding: chunked"), 400),
        (get("Transfer-Encoding:\r\n chunked"), 400), (get("X: y\rTransfer-Encoding: chunked"), 400),
        (get("X: y\nTransfer-Encoding: chunked"), 400), (get("Transfer\u{0}-Encoding: chunked"), 400),
        (get("X: \u{0}", "Transfer-Encoding: chunked"), 400),
        ("GET / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        // Fields with other names are accepted, and do not change the length of the body.
        (get("Transfer_Encoding: chunked"), 200), (get("X-Transfer-Encoding: chunked"), 200),
        (get("TE: chunked"), 200), (get("Content_Length: 5"), 200),
    ]

    static let lines: [Case] =
        [
            (get("X: y\r\n z"), 400), (get("X: y\r\n\tz"), 400), (get("X:\r\n y"), 400), ("\r\n" + get(), 200),
            ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\tX: y\r\nHost: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/1.1\r\nHost: a\n\r\n", 400),
            ("GET / HTTP/1.1\nHost: a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\n\n", 400),
            ("GET / HTTP/1.1\rHost: a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", 400), (get("X: a\rb"), 400), (get("X: a\r"), 400),
            (get("X: \r"), 400), (get("X\r: a"), 400), (get("X : a"), 400), (get("X\t: a"), 400), (get(": a"), 400),
            (get(":"), 400), (get("X"), 400), (get("X y: a"), 400), (get("X:"), 200), (get("X:\t "), 200),
            (get("X:y:z"), 200), (get("X: \u{E9}"), 200), (get("X: a\tb"), 200), (get("\u{E9}: a"), 400),
            (get("(X): a"), 400), (get("X[0]: a"), 400), (get("\"X\": a"), 400), (get("X/Y: a"), 400),
            (get("X@Y: a"), 400), (get("X;Y: a"), 400), (get("X\\: a"), 400), (get("{X}: a"), 400),
            (get("!#$%&'*+-.^_`|~09AZaz: a"), 200), ("\n" + get(), 400), ("\r\n\r\n" + get(), 400), ("\r" + get(), 400),
            (" " + get(), 400), ("\u{0}" + get(), 400), ("\u{FEFF}" + get(), 400),
        ] + with(controls, "GET / HTTP/1.1\r\nHost: a\r\nX@: y\r\n\r\n")
        + with(controls.filter { $0 != 10 && $0 != 13 }, "GET / HTTP/1.1\r\nHost: a\r\nX: @\r\n\r\n")
        + with(controls.filter { $0 != 10 && $0 != 13 }, "GET / HTTP/1.1\r\nHost: a@\r\n\r\n")

    static let hosts: [Case] =
        [
            ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.0\r\n\r\n", 200),
            ("GET / HTTP/1.0\r\nHost: a\r\n\r\n", 200),
            (get("Host: a"), 400), (get("host: b"), 400), ("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", 400),
        ]
        + [
            "a:0", "a.b", "a:443", "a-b.c_d~e:8443", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:443", "[fe80::1:2]",
            "A.EXAMPLE", "a.", "a:65535", "a:",
        ].map { ("GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n", 200) }
        + [
            "", " ", "user@a", "user:pw@a", "a b", "a,b", "a/b", "a?b", "a#b", "a\\b", "a\tb", "a:b", "a:1:2", "a:-1",
            "a:+1", "a: 1", "a:123456", "a:65536", ":443", "[::1", "::1", "[::1]x", "[::1]443", "[]", "[g::1]",
            "[::1%eth0]", "[v1.a]", "%61", "a%00", "\u{E9}", "http://a", "a;b", "<a>", "a\"", "a'", "*", "a|b", "a^",
        ].map { ("GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n", 400) }
        + [
            ("GET / HTTP/1.0\r\nHost: user@a\r\n\r\n", 400), ("GET / HTTP/1.0\r\nHost:\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: " + String(repeating: "a", count: 300) + "\r\n\r\n", 200),
            ("GET / HTTP/1.1\r\nHost: " + String(repeating: "a", count: 301) + "\r\n\r\n", 400),
        ]

    static let targets: [Case] =
        [
            (get(target: "/a?b=c"), 200), (get(target: "//a"), 200), (get(target: "/%00"), 200),
            (get(target: "https://a/"), 200), (get(target: "https://A/x"), 200), (get(target: "HTTPS://a"), 200),
            (get(target: "http://a?x"), 200), (get(target: "https://b/"), 400), (get(target: "https://a:443/"), 400),
            (get(target: "https://a.b/"), 400), (get(target: "https://user@a/"), 400),
            (get(target: "https://a@b/"), 400),
            (get(target: "https:///"), 400), (get(target: "https://"), 400), (get(target: "https:/a/"), 400),
            (get(target: "ftp://a/"), 400), (get(target: "a"), 400), (get(target: "a:443"), 400),
            (get(target: "?x"), 400),
            (get(target: "https://a\\b/"), 400), (get(target: "*"), 400), (get(target: "/a#b"), 400),
            (get(target: "/#"), 400), (get(target: "https://a/#b"), 400), (get(target: "/\u{E9}"), 400),
            (get(target: "/\u{7F}"), 400), (get(target: "/a b"), 400), (get(target: "/a\tb"), 400),
            (get(target: "/a\u{0}b"), 400), (get(target: ""), 400), (get(target: " /"), 400), (get(target: "/ "), 400),
            (get(target: "\t/"), 400), (get(target: "/\u{0B}"), 400), (get(target: "/\u{A0}"), 400),
            ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 200), ("OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 400), ("CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n", 200),
            ("GET https://b/ HTTP/1.0\r\n\r\n", 200), ("GET https://b/ HTTP/1.0\r\nHost: a\r\n\r\n", 400),
            ("GET https://u@b/ HTTP/1.0\r\n\r\n", 400),
        ]

    static let starts: [Case] =
        [
            ("HTTP/1.2", 505), ("HTTP/2.0", 505), ("HTTP/0.9", 505), ("HTTP/3.0", 505), ("HTTP/1.9", 505),
            ("http/1.1", 400), ("Http/1.1", 400), ("HTTP/1.1 ", 400), (" HTTP/1.1", 400), ("HTTP/1.1x", 400),
            ("HTTP/1.", 400), ("HTTP/11", 400), ("HTTP/1.10", 400), ("HTTP/01.1", 400), ("HTTP/1,1", 400),
            ("HTTP 1.1", 400), ("HTTP/+.1", 400), ("HTTP/1.\u{661}", 400), ("HTTPS/1.1", 400), ("ICY/1.1x", 400),
            ("", 400), ("HTTP/1.1\t", 400), ("\tHTTP/1.1", 400), ("HTTP\u{0}1.1", 400), ("HTTP/1.1\u{0}", 400),
        ].map { ("GET / \($0.0)\r\nHost: a\r\n\r\n", $0.1) }
        + [
            ("GET /\r\nHost: a\r\n\r\n", 400), ("GET\r\nHost: a\r\n\r\n", 400), ("GET \r\n\r\n", 400),
            ("GET /\r\n\r\n", 400),
            ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /\tHTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("G\u{0}T / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("\u{E9} / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("get / HTTP/1.1\r\nHost: a\r\n\r\n", 200),
            ("M!#$%&'*+-.^_`|~0 / HTTP/1.1\r\nHost: a\r\n\r\n", 200), (" / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            (String(repeating: "M", count: 32) + " / HTTP/1.1\r\nHost: a\r\n\r\n", 200),
            (String(repeating: "M", count: 33) + " / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505), ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", 400),
            ("SSH-2.0-x\r\n\r\n", 400), ("EHLO a\r\n\r\n", 400),
        ]

    static let expectations: [Case] = [
        (get("Expect: 100-continue"), 200), (get("expect: 100-CONTINUE"), 200), (get("Expect: 200-ok"), 417),
        (get("Expect:"), 417), (get("Expect: 100-continue, x"), 417), (get("Expect: 100-continue", "Expect: x"), 417),
    ]

    static let all: [Case] = lengths + codings + lines + hosts + targets + starts + expectations
}
