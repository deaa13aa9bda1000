// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import SeededRandom
import Testing

@testable import AccessControl
@testable import SignIn

/// The value of a field, in a form that tests can compare.
private enum Plain: Equatable {
    case string(String)
    case strings([String])
    case boolean(Bool)
    case integer(Int)
    case null

    /// Compares bytes, because `String` treats the two encodings of an accented letter as equal.
    static func == (left: Plain, right: Plain) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): Array(left.utf8) == Array(right.utf8)
        case (.strings(let left), .strings(let right)): left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.null, .null): true
        case (.string, _), (.strings, _), (.boolean, _), (.integer, _), (.null, _): false
        }
    }

    var json: JSONValue {
        switch self {
        case .string(let text): .text(text)
        case .strings(let texts): .texts(texts)
        case .boolean(let value): .boolean(value)
        case .integer(let number): .number(number)
        case .null: .null
        }
    }

    /// The value of a field that Foundation has parsed; nil if `JSONFields` does not support it.
    init?(_ value: Any) {
        switch value {
        case is NSNull: self = .null
        case let text as String: self = .string(text)
        case let texts as [String]: self = .strings(texts)
        case let value as Bool: self = .boolean(value)
        case let number as Int where number >= 0: self = .integer(number)
        default: return nil
        }
    }
}

@Suite struct JSONFieldsTests {
    private func read(_ bytes: [UInt8]) -> (fields: [String: Plain]?, code: BadFields.Code?) {
        do throws(BadFields) {
            let json = try JSONFields(bytes.span)
            var fields: [String: Plain] = [:]
            for (name, value) in json.values {
                switch value {
                case .string: fields[name.string] = json.text(name).map { .string($0.string) }
                case .strings(let texts): fields[name.string] = .strings(texts.compactMap(\.utf8Text?.string))
                case .boolean(let value): fields[name.string] = .boolean(value)
                // Foundation does not distinguish 0 and 1 from Booleans.
                case .integer(let number): fields[name.string] = number > 1 ? .integer(number) : .boolean(number == 1)
                case .null: fields[name.string] = .null
                }
            }
            return (fields, nil)
        } catch {
            return (nil, error.code)
        }
    }

    private func foundation(_ bytes: [UInt8]) -> [String: Plain]? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else { return nil }
        let fields = object.compactMapValues { Plain($0) }
        return fields.count == object.count ? fields : nil
    }

    @Test(
        arguments: [
            ("{}", [:]), (" \t\r\n{ } \n", [:]), (#"{"a":"b"}"#, ["a": .string("b")]),
            (
                #"{ "a" : "b" , "c" : [ "d" , "e" ] , "f" : true,"g":false,"h":null,"i":[]}"#,
                [
                    "a": .string("b"), "c": .strings(["d", "e"]), "f": .boolean(true), "g": .boolean(false), "h": .null,
                    "i": .strings([]),
                ]
            ),
            (#"{"a":"\"\\\/\b\f\n\r\t\u00e9\u20AC\ud83d\ude00"}"#, ["a": .string("\"\\/\u{8}\u{C}\n\r\té€😀")]),
            (#"{"a":2,"b":0,"c": 999999999 }"#, ["a": .integer(2), "b": .boolean(false), "c": .integer(999_999_999)]),
            (#"{"":""}"#, ["": .string("")]), (#"{"\u0061":"é\#u{7F}"}"#, ["a": .string("é\u{7F}")]),
            (#"{"a":"\uFFFF\u0001"}"#, ["a": .string("\u{FFFF}\u{1}")]),
        ] as [(String, [String: Plain])]
    )
    private func `objects are parsed to the same values as by Foundation`(text: String, fields: [String: Plain]) {
        #expect(read(Array(text.utf8)).fields == fields)
        #expect(foundation(Array(text.utf8)) == fields)
    }

    @Test(
        arguments: [
            ("", .syntax), ("[]", .syntax), ("null", .syntax), ("\"a\"", .syntax), ("{", .syntax), ("}", .syntax),
            (#"{"a"}"#, .syntax), (#"{"a":}"#, .syntax), (#"{"a":"b"}}"#, .syntax), (#"{"a":"b"} x"#, .syntax),
            (#"{"a":"b",}"#, .syntax), (#"{,"a":"b"}"#, .syntax), (#"{"a":"b""c":"d"}"#, .syntax),
            (#"{"a":["b",]}"#, .syntax), (#"{"a":["b" "c"]}"#, .syntax), (#"{"a":["b"}"#, .syntax),
            (#"{"a":tru}"#, .syntax), (#"{"a":True}"#, .syntax), (#"{"a":truex}"#, .syntax), (#"{"a":nul"#, .syntax),
            (#"{a:"b"}"#, .syntax), ("{'a':'b'}", .syntax), (#"{"a":"b"/**/}"#, .syntax), (#"{"a":"b}"#, .syntax),
            (#"{"a":"b\"#, .syntax), (#"{"a":"b\""#, .syntax), ("\u{FEFF}{}", .syntax), ("{}\u{0}", .syntax),
            ("{\u{C}}", .syntax), ("{\u{A0}}", .syntax), (#"{"a":NaN}"#, .syntax), (#"{"a":+1}"#, .syntax),
            (#"{"a":[true]}"#, .syntax), (#"{1:"a"}"#, .syntax),
            (#"{"a":01}"#, .number), (#"{"a":1.0}"#, .number), (#"{"a":1234567890}"#, .number),
            (#"{"a":1e3}"#, .number),
            (#"{"a":-1}"#, .number), (#"{"a":-0}"#, .number), (#"{"a":0.5e3}"#, .number), (#"{"a":[1]}"#, .number),
            (#"{"a":{}}"#, .nested), (#"{"a":[[]]}"#, .nested), (#"{"a":[{}]}"#, .nested),
            (#"{"a":"b","a":"c"}"#, .repeated), (#"{"a":"b","\u0061":null}"#, .repeated),
            ("{\"a\":\"\n\"}", .controlCharacter), ("{\"a\":\"\u{0}\"}", .controlCharacter),
            ("{\"\t\":\"a\"}", .controlCharacter), (#"{"a":"\u0000"}"#, .nul), (#"{"\u0000":"a"}"#, .nul),
            (#"{"a":"\x"}"#, .badEscape), (#"{"a":"\u12"}"#, .badEscape), (#"{"a":"\u12g4"}"#, .badEscape),
            (#"{"a":"\U0041"}"#, .badEscape), (#"{"a":"\u"}"#, .badEscape), (#"{"a":"\'"}"#, .badEscape),
            (#"{"a":"\ud800"}"#, .loneSurrogate), (#"{"a":"\udc00"}"#, .loneSurrogate),
            (#"{"a":"\udc00\ud800"}"#, .loneSurrogate), (#"{"a":"\ud800\ud800"}"#, .loneSurrogate),
            (#"{"a":"\ud800x"}"#, .loneSurrogate), (#"{"a":"\ud800\n"}"#, .loneSurrogate),
            (#"{"a":"\ud800\u"}"#, .badEscape), (#"{"a":"\ud800\u0041"}"#, .loneSurrogate),
        ] as [(String, BadFields.Code)]
    )
    func `malformed JSON is rejected with its reason`(text: String, code: BadFields.Code) {
        #expect(read(Array(text.utf8)).code == code)
    }

    @Test(
        arguments: [[0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]]
            as [[UInt8]]
    )
    func `strings that are not UTF-8 are rejected`(bytes: [UInt8]) {
        #expect(read(Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)).code == .notUTF8)
        #expect(read(Array(#"{""#.utf8) + bytes + Array(#"":"a"}"#.utf8)).code == .notUTF8)
    }

    @Test func `at most 64 fields, 64 strings of an array and 65,536 bytes are accepted`() {
        func object(_ count: Int) -> [UInt8] {
            Array(("{" + (0..<count).map { #""f\#($0)":null"# }.joined(separator: ",") + "}").utf8)
        }
        func array(_ count: Int) -> [UInt8] {
            Array((#"{"a":["# + [String](repeating: #""""#, count: count).joined(separator: ",") + "]}").utf8)
        }
        #expect(read(object(64)).fields?.count == 64)
        #expect(read(object(65)).code == .tooMany)
        #expect(read(array(64)).code == nil)
        #expect(read(array(65)).code == .tooMany)
        #expect(read(Array("{}".utf8) + [UInt8](repeating: 0x20, count: 65_534)).code == nil)
        #expect(read(Array("{}".utf8) + [UInt8](repeating: 0x20, count: 65_535)).code == .tooLong)
        #expect(read([UInt8](repeating: UInt8(ascii: "["), count: 65_536)).code == .syntax)
    }

    @Test func `a field of the wrong type is read as nil`() throws {
        let json = try JSONFields(Array(#"{"a":true,"b":"x","c":[]}"#.utf8).span)
        #expect(json.text("a") == nil && json.secrets("a") == nil && json.integer("a") == nil)
        #expect(json.text("b") == "x" && json.secrets("b") == nil && json.integer("b") == nil)
        #expect(json.text("c") == nil && json.secrets("c")?.count == 0 && json.secret("c") == nil)
        #expect(json.values["d"] == nil && json.values.count == 3)
    }

    private static let scalars: [Unicode.Scalar] = Array(
        "aZ09\"\\/<>&\u{7F}\u{1}\n\té€😀\u{2028}\u{2029}\u{301}".unicodeScalars
    )

    private func text(_ random: inout Random) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<random.below(10) { text.append(random.pick(Self.scalars)) }
        return String(text)
    }

    private func fields(_ random: inout Random) -> [String: Plain] {
        var fields: [String: Plain] = [:]
        for _ in 0..<random.below(6) {
            let values: [Plain] = [
                .string(text(&random)), .strings((0..<random.below(4)).map { _ in text(&random) }),
                .boolean(random.below(2) == 0), .null,
            ]
            fields[text(&random)] = random.pick(values)
        }
        return fields
    }

    private static func text(_ fields: [String: Plain]) -> String {
        JSONValue.object(fields.map { ($0, $1.json) }).text(.web)
    }

    @Test func `random valid JSON is parsed to the same values by this parser and by Foundation`() {
        var random = Random(seed: 21)
        for _ in 0..<2000 {
            let fields = fields(&random)
            let text = Self.text(fields)
            #expect(read(Array(text.utf8)).fields == fields)
            #expect(foundation(Array(text.utf8)) == fields)
        }
    }

    @Test func `mutated JSON is rejected or parsed to the same values as by Foundation`() {
        var random = Random(seed: 22)
        let pieces =
            #"{}[]",:\tfn0-1e.+ "#.utf8.map { [$0] }
            + [#""a""#, #"\u00e9"#, #"\ud83d"#, #"\ude00"#, "true", "null"].map { Array($0.utf8) }
        var (accepted, refused) = (0, 0)
        for _ in 0..<20_000 {
            var bytes = Array(Self.text(fields(&random)).utf8)
            for _ in 0..<random.below(3) {
                let place = random.below(bytes.count + 1)
                switch random.below(3) {
                case 0: bytes.insert(contentsOf: random.pick(pieces), at: place)
                case 1: if place < bytes.count { bytes.remove(at: place) }
                default: if place < bytes.count { bytes[place] = random.bytes(1)[0] }
                }
            }
            guard let fields = read(bytes).fields else {
                refused += 1
                continue
            }
            accepted += 1
            #expect(foundation(bytes) == fields, "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(accepted > 2000 && refused > 2000)
    }

    @Test func `random bytes do not crash the parser`() {
        var random = Random(seed: 23)
        let alphabet = Array(#"{}[]":,\u0dea"#.utf8) + [0xC3, 0xA9]
        for _ in 0..<20_000 {
            let bytes = Array("{\"".utf8) + (0..<random.below(30)).map { _ in random.pick(alphabet) }
            if let fields = read(bytes).fields { #expect(foundation(bytes) == fields) }
            _ = read(random.bytes(random.below(60)))
        }
    }
}
