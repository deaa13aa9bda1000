// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import SeededRandom
import Testing

struct Base64Tests {
    /// Decodes into memory of the caller, as for a secret.
    private func decoded(_ text: [UInt8]) -> [UInt8]? {
        var isValid = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Base64.maximumByteCount(ofLength: text.count)) {
            var output = unsafe OutputSpan(buffer: $0, initializedCount: 0)
            isValid = Base64.padded.decode(text.span, into: &output)
            unsafe $1 = output.finalize(for: $0)
        }
        return isValid ? bytes : nil
    }

    @Test func `Base64 of Foundation is decoded, and invalid text is rejected`() {
        var random = SystemRandomNumberGenerator()
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = Array(Data(bytes).base64EncodedString().utf8)
            #expect(decoded(text) == bytes)
            guard let place = text.indices.randomElement() else { continue }
            var mutated = text
            mutated[place] = UInt8.random(in: 0...255, using: &random)
            if let decoded = decoded(mutated) {
                #expect(Array(Data(decoded).base64EncodedString().utf8) == mutated)
            }
        }
    }

    @Test func `the examples of RFC 4648 are encoded in the URL alphabet`() {
        let known = [
            "": "", "f": "Zg", "fo": "Zm8", "foo": "Zm9v", "foob": "Zm9vYg", "fooba": "Zm9vYmE", "foobar": "Zm9vYmFy",
        ]
        for (bytes, text) in known { #expect(Base64.url.encode(bytes.utf8Span.span) == text) }
        #expect(Base64.url.encode(([0xFB, 0xFF, 0xBF] as [UInt8]).span) == "-_-_")
    }

    @Test(arguments: 0..<20)
    func `a text is decoded only if its bytes encode to the same text`(seed: UInt64) {
        var random = Random(seed: seed)
        let alphabet = Array("ABCXYZabcxyz0189-_+/= ".utf8)
        for _ in 0..<500 {
            let length = random.below(40)
            var bytes = random.bytes(length)
            var text = Array(Base64.url.encode(bytes.span).utf8)
            if !text.isEmpty, random.below(2) == 0 { text[random.below(text.count)] = random.pick(alphabet) }
            if random.below(5) == 0 { text.append(random.pick(alphabet)) }
            var span = bytes.mutableSpan
            if Base64.url.decode(text.span, filling: &span) {
                #expect(Array(Base64.url.encode(bytes.span).utf8) == text)
            } else {
                #expect(Array(Base64.url.encode(bytes.span).utf8) != text || text.count != (length * 8 + 5) / 6)
            }
        }
    }

    static let alphabets = [
        (Base64.padded, "+/8=", "+_8="), (.unpadded, "+/8", "+/8="), (.url, "-_8", "-/8"), (.dotted, "./8", "+/8"),
    ]

    @Test(arguments: alphabets)
    func `each alphabet decodes only its own characters and padding`(base64: Base64, text: String, other: String) {
        let bytes: [UInt8] = [0xFB, 0xFF]
        #expect(base64.encode(bytes.span) == text)
        #expect(base64.decode(text) == bytes)
        #expect(base64.decode(other) == nil)
    }

    @Test(
        arguments: [
            // Pad bits that are not zero.
            (Base64.padded, "Zh=="), (.padded, "Zm9="), (.unpadded, "Zh"), (.unpadded, "Zm9"), (.url, "Zh"),
            (.dotted, "Zh"),
            // Padding that is missing, too long, at the beginning, or followed by other text.
            (.padded, "Zg"), (.padded, "Zg="), (.padded, "Zg==="), (.padded, "===="), (.padded, "Z==="),
            (.padded, "=Zg="),
            (.padded, "Zg==Zg=="), (.padded, "Zm9vZg==A"), (.unpadded, "Zg=="), (.url, "Zg=="),
            // A single character, blanks, a line end, a character that is not ASCII.
            (.unpadded, "Z"), (.unpadded, "Zm9vZ"), (.padded, " Zg="), (.padded, "Zm9v\n"), (.unpadded, "Zm9v "),
            (.url, "Zgä"),
        ]
    )
    func `a text that another decoder might read differently is rejected`(base64: Base64, text: String) {
        #expect(base64.decode(text) == nil)
    }

    @Test func `a text is rejected if its bytes do not fill the memory exactly`() {
        var bytes: [UInt8] = [1, 2]
        var span = bytes.mutableSpan
        #expect(!Base64.unpadded.decode("Zm9v".utf8Span.span, filling: &span))
        #expect(!Base64.unpadded.decode("Zg".utf8Span.span, filling: &span))
        #expect(Base64.unpadded.decode("Zm8".utf8Span.span, filling: &span))
        #expect(bytes == Array("fo".utf8))
    }
}
