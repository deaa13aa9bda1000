// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginConf

/// The login.conf texts of the conformance tests, with the recorded answers of the JDK.
///
/// If a file is missing, the test that reads it fails.
enum RecordedCases {
    struct Case: Decodable, Sendable {
        let id: String
        let text: String
        let props: [String: String]?

        /// The properties of the JDK during the recording, with `user.home`.
        var properties: [String: String] { (props ?? [:]).merging(["user.home": "/root"]) { own, _ in own } }

        var expansion: Expansion {
            let properties = properties
            return Expansion(property: { properties[$0] })
        }
    }

    struct Answer: Decodable, Sendable {
        struct Entry: Decodable, Sendable {
            let name: String?
            let modules: [Module]?
        }

        struct Module: Decodable, Sendable {
            let `class`: String
            let flag: String
            let options: [String: String]
        }

        let id: String
        let ok: Bool
        let entries: [Entry]?

        var canonical: [CanonicalEntry]? {
            entries?.map { entry in
                CanonicalEntry(
                    name: entry.name.map { Array($0.utf16) },
                    modules: (entry.modules ?? []).map { module in
                        let options = module.options.map { (Array($0.key.utf16), Array($0.value.utf16)) }
                        return CanonicalModule(
                            className: Array(module.class.utf16),
                            flag: module.flag.uppercased(),
                            options: Dictionary(uniqueKeysWithValues: options)
                        )
                    }
                )
            }
        }
    }

    static let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("ConformanceTests/Cases/jaas")

    static func load() throws -> [(case: Case, answer: Answer)] {
        let cases: [Case] = try lines(of: "conf.cases.jsonl")
        let answers: [Answer] = try lines(of: "conf.answers.jsonl")
        guard cases.map(\.id) == answers.map(\.id) else { throw CocoaError(.fileReadCorruptFile) }
        return Array(zip(cases, answers))
    }

    private static func lines<Value: Decodable>(of name: String) throws -> [Value] {
        let data = try Data(contentsOf: folder.appendingPathComponent(name))
        return try data.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Value.self, from: $0) }
    }
}
