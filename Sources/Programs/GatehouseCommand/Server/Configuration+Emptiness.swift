// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmConfiguration
internal import RealmKit

extension Configuration {
    /// A warning about a configuration without a rule; nil if there is a rule, or a realm API that checks logins.
    ///
    /// Only the server needs rules. `authcheck` does without them, and Swift servers can have them in their code.
    var emptinessWarning: Diagnostic? {
        guard rules.isEmpty, server.realmAPI == nil || realms.isEmpty else { return nil }
        let text = SourceText(name: file, bytes: [])
        guard let realm = realms.first else {
            let hint = "gatehouse init --folder FOLDER makes a configuration that serves at once"
            return text.warning(at: .none, "there is no realm and no protect block: nothing is protected", hint: hint)
        }
        let hint = "as in: protect /welcome { realm \(realm.name); require any; }"
        return text.warning(at: .none, "there is no protect block: nothing is protected", hint: hint)
    }
}
