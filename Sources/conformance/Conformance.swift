// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Foundation

/// Replays recorded cases through the real engine and parser: cases on standard input, one JSON object a line, answers on
/// standard output in the same order.
@main
enum Conformance {
    static func main() async {
        let dialects: [String: @Sendable (Data) async throws -> any Encodable] = [
            "jaas": { try await StackReplay.answer(try JSONDecoder().decode(StackReplay.Case.self, from: $0)) },
            "conf": { TextReplay.answer(try JSONDecoder().decode(TextReplay.Case.self, from: $0)) },
        ]
        guard CommandLine.arguments.count == 2, let answer = dialects[CommandLine.arguments[1]] else {
            fail("usage: conformance \(dialects.keys.sorted().joined(separator: "|")) < cases > answers", 2)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var number = 0
        while let line = readLine() {
            number += 1
            do {
                var output = try encoder.encode(try await answer(Data(line.utf8)))
                output.append(UInt8(ascii: "\n"))
                FileHandle.standardOutput.write(output)
            } catch {
                fail("line \(number): \(error)", 1)
            }
        }
    }

    private static func fail(_ message: String, _ status: Int32) -> Never {
        FileHandle.standardError.write(Data("conformance: \(message)\n".utf8))
        exit(status)
    }
}
