// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import LoginConf
package import Prover
package import RealmKit

/// Reads `assert` statements, and reports those that do not hold for the rules and realms of the configuration.
///
///     assert never TARGET without MODULE;
///     assert always realm REALM while MODULE unavailable;
struct AssertionReader {
    let builder: ConfigurationBuilder
    let model: AccessModel
    let realms: [BoundRealm]

    func check(_ statements: [Statement]) {
        for statement in statements {
            guard let assertion = assertion(statement) else { continue }
            do throws(DecisionDiagrams.TooLarge) {
                guard let example = try model.contradiction(of: assertion) else { continue }
                report("the assertion does not hold: \(example)", statement)
            } catch {
                report("the assertion cannot be proved, because a stack is too large", statement)
            }
        }
    }

    private func assertion(_ statement: Statement) -> AccessAssertion? {
        let words = builder.words(statement)
        let texts = words.compactMap(builder.expanded)
        guard texts.count == words.count else { return nil }
        if texts.count == 4, texts[0] == "never", texts[2] == "without" {
            guard let target = builder.target(words[1]), let module = module(words[3]) else { return nil }
            return .never(host: target.host, path: target.path, without: module)
        }
        if texts.count == 6, texts[0] == "always", texts[1] == "realm", texts[3] == "while", texts[5] == "unavailable" {
            guard let realm = builder.knownName(words[2], as: "realm", among: builder.realmNames),
                let module = module(words[4])
            else { return nil }
            return .always(realm: realm, whileUnavailable: module)
        }
        let hint =
            "as in: assert never /admin without LDAPLoginModule; or: assert always realm staff while LDAPLoginModule "
            + "unavailable;"
        report("this is no assertion", statement, hint: hint)
        return nil
    }

    /// Returns the name of a module of a realm's stack; reports an unknown one.
    private func module(_ word: RealmsConfWord) -> String? {
        let names = realms.flatMap(\.stack.entries).filter(\.hasModule).map(\.name)
        return builder.knownName(word, as: "login module in a realm", among: Array(Set(names)))
    }

    private func report(_ message: String, _ statement: Statement, hint: String? = nil) {
        builder.error(at: statement.keyword.range, message, hint: hint)
    }
}

extension AccessModel {
    /// Creates the model of a configuration.
    package init(rules: [ProtectRule], server: ServerSettings, realms: [BoundRealm]) {
        self.init(
            ProtectionRules(rules, preflightHosts: server.preflightHosts),
            realms: realms,
            isBehindProxy: !server.trustedProxies.isEmpty
        )
    }
}
