// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Replays recorded cases with the engine and the parser.
///
/// It reads the cases from standard input, one JSON object per line, and writes the answers to standard output in the
/// same order.
@main
enum Conformance {
    /// The error of an input line that cannot be replayed.
    private struct BadLine: Error {
        let number: Int
        let fault: String
    }

    private typealias CaseFormat = @Sendable (Data) async throws -> Data

    private static let formats: [String: CaseFormat] = [
        "jaas": { line in
            try encoded(try await StackReplay.answer(try JSONDecoder().decode(StackReplay.Case.self, from: line)))
        },
        "conf": { line in
            try encoded(TextReplay.answer(try JSONDecoder().decode(TextReplay.Case.self, from: line)))
        },
    ]

    static func main() async {
        guard CommandLine.arguments.count == 2, let format = formats[CommandLine.arguments[1]] else {
            fail("usage: conformance \(formats.keys.sorted().joined(separator: "|")) < cases > answers", status: 2)
        }
        do throws(BadLine) {
            var number = 1
            while true {
                let lines = readLines(512)
                if lines.isEmpty { return }
                FileHandle.standardOutput.write(try await answers(to: lines, from: number, in: format))
                number += lines.count
            }
        } catch {
            fail("line \(error.number): \(error.fault)", status: 1)
        }
    }

    private static func readLines(_ count: Int) -> [String] {
        var lines: [String] = []
        while lines.count < count, let line = readLine() { lines.append(line) }
        return lines
    }

    /// Returns the answers to lines.
    ///
    /// They are computed concurrently, so that a case that waits for a module does not delay other cases.
    private static func answers(
        to lines: [String],
        from first: Int,
        in format: @escaping CaseFormat
    ) async throws(BadLine) -> Data {
        let answers = await withTaskGroup(of: (Int, Result<Data, BadLine>).self) { group in
            for (index, line) in lines.enumerated() {
                group.addTask {
                    do {
                        return (index, .success(try await format(Data(line.utf8))))
                    } catch {
                        return (index, .failure(BadLine(number: first + index, fault: "\(error)")))
                    }
                }
            }
            return await group.reduce(into: [Int: Result<Data, BadLine>]()) { $0[$1.0] = $1.1 }
        }
        var output = Data()
        for index in lines.indices {
            if let answer = answers[index] { output += try answer.get() }
        }
        return output
    }

    private static func encoded(_ answer: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(answer) + [UInt8(ascii: "\n")]
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("conformance: \(message)\n".utf8))
        exit(status)
    }
}
