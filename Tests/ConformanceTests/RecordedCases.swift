// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation

@testable import conformance

/// The recorded cases and answers; a missing file fails the test that reads it.
enum Recorded {
    static let cases = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases")

    /// One answer of the JDK to one case.
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

    /// The lines of a file that are neither empty nor a comment.
    static func lines(_ file: String) throws -> [Substring] {
        let text = try String(contentsOf: cases.appending(path: file), encoding: .utf8)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    }
}

/// The part of a recorded call that must be the same.
struct CallSummary: Equatable {
    var call: String
    var exception: String?
    var module: Int?
    var phase: String?
    var subject: [String]?
    /// The call as `0.login`, without its outcome.
    var calls: [String]

    init(_ call: StackReplay.Call) {
        self.call = call.call
        exception = call.exception
        module = call.module
        phase = call.phase
        subject = call.subject
        calls = call.trace.map(Self.name)
    }

    /// Calls of modules whose login was not reached in this attempt are left out.
    init(_ call: Recorded.Answer.Call, reached: Set<Int>) {
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

extension Recorded.Answer {
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
