// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import RealmKit

/// A statement about a configuration that a proof can show to be false.
package enum AccessAssertion: Sendable {
    /// No request for a path, or for one below it, is admitted without the success of a module of this name.
    case never(host: ProtectRule.Host, path: String, without: String)
    /// A realm can still grant a login while the modules of this name are unavailable.
    case always(realm: String, whileUnavailable: String)
}

extension AccessModel {
    /// Returns an example that contradicts an assertion; nil if the assertion holds.
    package func contradiction(of assertion: AccessAssertion) throws(DecisionDiagrams.TooLarge) -> String? {
        switch assertion {
        case .never(let host, let path, let module):
            return try contradiction(host: host, path: path, without: module)
        case .always(let realm, let module):
            guard let realm = realms[realm] else { return "there is no realm \(realm)" }
            var proof = try StackProof(StackModel(realm.stack))
            let entries = proof.model.entries(of: module)
            guard !entries.isEmpty else { return "realm \(realm.name) has no module \(module) in its own stack" }
            let effect = try proof.whileUnavailable(entries)
            guard effect.grantingSets?.sets.isEmpty ?? false else { return nil }
            return "realm \(realm.name) refuses every login while \(module) is unavailable"
        }
    }

    private func contradiction(
        host: ProtectRule.Host,
        path: String,
        without module: String
    ) throws(DecisionDiagrams.TooLarge) -> String? {
        // The rule gives the path classes of its own, also if no rule of the configuration names it.
        var target = ProtectRule(path: path, realms: [], schemes: [], requirements: [])
        target.host = host
        let folder = path == "/" ? "/" : path + "/"
        var granting: [String: String?] = [:]
        var found: String?
        try RequestClasses([self], also: [target]).forEach { (request) throws(DecisionDiagrams.TooLarge) in
            guard found == nil, request.path.utf8.elementsEqual(path.utf8) || request.path.hasPrefix(folder),
                host == .any || request.host.map({ host.matches($0.name) }) ?? false
            else { return }
            let match = match(request)
            for peer in RequestClasses.peers([match.rule]) where found == nil {
                let url = "\(request.method) \(request.host.map { "https://\($0.name)" } ?? "")\(request.path)"
                switch verdict(match, request, from: peer) {
                case .denied: continue
                case .allowed: found = request.isPreflight ? nil : "\(url) is allowed without a sign-in"
                case .users(let rule):
                    for name in rule.realms
                    where rule.schemes.contains(where: { realms[name]?.isUsed(by: $0) ?? false }) {
                        if granting[name] == nil { granting[name] = .some(try grant(in: name, without: module)) }
                        guard let answers = granting[name] ?? nil else { continue }
                        found = "\(url) is allowed for users of realm \(name), \(answers)"
                    }
                }
            }
        }
        return found
    }

    /// Returns answers by which a realm grants a login without the success of a module; nil if that is impossible.
    private func grant(in realm: String, without module: String) throws(DecisionDiagrams.TooLarge) -> String? {
        guard let stack = realms[realm]?.stack else { return nil }
        var proof = try StackProof(StackModel(stack))
        let answers = try proof.grantWithoutSuccess(of: proof.model.entries(of: module))
        return answers.map { $0.isEmpty ? "whatever its modules answer" : "if \(proof.model.text($0))" }
    }
}

extension StackModel {
    /// The entries whose module has a name.
    fileprivate func entries(of module: String) -> Set<Int> {
        Set(entries.indices.filter { entries[$0].hasModule && entries[$0].name.utf8.elementsEqual(module.utf8) })
    }
}
