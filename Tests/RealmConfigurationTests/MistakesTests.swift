// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmConfiguration
import Testing

struct MistakesTests {
    /// A broken configuration and all that is to be said about it.
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        var files: [String: String] = [:]
        var remarks: [String]

        init(_ text: String, files: [String: String] = [:], _ remarks: String...) {
            self.text = text
            self.files = files
            self.remarks = remarks
        }

        init(_ text: String, remarks: [String]) {
            self.text = text
            self.remarks = remarks
        }

        var testDescription: String { text.debugDescription }
    }

    static let login = "login xtechMyRealm { StartWithLoginModule required; }\n"
    static let realm = "realm xtech { class StartWithRealm; }\n"

    @Test(
        arguments: structure + realms + contexts + server + rules + roles + proxies + sessions + signIn + tls + throttle
            + passwords + passwordMemory + passwordHashes
    )
    func `every mistake is told once, where it is, with what would help`(row: Row) {
        #expect(Folder(row.text, row.files).remarks() == row.remarks)
    }
}
