// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginConf
import Testing

/// Compares the parser and the model with the JDK on damaged texts.
@Suite(
    .enabled(if: JavaOracle.isWanted, "set GATEHOUSE_FUZZ_ORACLE to a number of texts, with a JDK on the path")
)
struct OracleFuzzTests {
    @Test func `the JDK and the model read damaged texts in the same way; so does the parser if it accepts them`()
        throws
    {
        var mutator = Mutator(
            corpus: try DifferentialFuzzTests.corpus,
            pieces: DifferentialFuzzTests.pieces,
            seed: FuzzRounds.seed &+ 3
        )
        let properties = DifferentialFuzzTests.properties
        let expansion = Expansion(property: { properties[$0] })
        let texts = (0..<JavaOracle.rounds).map { _ in mutator.next() }
        let models = texts.map { ReferenceModel.read($0) { properties[$0] }.entries }
        let answers = try JavaOracle.answers(Array(zip(texts, models)), properties: properties)
        try #require(answers.count == texts.count)
        for (index, text) in texts.enumerated() {
            let shown = "\(String(decoding: text, as: UTF8.self).debugDescription) \(text)"
            #expect(answers[index] == JavaOracle.answer(models[index]), "\(shown)")
            let parsed = LoginConf.parse(SourceText(name: "f", bytes: text), expansion: expansion)
            guard let file = parsed.value else { continue }
            #expect(answers[index] == JavaOracle.answer(file.entries.map(CanonicalEntry.init)), "\(shown)")
        }
    }
}

/// Runs the JDK's parser in a separate process.
enum JavaOracle {
    static let rounds = ProcessInfo.processInfo.environment["GATEHOUSE_FUZZ_ORACLE"].flatMap { Int($0) } ?? 0

    static var isWanted: Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return rounds > 0
            && path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/javac") }
    }

    /// Returns the output of the JDK for a text with these contexts; nil for a text that it rejects.
    static func answer(_ entries: [CanonicalEntry]?) -> String {
        guard let entries else { return "rejected" }
        var answer = "accepted\n"
        for entry in entries {
            guard let name = entry.name else { continue }
            answer += hex(name)
            if entry.modules.isEmpty { answer += " absent" }
            for module in entry.modules {
                let options = module.options.map { " \(hex($0.key))=\(hex($0.value))" }.sorted()
                answer += " [\(hex(module.className)) \(module.flag)\(options.joined())]"
            }
            answer += "\n"
        }
        return answer
    }

    private static func hex(_ units: [UInt16]) -> String {
        units.reduce(into: "u") { hex, unit in
            let digits = String(unit, radix: 16)
            hex += String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    static func answers(
        _ texts: [(text: [UInt8], entries: [CanonicalEntry]?)],
        properties: [String: String]
    ) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var input = Data()
        for (text, entries) in texts {
            append(text, to: &input)
            let names = (entries ?? []).compactMap(\.name)
            append(UInt32(names.count), to: &input)
            for name in names { append(Array(String(decoding: name, as: UTF16.self).utf8), to: &input) }
        }
        let inputFile = folder.appendingPathComponent("input")
        let outputFile = folder.appendingPathComponent("output")
        try input.write(to: inputFile)
        try Data().write(to: outputFile)

        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Oracle/ConfOracle.java").path
        process.arguments = ["java", program] + properties.map { "\($0.key)=\($0.value)" }
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }

        var answers: [String] = []
        var rest = [UInt8](try Data(contentsOf: outputFile))[...]
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest.removeFirst(4)
            answers.append(String(decoding: rest.prefix(length), as: UTF8.self))
            rest.removeFirst(length)
        }
        return answers
    }

    private static func append(_ bytes: [UInt8], to data: inout Data) {
        append(UInt32(bytes.count), to: &data)
        data.append(contentsOf: bytes)
    }

    private static func append(_ number: UInt32, to data: inout Data) {
        for shift in [24, 16, 8, 0] { data.append(UInt8(truncatingIfNeeded: number >> UInt32(shift))) }
    }
}
