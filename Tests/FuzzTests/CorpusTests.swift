// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import Testing

@testable import fuzz

@Suite struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Corpus")
    private static let environment = ProcessInfo.processInfo.environment
    /// The number of mutated inputs for each parser, but for those of ``moreRounds``; `GATEHOUSE_FUZZ_ROUNDS` changes it.
    private static let rounds = environment["GATEHOUSE_FUZZ_ROUNDS"].flatMap { Int($0) }
    /// Files of PAM are written by many programs, and decide who is let in.
    private static let moreRounds = ["pam": 2_000]
    /// All parsers, or that of `GATEHOUSE_FUZZ_PARSER`.
    private static let mutated = FuzzedParser.all.map(\.name).filter {
        environment["GATEHOUSE_FUZZ_PARSER"] == nil || environment["GATEHOUSE_FUZZ_PARSER"] == $0
    }

    @Test(arguments: FuzzedParser.all.map(\.name))
    func `a parser keeps its promises for every input of its corpus`(name: String) throws {
        let parser = try #require(FuzzedParser.named(name))
        let inputs = try Self.inputs(name)
        #expect(inputs.count > 3)
        for input in inputs { parser.parse(input) }
    }

    /// Without coverage; `make fuzz` finds more.
    @Test(arguments: mutated)
    func `a parser keeps its promises for mutated inputs of its corpus`(name: String) throws {
        let parser = try #require(FuzzedParser.named(name))
        let inputs = try Self.inputs(name).filter { $0.count <= 4096 }
        var random = Random(seed: 1)
        for _ in 0..<(Self.rounds ?? Self.moreRounds[name] ?? 300) {
            var input = random.pick(inputs)
            for _ in 0...random.below(4) { Self.mutate(&input, with: random.pick(inputs), random: &random) }
            parser.parse(input)
        }
    }

    private static func inputs(_ name: String) throws -> [[UInt8]] {
        let lines = try String(contentsOf: folder.appendingPathComponent("\(name).txt"), encoding: .utf8)
        return try lines.split(separator: "\n").map { Array(try #require(Data(base64Encoded: String($0)))) }
    }

    private static func mutate(_ input: inout [UInt8], with other: [UInt8], random: inout Random) {
        let place = random.below(input.count + 1)
        let end = min(input.count, place + random.below(8))
        switch random.below(4) {
        case 0: input.removeSubrange(place..<end)
        case 1: input.insert(contentsOf: input[place..<end], at: place)
        case 2: input.replaceSubrange(place..<end, with: random.bytes(end - place))
        default:
            let begin = random.below(other.count + 1)
            input.replaceSubrange(place..<end, with: other[begin..<min(other.count, begin + random.below(40))])
        }
    }
}
