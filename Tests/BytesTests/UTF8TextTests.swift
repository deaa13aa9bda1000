// SPDX-License-Identifier: Apache-2.0

import Bytes
import SeededRandom
import Testing

@Suite struct UTF8TextTests {
    @Test func `a composed and a decomposed accent are different texts`() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed, "String treats them as equal")
        #expect(UTF8Text(composed) != UTF8Text(decomposed))
        #expect(Set([UTF8Text(composed), UTF8Text(decomposed)]).count == 2)
        #expect(!composed.hasBytes(of: decomposed))
    }

    @Test func `texts are equal only if their bytes are equal, and equal texts have equal hashes`() {
        var random = Random(seed: 1)
        let alphabet = ["a", "b", "\u{301}", "\u{323}", "\u{E9}", "e", "\u{1F600}", "\0"]
        func text() -> String { (0..<random.below(4)).map { _ in random.pick(alphabet) }.joined() }
        for _ in 0..<5000 {
            let (first, second) = (text(), text())
            let isSame = Array(first.utf8) == Array(second.utf8)
            #expect((UTF8Text(first) == UTF8Text(second)) == isSame)
            if isSame { #expect(UTF8Text(first).hashValue == UTF8Text(second).hashValue) }
        }
    }

    @Test(arguments: ["\0", "\t", "\u{1F}", "\u{7F}", "\u{85}", "\u{9F}", "\u{2028}", "\u{2029}"])
    func `control characters are found`(character: String) {
        #expect("a\(character)b".containsControlCharacter)
        #expect("a\(character)b".utf8Span.span.containsNUL == (character == "\0"))
    }

    @Test func `other characters are no control characters`() {
        #expect(!"a b \u{20}~\u{A0}\u{E9}\u{200F}\u{1F600}".containsControlCharacter)
        #expect(!"".containsControlCharacter)
    }

    @Test func `a text can be created from a literal`() {
        let text: UTF8Text = "step"
        switch text {
        case "step": break
        default: Issue.record("\(text.string) is not step")
        }
        #expect(text.count == 4 && !text.isEmpty && UTF8Text("").isEmpty)
    }

    @Test(
        arguments: [[], [0x61], [0xC3, 0xA9], [0xFF], [0x61, 0xCC], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]]
    )
    func `one initializer repairs invalid UTF-8, the other initializer rejects it`(bytes: [UInt8]) {
        #expect(UTF8Text(repairing: bytes.span).string == String(decoding: bytes, as: UTF8.self))
        #expect(UTF8Text(validating: bytes.span)?.string == String(validating: bytes, as: UTF8.self))
    }
}
