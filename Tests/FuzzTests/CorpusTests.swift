// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import fuzz

@Suite struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Corpus")

    @Test(arguments: FuzzedParser.all.map(\.name))
    func `a parser keeps its promises for every input of its corpus`(name: String) throws {
        let parser = try #require(FuzzedParser.named(name))
        let lines = try String(contentsOf: Self.folder.appendingPathComponent("\(name).txt"), encoding: .utf8)
        let inputs = try lines.split(separator: "\n").map { try #require(Data(base64Encoded: String($0))) }
        #expect(inputs.count > 3)
        for input in inputs { parser.parse(Array(input)) }
    }
}
