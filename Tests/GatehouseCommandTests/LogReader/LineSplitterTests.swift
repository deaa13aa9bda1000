// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import GatehouseCommand

@Suite struct LineSplitterTests {
    private func lines(_ chunks: [[UInt8]]) -> [String?] {
        var splitter = LineSplitter()
        var lines: [[UInt8]?] = []
        for chunk in chunks { lines += splitter.add(chunk) }
        lines += splitter.finish()
        return lines.map { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test func `the lines do not depend on how the bytes are divided`() {
        let text = "one\n\ntwo three\n\(String(repeating: "x", count: 1000))\nno end"
        let expected = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var random = Random(seed: 3)
        for _ in 0..<200 {
            var rest = Array(text.utf8)[...]
            var chunks: [[UInt8]] = []
            while !rest.isEmpty {
                let count = Int.random(in: 1...40, using: &random)
                chunks.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(lines(chunks) == expected)
        }
        #expect(lines([]) == [])
        #expect(lines([Array("a\n".utf8)]) == ["a"])
    }

    @Test func `a line that is too long is skipped, however long it is`() {
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)
        let maximum = [UInt8](repeating: UInt8(ascii: "y"), count: LineSplitter.maximumLength)
        #expect(
            lines([Array("a\n".utf8)] + Array(repeating: chunk, count: 50) + [Array("\nb\n".utf8)]) == ["a", nil, "b"]
        )
        #expect(lines(Array(repeating: chunk, count: 50)) == [nil])
        #expect(lines([maximum, Array("\nb".utf8)]) == [String(decoding: maximum, as: UTF8.self), "b"])
        #expect(lines([maximum, Array("y\nb".utf8)]) == [nil, "b"])
        #expect(lines([maximum + Array("y\nb\n".utf8)]) == [nil, "b"])
    }
}
