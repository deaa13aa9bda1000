// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import conformance

/// The recorded cases and answers.
///
/// If a file is missing, the test that reads it fails.
enum RecordedCases {
    static let cases = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases")

    /// The answer of the JDK to a case.
    struct Answer: Decodable {
        struct Call: Decodable {
            let call: String
            let result: String
            let exception: String?
            let module: Int?
            let phase: String?
            let subject: [String]?
            let trace: [String]
        }

        let id: String
        let calls: [Call]
    }

    static func lines<Line: Decodable>(_ file: String, as type: Line.Type) throws -> [Line] {
        try lines(file).map { try JSONDecoder().decode(type, from: Data($0.utf8)) }
    }

    /// Returns the lines of a file without empty lines and comments.
    static func lines(_ file: String) throws -> [Substring] {
        let text = try String(contentsOf: cases.appending(path: file), encoding: .utf8)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    }
}

/// The parts of a call that are compared.
struct CallSummary: Equatable {
    var call: String
    var exception: String?
    var module: Int?
    var phase: String?
    var subject: [String]?
    /// The calls of modules without their outcomes, such as `0.login`.
    var calls: [String]

    init(_ call: StackReplay.Call) {
        self.call = call.call
        exception = call.exception
        module = call.module
        phase = call.phase
        subject = call.subject
        calls = call.trace.map(Self.name)
    }

    /// Creates the summary of a recorded call, without calls of modules whose login was not called.
    init(_ call: RecordedCases.Answer.Call, reached: Set<Int>) {
        self.call = call.call
        exception = call.exception
        module = call.module
        phase = call.phase
        subject = call.subject
        calls = call.trace.map(Self.name).filter { name in
            let parts = name.split(separator: ".")
            return parts[1] != "initialize" && reached.contains(Int(parts[0]) ?? -1)
        }
    }

    init(_ name: String) {
        call = name
        calls = []
    }

    private static func name(_ line: String) -> String { String(line.prefix { $0 != "=" && $0 != "!" }) }
}

extension RecordedCases.Answer {
    var summaries: [CallSummary] {
        var reached: Set<Int> = []
        return calls.map { call in
            if call.call == "login" {
                reached = Set(
                    call.trace.filter { $0.contains(".login") }.compactMap { Int($0.prefix { $0 != "." }) }
                )
            }
            return CallSummary(call, reached: reached)
        }
    }
}
