// SPDX-License-Identifier: Apache-2.0

import RealmConfiguration
import Testing

struct MistakesTests {
    /// A configuration with mistakes, and all diagnostics about it.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let text: String
        var files: [String: String] = [:]
        var diagnostics: [String]

        init(_ text: String, files: [String: String] = [:], _ diagnostics: String...) {
            self.text = text
            self.files = files
            self.diagnostics = diagnostics
        }

        init(_ text: String, diagnostics: [String]) {
            self.text = text
            self.diagnostics = diagnostics
        }

        var testDescription: String { text.debugDescription }
    }

    static let login = "login xtechMyRealm { StartWithLoginModule required; }\n"
    static let realm = "realm xtech { class StartWithRealm; }\n"

    @Test(
        arguments: structure + realms + contexts + server + rules + roles + proxies + sessions + signIn + tls + throttle
            + realmAPI + passwords + passwordMemory + passwordHashes + outcomes + cache + addresses
    )
    func `every mistake is reported once, at its place, with a hint`(row: Mistake) {
        #expect(MemoryFolder(row.text, row.files).diagnostics() == row.diagnostics)
    }
}
