// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import Testing

@testable import Bytes

struct JSONTests {
    private static func read(_ text: [UInt8], _ paths: [String] = [], size: Int = .max) -> [JSONValues]? {
        var reader = JSONReader(paths.compactMap { JSONPath($0) })
        do throws(JSONReader.Fault) {
            for start in stride(from: 0, to: text.count, by: min(size, max(text.count, 1))) {
                try reader.read(text[start..<min(text.count, start + min(size, text.count))].span)
            }
            try reader.finish()
            return reader.values
        } catch {
            return nil
        }
    }

    private static func strings(_ text: String, _ path: String) -> [String]? {
        read(Array(text.utf8), [path])?.first.flatMap { $0.hasWrongType ? nil : $0.strings }
    }

    @Test(arguments: [
        "0", "-0", "1.5e-3", "true", "null", "\"\"", " [ ] ", "{}", #"{"a":[1,{"b":null},"c"],"d":false}"#, "[[],[[]]]",
        #""\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t""#, "\t\r\n 12 \n",
    ])
    func `JSON that is accepted`(text: String) {
        for size in [1, 2, 3, .max] { #expect(Self.read(Array(text.utf8), size: size) != nil) }
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
        for size in [1, 2, .max] { #expect(Self.read(Array(text.utf8), size: size) == nil) }
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
        for size in [1, 2, .max] {
            let values = Self.read(Array(text.utf8), [path], size: size)?.first
            #expect(values?.strings == strings)
            #expect(values?.hasWrongType == false)
        }
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
            #expect(Self.read(text, ["/a", "/*", "/*/name"], size: 1) == values)
            guard values != nil else { continue }
            accepted += 1
            let foundation = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            #expect(foundation != nil, "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(accepted > 500)
    }
}
