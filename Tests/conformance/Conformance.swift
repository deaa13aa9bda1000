// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Replays recorded cases with the engine and the parser.
///
/// It reads the cases from standard input, one per line, and writes the answers to standard output in the same order. The
/// cases of `jaas` and `conf` are JSON objects; those of `pam` are lines of tables, and `pam-files` reads whole
/// files in a text of `@case`. A line of `pam-folders` is a folder as /etc/pam.d, and one of `pam-runs` has a service and lists
/// of codes.
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
        "pam": { line in
            let line = String(decoding: line, as: UTF8.self)
            guard !line.hasPrefix("#"), !line.isEmpty else { return Data((line + "\n").utf8) }
            let test = PAMReplay.tableCase(line)
            return Data("\(test.id)\t\(PAMReplay.answer(test).line)\n".utf8)
        },
        "pam-folders": { line in Data(try PAMFolder.answer(String(decoding: line, as: UTF8.self)).utf8) },
        "pam-runs": { line in Data(PAMFolder.runs(String(decoding: line, as: UTF8.self)).utf8) },
        "pam-files": { text in
            let answers = PAMReplay.cases(Array(text)).map { "\($0.id)\t\(PAMReplay.answer($0).line)\n" }
            return Data(answers.joined().utf8)
        },
    ]

    static func main() async {
        guard CommandLine.arguments.count == 2, let format = formats[CommandLine.arguments[1]] else {
            fail("usage: conformance \(formats.keys.sorted().joined(separator: "|")) < cases > answers", status: 2)
        }
        if CommandLine.arguments[1] == "pam-files" {
            let text = FileHandle.standardInput.readDataToEndOfFile()
            do { FileHandle.standardOutput.write(try await format(text)) } catch { fail("\(error)", status: 1) }
            return
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
