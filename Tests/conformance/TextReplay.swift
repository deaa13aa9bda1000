// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginConf
internal import RealmKit

/// Replays a text of login.conf through the parser.
enum TextReplay {
    struct Case: Decodable, Sendable {
        let id: String
        let text: String
        let props: [String: String]?
    }

    struct Answer: Encodable {
        let id: String
        let ok: Bool
        var entries: [Entry]?
        var line: Int?
        var column: Int?
        var message: String?
        var hint: String?
    }

    struct Entry: Encodable {
        let name: String
        let modules: [Module]
    }

    struct Module: Encodable {
        let `class`: String
        let flag: String
        let options: [String: String]
    }

    static func answer(_ test: Case) -> Answer {
        // The system property that the JDK had during the recording.
        let system = ["user.home": "/root"]
        let properties = system.merging(test.props ?? [:]) { _, given in given }
        let parsed = LoginConf.parse(
            SourceText(name: test.id, test.text),
            expansion: Expansion(property: { properties[$0] })
        )
        guard let file = parsed.value else {
            let error = parsed.diagnostics.first { $0.severity == .error }
            return Answer(
                id: test.id,
                ok: false,
                line: error?.line,
                column: error?.column,
                message: error?.message,
                hint: error?.hint
            )
        }
        let entries = file.entries.map { entry in
            Entry(
                name: entry.name,
                modules: entry.modules.map { module in
                    Module(
                        class: module.className,
                        flag: module.flag.rawValue,
                        options: Dictionary(module.options.map { ($0.key, $0.value) }) { _, last in last }
                    )
                }
            )
        }
        return Answer(
            id: test.id,
            ok: true,
            entries: entries.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
        )
    }
}
