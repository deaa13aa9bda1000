// SPDX-License-Identifier: Apache-2.0

package import AccessControl
package import RealmKit

/// The rules and realms of a configuration as a proof sees them.
package struct AccessModel: Sendable {
    let rules: ProtectionRules
    let realms: [String: BoundRealm]
    /// True if a request for a host without a rule is denied, because a proxy asks about it.
    let deniesUncovered: Bool

    package init(_ rules: ProtectionRules, realms: [BoundRealm], isBehindProxy: Bool) {
        self.rules = rules
        self.realms = Dictionary(realms.map { ($0.name, $0) }) { first, _ in first }
        deniesUncovered = isBehindProxy
    }

    /// A request, up to the address of its client.
    struct Request: Hashable {
        let host: RequestHost?
        let path: String
        let method: String
        /// True for a CORS preflight that announces the method.
        var isPreflight = false

        /// The readings of the path, whose special characters a client would percent-encode.
        var readings: PathReadings? {
            let encoded = path.utf8.flatMap { byte -> [UInt8] in
                guard "|<>^`{}".utf8.contains(byte) else { return [byte] }
                return Array("%\(String(byte, radix: 16, uppercase: true))".utf8)
            }
            return try? PathReadings(reading: encoded.span)
        }
    }

    /// The decision about a request before anyone signs in.
    enum Verdict {
        case allowed, denied
        /// The users of the rule are allowed.
        case users(ProtectRule)
    }

    /// Returns the rule that decides about a request.
    func match(_ request: Request) -> ProtectionRules.Match {
        guard let path = request.readings else { return .ambiguousPath(request.path) }
        return rules.match(host: request.host, path: path, method: request.method)
    }

    /// Returns the decision about clients of an address.
    func verdict(_ match: ProtectionRules.Match, _ request: Request, from peer: String) -> Verdict {
        if request.isPreflight { return allowsPreflight(request, from: peer) ? .allowed : .denied }
        switch match {
        case .none: return isAllowedWithoutRule(match, request) ? .allowed : .denied
        case .uncovered, .ambiguousHost, .ambiguousPath: return .denied
        case .rule(let compiled):
            guard compiled.rule.matches(peer: peer) else { return .denied }
            switch compiled.rule.access {
            case .open: return .allowed
            case .nobody: return .denied
            case .users: return .users(compiled.rule)
            }
        }
    }

    /// Returns whether no rule is for a request, and it is allowed because no proxy asks about it.
    func isAllowedWithoutRule(_ match: ProtectionRules.Match, _ request: Request) -> Bool {
        guard case .none = match else { return false }
        return !deniesUncovered || request.host == nil
    }

    private func allowsPreflight(_ request: Request, from peer: String) -> Bool {
        guard let path = request.readings else { return false }
        let method = request.method
        return rules.ruleAllowingPreflight(for: method, host: request.host, path: path, from: peer) != nil
    }
}

/// Requests of which one is in each class that some rules can tell apart.
struct RequestClasses {
    private let models: [AccessModel]
    private let rules: [ProtectRule]

    /// Requests for the rules of some models, and for the targets of further rules.
    init(_ models: [AccessModel], also targets: [ProtectRule] = []) {
        self.models = models
        rules = models.flatMap(\.rules.all) + targets
    }

    /// Calls a closure with one request of each class.
    func forEach<Failure: Error>(_ body: (AccessModel.Request) throws(Failure) -> Void) throws(Failure) {
        let preflightHosts = models.flatMap(\.rules.preflightHosts)
        let byHost = Dictionary(grouping: rules) { $0.host }
        for host in hosts {
            // The rules for other hosts decide about no request for this one.
            let applying = byHost.filter { rules in
                rules.key == .any || host.map { rules.key.matches($0.name) } ?? false
            }.flatMap(\.value)
            let allowsPreflights = host.map { host in preflightHosts.contains { $0.matches(host.name) } } ?? false
            for (path, methods) in paths(of: applying) {
                for method in methods {
                    try body(AccessModel.Request(host: host, path: path, method: method))
                    guard allowsPreflights else { continue }
                    try body(AccessModel.Request(host: host, path: path, method: method, isPreflight: true))
                }
            }
        }
    }

    /// One host for each rule's host, one below each domain, one without a rule, and none.
    private var hosts: [RequestHost?] {
        let known = Set(rules.map(\.host) + models.flatMap { $0.rules.ruleHosts + $0.rules.preflightHosts })
        var names: Set<String> = []
        for case .name(let name) in known { names.insert(name) }
        for host in known.sorted(by: { $0.description < $1.description }) {
            guard case .below(let domain) = host else { continue }
            names.insert(unusedName(below: domain, known: known))
        }
        if !known.isSubset(of: [.any]) { names.insert(unusedName(below: "invalid", known: known)) }
        return [nil] + names.sorted().map { RequestHost($0) }
    }

    /// A host below a domain that no rule for a longer domain or for its name matches.
    private func unusedName(below domain: String, known: Set<ProtectRule.Host>) -> String {
        var label = "any"
        while known.contains(.name("\(label).\(domain)")) || known.contains(.below("\(label).\(domain)")) {
            label += "1"
        }
        return "\(label).\(domain)"
    }

    /// Each path of the rules, one below it, and one that no rule names, with the methods that its rules tell apart.
    private func paths(of rules: [ProtectRule]) -> [(String, Set<String>)] {
        var methods: [String: Set<String>] = ["/": []]
        var readsSlashes = false
        for rule in rules {
            methods[rule.path, default: []].formUnion(rule.methods)
            if rule.ambiguousPaths == .allow { readsSlashes = true }
        }
        let named = methods
        for (path, own) in named {
            let folder = path == "/" ? "" : path
            var child = "\(folder)/any"
            while named[child] != nil { child += "1" }
            methods[child, default: []].formUnion(own)
            guard readsSlashes else { continue }
            methods["\(child)%2Fany", default: []].formUnion(own)
            if path != "/" { methods["\(path)%2Fany", default: []].formUnion(own) }
        }
        // A path that only longer paths cover has the rules of a folder above it, whose methods apply to it as well.
        let all = Set(rules.flatMap(\.methods))
        return methods.map { path, own in
            var used = all.count <= 8 ? all : own.union(Self.methods(above: path, named))
            // GET includes HEAD in the methods of a rule.
            if used.contains("GET") { used.insert("HEAD") }
            return (path, used.union(["GET", "POST", "OTHER"].filter { !used.contains($0) }.prefix(1)))
        }.sorted { $0.0 < $1.0 }
    }

    private static func methods(above path: String, _ named: [String: Set<String>]) -> Set<String> {
        var (found, rest) = (named["/"] ?? [], path[...])
        while let slash = rest.lastIndex(of: "/"), slash > rest.startIndex {
            rest = rest[..<slash]
            found.formUnion(named[String(rest)] ?? [])
        }
        return found
    }

    /// Returns one address for each set of networks that two rules tell apart.
    static func peers(_ rules: [ProtectRule?]) -> [String] {
        let edges = rules.compactMap(\.self).flatMap(\.networks).flatMap(\.edges)
        return ["203.0.113.1"] + (edges.isEmpty ? [] : ["::"] + Set(edges.map(\.description)).sorted())
    }
}
