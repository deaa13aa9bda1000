// SPDX-License-Identifier: Apache-2.0

import Bytes
import RealmKit
import SeededRandom
import Testing

@testable import SignIn

@Suite struct FormFieldsTests {
    /// Returns the fields, or the code of the error.
    private func read(_ bytes: some Collection<UInt8>) -> (fields: [String: [UInt8]], code: BadFields.Code?) {
        do throws(BadFields) {
            let form = try FormFields(Array(bytes).span)
            var fields: [String: [UInt8]] = [:]
            for name in form.values.keys {
                fields[name.string] = form.secret(name)?.withBytes { bytes in bytes.indices.map { bytes[$0] } }
            }
            return (fields, nil)
        } catch {
            return ([:], error.code)
        }
    }

    @Test(
        arguments: [
            ("", [:]), ("a=b", ["a": "b"]), ("a=b&c=d", ["a": "b", "c": "d"]), ("a", ["a": ""]), ("a=", ["a": ""]),
            ("=b", ["": "b"]), ("&&a=b&", ["a": "b"]), ("a=b=c", ["a": "b=c"]), ("a+b=c+d", ["a b": "c d"]),
            ("a=%2B%26%3d", ["a": "+&="]), ("n%61me=%c3%A9", ["name": "é"]), ("a=b;c=d", ["a": "b;c=d"]),
            ("a=%0D%0A", ["a": "\r\n"]), ("p=pässwört", ["p": "pässwört"]), ("a=%25", ["a": "%"]),
        ] as [(String, [String: String])]
    )
    func `form fields are decoded`(body: String, fields: [String: String]) {
        let read = read(body.utf8)
        #expect(read.code == nil)
        #expect(read.fields == fields.mapValues { Array($0.utf8) })
    }

    @Test(
        arguments: [
            ("a=%", .malformedPercent), ("a=%4", .malformedPercent), ("a=%4&b=c", .malformedPercent),
            ("a=%zz", .malformedPercent), ("a=% 1", .malformedPercent), ("a=%+1", .malformedPercent),
            ("%=a", .malformedPercent), ("a%=b", .malformedPercent), ("a=b&a=c", .repeated), ("a&%61", .repeated),
            ("a=%00", .nul), ("a=\u{0}", .nul), ("%00=a", .nul), ("%ff=a", .notUTF8), ("%c0%af=a", .notUTF8),
            ("%ed%a0%80=a", .notUTF8),
        ] as [(String, BadFields.Code)]
    )
    func `ambiguous form fields are rejected`(body: String, code: BadFields.Code) {
        #expect(read(body.utf8).code == code)
    }

    @Test func `at most 64 fields and 65,536 bytes are accepted`() {
        let names = (0..<64).map { "f\($0)=" }
        #expect(read(names.joined(separator: "&").utf8).fields.count == 64)
        #expect(read((names + ["g="]).joined(separator: "&").utf8).code == .tooMany)
        #expect(read([UInt8](repeating: UInt8(ascii: "a"), count: 65_536)).code == nil)
        #expect(read([UInt8](repeating: UInt8(ascii: "a"), count: 65_537)).code == .tooLong)
        #expect(read([UInt8](repeating: UInt8(ascii: "&"), count: 65_536)).fields == [:])
    }

    @Test func `a value that is not UTF-8 can be read as a secret but not as text`() throws {
        let form = try FormFields(Array("a=%ff&b=%c3%a9".utf8).span)
        #expect(form.secret("a")?.count == 1)
        #expect(throws: BadFields(.notUTF8, at: 0)) { try form.text("a") }
        #expect(try form.text("b") == "é")
        #expect(try form.text("c") == nil)
        #expect(form.secret("c") == nil)
    }

    @Test func `an error contains the position but no text of the form`() {
        #expect("\(BadFields(.nul, at: 4))" == "a NUL character, at byte 4")
        #expect(throws: BadFields(.malformedPercent, at: 0)) { try FormFields(Array("password=%zz".utf8).span) }
    }

    /// Encodes bytes for the test.
    ///
    /// Each byte is encoded randomly in one of its valid spellings.
    private func encode(_ bytes: [UInt8], _ random: inout Random) -> String {
        bytes.map { byte in
            let character = Character(Unicode.Scalar(byte))
            if byte == 0x20, random.below(2) == 0 { return "+" }
            if byte < 0x80, character.isLetter || character.isNumber, random.below(3) > 0 { return String(character) }
            let digits = String(byte, radix: 16, uppercase: random.below(2) == 0)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }

    @Test func `random encoded bytes are decoded to the same bytes`() {
        var random = Random(seed: 11)
        for _ in 0..<2000 {
            var fields: [String: [UInt8]] = [:]
            for _ in 0..<random.below(8) {
                let name = String((0..<random.below(6)).map { _ in random.pick(Array("aZ0 &=%+é€😀")) })
                fields[name] = random.bytes(random.below(20)).map { $0 == 0 ? 1 : $0 }
            }
            let body = fields.map { encode(Array($0.key.utf8), &random) + "=" + encode($0.value, &random) }
            #expect(read(body.joined(separator: "&").utf8).fields == fields)
        }
    }

    @Test func `random forms do not crash the parser, and no accepted value contains a NUL character`() {
        var random = Random(seed: 12)
        let alphabet = Array("ab=&%+0f \u{0}\u{7F}".utf8) + [0xC3, 0xA9, 0xFF]
        var (accepted, refused) = (0, 0)
        for round in 0..<20_000 {
            let count = random.below(40)
            let body = round % 2 == 0 ? random.bytes(count) : (0..<count).map { _ in random.pick(alphabet) }
            let read = read(body)
            if read.code == nil { accepted += 1 } else { refused += 1 }
            #expect(read.fields.values.allSatisfy { !$0.contains(0) })
        }
        #expect(accepted > 500 && refused > 500)
    }
}
