// SPDX-License-Identifier: Apache-2.0

import LoginConf
import SeededRandom
import Testing

/// Texts with passwords at any place, which messages must not show.
struct ConfidentialTextTests {
    /// The scanner must not fail at any text, and finds a value after its name whatever is before it and between them.
    @Test func `a password is hidden in texts of random pieces, and no text makes the search fail`() {
        let pieces = [
            "password", "token=", "key", "://", "@", "${", "}", "{", ";", "\"", "\\", "\\\"", "#", "//", "/*", "*/",
            "\n", "\r", " ", "\t",
            "=", ":", "a", "/etc/passwd", "${env:A}", "\u{E9}", "x.pem", "code", "https://",
        ]
        let names = [
            "db-password", "token", "client_secret", "bindpw", "pasword", "Authorization:", "apiKey", "//password",
        ]
        let signs = [
            " ", "\t", "=", ": ", " = ", " \"", "\u{A0}", "'", "\n", " # old\n", " /* old */ ", ":\"", "\u{FF1D}",
        ]
        var random = Random(seed: 20_261_126)
        for _ in 0..<5000 {
            func some() -> String { (0..<random.below(12)).map { _ in random.pick(pieces) }.joined() }
            let text = SourceText(name: "f", some() + "\n" + some())
            for _ in 0..<3 {
                let start = random.below(text.bytes.count + 1)
                let end = start + random.below(text.bytes.count + 1 - start)
                let message = String(decoding: text.bytes[start..<end], as: UTF8.self)
                let range = SourceRange(UInt32(start), UInt32(end))
                _ = text.error(at: range, message, hint: message).rendered
                let value = SourceRange(UInt32(end), UInt32(end + random.below(9)))
                let meant: String? = random.pick(["key", "password", "path", nil])
                _ = text.error(unknownName: range, message, meant: meant).rendered
                text.hideValue(ofUnknownName: range, at: value, meant: meant)
                text.hide(message, writtenAs: "${env:A}", at: range)
            }
            let before = some() + "\n"
            let name = random.pick(names)
            let sign = random.pick(signs)
            // A name in a comment does not have its value on the next line.
            if name.hasPrefix("//"), sign.contains("\n") { continue }
            let secret = "\(name)\(sign)hunter2\";"
            let known = SourceText(name: "f", before + secret + some())
            let place = before.utf8.count + name.utf8.count + sign.utf8.count + random.below(7)
            let shown = known.error(
                at: SourceRange(UInt32(place), UInt32(place + 1)),
                "not hunter2",
                hint: "write hunter2"
            ).rendered
            #expect(!shown.contains("hunter2"), "\(shown)\n\(before)\(secret)")
        }
    }
}
