// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import Testing

@testable import Bytes

struct JSONTests {
    private static func result(_ text: [UInt8], _ paths: [String] = []) -> Result<[JSONValues], JSONFault> {
        Result { () throws(JSONFault) in try JSONValues.read(paths.compactMap { JSONPath($0) }, in: text.span) }
    }

    private static func read(_ text: [UInt8], _ paths: [String] = []) -> [JSONValues]? {
        try? result(text, paths).get()
    }

    private static func strings(_ text: String, _ path: String) -> [String]? {
        read(Array(text.utf8), [path])?.first.flatMap { $0.hasWrongType ? nil : $0.strings }
    }

    @Test(arguments: [
        "0", "-0", "1.5e-3", "true", "null", "\"\"", " [ ] ", "{}", #"{"a":[1,{"b":null},"c"],"d":false}"#, "[[],[[]]]",
        #""\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t""#, "\t\r\n 12 \n",
    ])
    func `JSON that is accepted`(text: String) {
        #expect(Self.read(Array(text.utf8)) != nil)
        for count in 0..<text.utf8.count {
            // A part of a valid text is never a fault that ends the reading of an answer that still arrives.
            if case .failure(let fault) = Self.result(Array(text.utf8.prefix(count))) {
                #expect(fault.code == .incomplete)
            }
        }
    }

    @Test(arguments: [
        "", " ", "01", "-", "1.", "1e", "1e+", ".5", "+1", "tru", "trux", "nul", "\"", "\"\\x\"", "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\ud800x\"", "\"\\udc00\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "\"a\nb\"", "[", "]", "[1", "[1,]",
        "[,1]", "[1 2]",
        "{", "}", "{]", "[}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{a:1}"#, "{1:2}", #"{"a":1 "b":2}"#,
        "1 2", "{}{}",
        "'a'", "/**/1", "NaN", "Infinity", #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"[{"x":{"b":1,"b":1}}]"#,
        "\u{feff}1",
    ])
    func `JSON that is rejected`(text: String) {
        #expect(Self.read(Array(text.utf8)) == nil)
    }

    @Test func `invalid UTF-8, and more levels than the limit, are rejected`() {
        #expect(Self.read([0x22, 0xFF, 0x22]) == nil)
        #expect(Self.read([0x22, 0xC0, 0x80, 0x22]) == nil)
        let levels = JSONReader.maximumDepth
        func nested(_ count: Int) -> [UInt8] {
            Array((String(repeating: "[", count: count) + String(repeating: "]", count: count)).utf8)
        }
        #expect(Self.read(nested(levels)) != nil)
        #expect(Self.read(nested(levels + 1)) == nil)
    }

    @Test(arguments: [
        (#"{"user":"ann"}"#, "/user", ["ann"]), (#"{"a":{"b":"c"},"b":"d"}"#, "/a/b", ["c"]),
        (#"{"groups":["a","b"]}"#, "/groups", ["a", "b"]), (#"{"groups":"a"}"#, "/groups", ["a"]),
        (#"{"groups":[]}"#, "/groups", []),
        (#"{"groups":[{"name":"a"},{"x":1,"name":"b"}]}"#, "/groups/*/name", ["a", "b"]), (#"["a"]"#, "/*", ["a"]),
        (#"{"a/b":{"~":"x"}}"#, "/a~1b/~0", ["x"]), (#"{"":"x"}"#, "/", ["x"]), (#"{"a":null}"#, "/a", []),
        (#"{"b":"x"}"#, "/a", []),
        (#"{"a":"\u00e9"}"#, "/a", ["é"]), (#"{"m":{"x":"1","y":["2","3"]}}"#, "/m/*", ["1", "2", "3"]),
    ])
    func `values at a path`(text: String, path: String, strings: [String]) {
        let values = Self.read(Array(text.utf8), [path])?.first
        #expect(values?.strings == strings)
        #expect(values?.hasWrongType == false)
    }

    @Test(arguments: [
        (#"{"a":1}"#, "/a"), (#"{"a":true}"#, "/a"), (#"{"a":{}}"#, "/a"), (#"{"a":[1]}"#, "/a"),
        (#"{"a":[null]}"#, "/a"),
        (#"{"a":[["x"]]}"#, "/a"), (#"{"a":[{"b":["x"]}]}"#, "/a"), (#"{"a":[["x"]]}"#, "/a/*"),
        (#"{"a":[{}]}"#, "/a/*"),
    ])
    func `values of a wrong type`(text: String, path: String) {
        #expect(Self.read(Array(text.utf8), [path])?.first?.hasWrongType == true)
    }

    @Test func `an element without a value is noticed`() throws {
        let path = try #require(JSONPath("/groups/*/name"))
        for text in [#"{"groups":[{"name":"a"},{}]}"#, #"{"groups":[{"name":"a"},"b"]}"#, #"{"groups":[null]}"#] {
            #expect(Self.read(Array(text.utf8), ["/groups/*/name"])?.first?.isIncomplete(for: path) == true, "\(text)")
        }
        let whole = Self.read(Array(#"{"groups":[{"name":"a"}]}"#.utf8), ["/groups/*/name"])?.first
        #expect(whole?.isIncomplete(for: path) == false)
        #expect(whole?.isPresent == true)
        #expect(Self.read(Array("{}".utf8), ["/groups/*/name"])?.first?.isPresent == false)
    }

    @Test(arguments: ["", "user", "user/name", "/a~", "/a~2", "/*/*", String(repeating: "/a", count: 17)])
    func `invalid paths`(text: String) {
        #expect(JSONPath(text) == nil)
    }

    @Test func `an object that no other path names is counted, and the names of its members are kept`() {
        let text = #"{"m":{"x":["1","2"],"y":"3","z":{"n":"4"}}}"#
        let values = Self.read(Array(text.utf8), ["/m/*", "/m/z/n"])
        #expect(values?[0].strings == ["1", "2", "3"] && values?[0].names == ["x", "x", "y"])
        #expect(values?[0].elements == 2 && values?[0].hasWrongType == false)
        #expect(values?[1].strings == ["4"] && values?[1].names == [nil])
    }

    @Test func `more strings or names than the limit are rejected`() {
        func array(_ count: Int) -> [UInt8] {
            Array("[\(Array(repeating: "\"a\"", count: count).joined(separator: ","))]".utf8)
        }
        #expect(Self.read(array(JSONValues.maximumStrings), ["/*"])?.first?.strings.count == JSONValues.maximumStrings)
        #expect(Self.read(array(JSONValues.maximumStrings + 1), ["/*"]) == nil)
        #expect(Self.read(array(JSONValues.maximumStrings + 1)) != nil)
        func object(_ count: Int) -> [UInt8] {
            Array("{\((0..<count).map { "\"a\($0)\":1" }.joined(separator: ","))}".utf8)
        }
        #expect(Self.read(object(JSONReader.maximumNames)) != nil)
        #expect(Self.read(object(JSONReader.maximumNames + 1)) == nil)
    }

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, "byte 7: a name that occurs twice"), (#"["\ud800"]"#, "byte 2: a lone surrogate"),
        ("[1,]", "byte 3: a value is expected here"), ("{\"a\" 1}", "byte 5: a character that is not expected here"),
        ("[", "byte 1: the text is not complete"), ("[01]", "byte 1: an invalid number"),
        (#"["\x"]"#, "byte 2: an unknown escape sequence"), (#"["\u12"]"#, #"byte 2: an invalid \u sequence"#),
        ("[\"\n\"]", "byte 2: a control character in a string"),
    ])
    func `a fault names its place`(text: String, fault: String) {
        guard case .failure(let found) = Self.result(Array(text.utf8)) else {
            Issue.record("\(text) is accepted")
            return
        }
        #expect(found.description == fault)
    }

    @Test func `random texts are read as Foundation reads them`() {
        var random = Random(seed: 1313)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"", "\\", "1", "-", "0.5", "e3", "true", "null", " ",
            "\"\\u0041\"", "\"\\ud83d\\ude00\"",
            "\n", "é", "\"name\":", "{\"a\":1}", "[\"x\"]",
        ]
        var accepted = 0
        for _ in 0..<30_000 {
            var text = Array((0..<random.below(9)).map { _ in random.pick(pieces) }.joined().utf8)
            if random.below(5) == 0, !text.isEmpty { text[random.below(text.count)] = UInt8(random.below(256)) }
            let values = Self.read(text, ["/a", "/*", "/*/name"])
            guard values != nil else { continue }
            accepted += 1
            let foundation = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            #expect(foundation != nil, "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(accepted > 500)
    }
}
