// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import Testing

@testable import Bytes

struct JSONValueTests {
    @Test(
        arguments: [
            ("", #""""#), ("abc é 😀", #""abc é 😀""#), ("\"\\/", #""\"\\/""#), ("\n\r\t", #""\n\r\t""#),
            ("\u{0}\u{8}\u{1F}\u{7F}", #""\u0000\b\u001f\u007f""#), ("\r\n", #""\r\n""#),
            ("</script>&", #""\u003c/script\u003e\u0026""#), ("\u{2028}\u{2029}", #""\u2028\u2029""#),
        ]
    )
    func `strings escape all characters that are special in HTML or JavaScript`(string: String, text: String) {
        #expect(JSONValue.text(string).text(.web) == text)
    }

    @Test(arguments: [
        ("a\u{1B}[31m\u{9B}b", #""a\u001b[31m\u009bb""#), ("\u{202E}\u{2066}\u{61C}<é", #""\u202e\u2066\u061c<é""#),
    ])
    func `strings for a terminal escape what controls it`(string: String, text: String) {
        #expect(JSONValue.text(string).text(.terminal) == text)
    }

    @Test func `members are sorted, and those without a value are left out`() {
        let value: JSONValue = [
            "last_seen": .number(-5), "absent": nil, "address": .null, "host": .text("a/b"),
            "values": .lists(["<": []]),
            "all": .array([.boolean(true), .boolean(false)]), "most": .number(.max), "least": .number(.min),
        ]
        let text =
            #"{"address":null,"all":[true,false],"host":"a/b","last_seen":-5,"least":-9223372036854775808,"#
            + #""most":9223372036854775807,"values":{"\u003c":[]}}"#
        #expect(value.text(.web) == text)
    }

    @Test func `members of an object are written in order`() {
        let value = JSONValue.object([("b", .texts(["x", "y"])), ("a", .object([]))])
        #expect(value.bytes(.required) == Array(#"{"b":["x","y"],"a":{}}"#.utf8))
    }

    /// All escapes have the same meaning, and the escaped text is as short as that of Foundation.
    @Test func `random strings are written as Foundation writes them, and read back`() throws {
        var random = Random(seed: 1616)
        let scalars =
            (0...0x700).compactMap { Unicode.Scalar($0) } + (0x2000...0x2070).compactMap { Unicode.Scalar($0) }
            + ["\u{1F600}", "日", "\u{FFFF}", "\u{10FFFF}", "\u{E000}"]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        for _ in 0..<3000 {
            let string = String(String.UnicodeScalarView((0..<random.below(12)).map { _ in random.pick(scalars) }))
            let value = JSONValue.text(string)
            #expect(value.bytes(.required) == Array(try encoder.encode(string)))
            for escapes in [JSONEscapes.required, .web, .terminal] {
                let read = try JSONValue(reading: value.bytes(escapes).span)
                #expect(read.asText?.utf8.elementsEqual(string.utf8) == true)
            }
        }
    }

    @Test func `a whole text is read`() throws {
        let text = #"{"a":[1,2.5,5.0,null,"x"],"b":{"c":["d"]},"e":null,"f":{},"g":true}"#
        let value = try JSONValue(reading: text.utf8Span.span)
        #expect(value.text(.required) == #"{"a":[1,null,5,null,"x"],"b":{"c":["d"]},"e":null,"f":{},"g":true}"#)
        #expect(value["b"]?.asLists == ["c": ["d"]] && value["a"]?.asTexts == nil && value["b"]?["c"]?.asTexts == ["d"])
        #expect(value["e"] == nil && value["x"] == nil && value["g"]?.asBoolean == true)
        #expect(value["f"]?.hasParts == false && value["a"]?.hasParts == true && value["g"]?.hasParts == nil)
        #expect(throws: JSONFault.self) { try JSONValue(reading: #"{"a":1,"a":2}"#.utf8Span.span) }
        #expect(throws: JSONFault.self) { try JSONValue(reading: "{} x".utf8Span.span) }
    }
}
