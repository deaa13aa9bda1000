// SPDX-License-Identifier: Apache-2.0

/// Names and secrets that a realm must not pass on unchecked.
enum HostileInput {
    /// Names and parts of names that mean something to a program, a language or a protocol.
    static let texts: [String] =
        options + directories + databases + shells + templates + paths + documents + characters

    private static let options = ["-", "--", "-s", "--help", "-rf", "--user=root", "-oProxyCommand=id", "+x", "@file"]

    /// Filters and names of LDAP (RFC 4515, RFC 4514).
    private static let directories = [
        "*", "a*", "*)(uid=*", "*)(|(objectClass=*)", "*))%00", "admin)(&)", "(|(uid=*))", "\\2a", "\\", "\\00",
        "cn=admin,dc=example,dc=org", "ann,ou=people", "ann+cn=x", "#04024869", "\"ann\"", "ann;x",
    ]

    /// SQL and other query languages.
    private static let databases = [
        "' OR '1'='1", "' OR 1=1 --", "\" OR \"\"=\"", "admin'--", "admin'/*", "'; DROP TABLE users; --", "1; SELECT 1",
        "') OR ('1'='1", "' UNION SELECT 'x', 'y' --", "%", "_", "''", "'", "\"", "{\"$ne\": null}", "[$ne]=1",
        "true, true", "x' AND SLEEP(0) AND 'x'='x", "$$", "?", ":1", "NULL",
    ]

    private static let shells = [
        "$(id)", "`id`", "; id", "| id", "&& id", "|| true", "& id &", "> out", "< in", "$HOME", "${IFS}", "~", "~root",
        "!ann", "!!", "#", "a b", "*?[a-z]", "{a,b}", "=id", "\\n",
    ]

    /// Format strings and templates.
    private static let templates = [
        "%s", "%s%s%s%s%n", "%n", "%x", "%1$s", "%@", "%00", "%0a", "%0d%0aSet-Cookie: a=b", "%u0027", "{0}", "{{7*7}}",
        "${7*7}", "${jndi:ldap://127.0.0.1/a}", "<%= 1 %>", "#{1}", "__proto__", "constructor",
    ]

    private static let paths = [
        ".", "..", "/", "//", "../../etc/passwd", "/etc/passwd", "..\\..\\x", "%2e%2e%2f", "file:///etc/passwd",
        "http://127.0.0.1/", "a@b", "a@127.0.0.1", "a:b", ":", "a:", "DOMAIN\\ann", "ann@EXAMPLE.ORG", "ann%example",
    ]

    /// JSON, XML, HTTP and files with lines.
    private static let documents = [
        "{}", "[]", "null", "true", "0", "-1", "NaN", "\",\"user\":\"ann", "\"}", "{\"user\":\"ann\"}", "\\u0000",
        "\\u0022", "<a>", "&amp;", "&lt;", "<!--", "]]>", "<?xml", "<!DOCTYPE a>", "<script>", "Basic YTpi",
        "a, b", "a=b; c=d", "a\\r\\nb", "ann,bob", "ann;bob", "ann:x:0:0", "root", "nobody", "anonymous", "admin",
        "*:*",
        "undefined", "=1+1",
    ]

    /// Characters that look like others, change the order of a text or are not visible.
    private static let characters = [
        "\u{200B}ann", "a\u{200D}nn", "\u{202E}nna", "\u{FEFF}ann", "ann\u{AD}", "a\u{A0}b", "e\u{301}", "\u{E9}",
        "\u{212A}", "\u{17F}", "\u{131}", "\u{130}", "\u{DF}", "\u{FF41}nn", "\u{430}nn", "\u{1F600}", "\u{10FFFF}",
        "\u{FFFD}", "\u{E000}", "a\u{300}\u{301}\u{302}\u{303}\u{304}",
    ]

    /// Names of the maximum length, in one, two and four bytes for a character.
    static let longNames = [
        String(repeating: "a", count: 1024), String(repeating: "\u{E9}", count: 512),
        String(repeating: "\u{1F600}", count: 256), String(repeating: "*", count: 1024),
        String(repeating: "(", count: 1024), String(repeating: "%00", count: 341),
    ]

    /// Bytes that are not UTF-8, or that end or separate texts.
    static let bytes: [[UInt8]] =
        [
            [0], [0, 0], [0x0A], [0x0D], [0x0D, 0x0A], [0x1B, 0x5B, 0x41], [0x7F], [0x80], [0xFF], [0xFE, 0xFF],
            [0xEF, 0xBB, 0xBF], [0xC0, 0x80], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC2, 0x80],
            [0xE2, 0x80, 0xA8], [0x20], [0x09], Array(0...255),
        ] + (1..<32).map { [UInt8($0)] }

    /// The lengths of long secrets, around usual limits.
    static let lengths = [
        71, 72, 73, 127, 128, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 65537,
    ]

    /// Returns other spellings of a name: another case, and characters that are or look equivalent.
    static func spellings(of name: String) -> [String] {
        let pairs: [(String, String)] = [
            ("K", "\u{212A}"), ("k", "\u{212A}"), ("s", "\u{17F}"), ("i", "\u{131}"), ("I", "\u{130}"),
            ("a", "\u{FF41}"), ("a", "\u{430}"), ("ss", "\u{DF}"), ("\u{E9}", "e\u{301}"), ("e\u{301}", "\u{E9}"),
            ("\u{E4}", "a\u{308}"), ("\u{F6}", "o\u{308}"), ("\u{FC}", "u\u{308}"), ("\u{E5}", "\u{212B}"),
        ]
        var spellings = [name.uppercased(), name.lowercased(), name.prefix(1).uppercased() + name.dropFirst()]
        for (from, to) in pairs {
            if let place = name.utf8.firstRange(of: from.utf8) {
                spellings.append(name[..<place.lowerBound] + to + name[place.upperBound...])
            }
        }
        for added in ["\u{200B}", "\u{AD}", "\u{FE0F}", "\u{301}", "."] { spellings.append(name + added) }
        return spellings.filter { !$0.utf8.elementsEqual(name.utf8) }
    }

    /// Returns secrets that contain the right password, or are nearly the right password.
    static func near(_ right: [UInt8]) -> [(label: String, secret: [UInt8])] {
        var flipped = right
        if let last = right.indices.last { flipped[last] ^= 1 }
        let text = String(decoding: right, as: UTF8.self)
        return [
            ("a zero byte after it", right + [0]), ("a zero byte and a letter after it", right + [0, 0x61]),
            ("a zero byte before it", [0] + right), ("a line end after it", right + [0x0A]),
            ("CR LF after it", right + [0x0D, 0x0A]), ("a line before it", [0x61, 0x0A] + right),
            ("a blank after it", right + [0x20]), ("a blank before it", [0x20] + right),
            ("a tab after it", right + [0x09]), ("a letter after it", right + [0x61]),
            ("a byte that is not UTF-8 after it", right + [0xFF]),
            ("a byte order mark before it", [0xEF, 0xBB, 0xBF] + right),
            ("its last byte missing", Array(right.dropLast())), ("its first byte missing", Array(right.dropFirst())),
            ("its last bit changed", flipped), ("the password twice", right + right),
            ("another case", Array(text.uppercased().utf8)), ("lower case", Array(text.lowercased().utf8)),
            ("a colon and a letter after it", right + [0x3A, 0x61]), ("an asterisk after it", right + [0x2A]),
        ].filter { $0.1 != right }
    }
}

/// A random number generator with a seed, and random input (SplitMix64).
struct RandomNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    /// Returns one to three parts of the given texts, joined, sometimes with a random character.
    mutating func text(from texts: [String]) -> String {
        var text = ""
        for _ in 0...Int.random(in: 0..<3, using: &self) {
            guard let part = texts.randomElement(using: &self) else { continue }
            text += Bool.random(using: &self) ? part : String(part.prefix(Int.random(in: 0...8, using: &self)))
            if let scalar = Unicode.Scalar(UInt32.random(in: 0x20...0x2FFF, using: &self)), Bool.random(using: &self) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Returns a secret that is random, or the given secret with a random change.
    mutating func secret(near right: [UInt8]) -> [UInt8] {
        var secret = right
        switch Int.random(in: 0..<5, using: &self) {
        case 0: return bytes(Int.random(in: 0...300, using: &self))
        case 1: secret.append(contentsOf: bytes(Int.random(in: 1...9, using: &self)))
        case 2: secret.insert(contentsOf: bytes(1), at: Int.random(in: 0...secret.count, using: &self))
        case 3: secret.removeLast(Int.random(in: 0...secret.count, using: &self))
        default:
            guard let index = secret.indices.randomElement(using: &self) else { return bytes(8) }
            secret[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        }
        return secret
    }
}
