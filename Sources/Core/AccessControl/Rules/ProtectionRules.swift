// SPDX-License-Identifier: Apache-2.0

/// The rules of a configuration, of which one decides about a request.
///
/// 1. Rules for a host name are evaluated first, then rules for a domain, the longest domain first, and then rules for
///    all hosts.
/// 2. Within a host, a rule for the exact path is evaluated first. Then follow the rules for the path and the folders
///    above it, the longest path first.
/// 3. If no rule of a host matches the path, the rules of the next host are evaluated.
///
/// The order in the file has no effect.
public struct ProtectionRules: Sendable {
    /// The result of matching a request against the rules.
    package enum Match: Sendable {
        /// No rule matches the request.
        case none
        /// 405: the rules for the path, at least one, are for other methods.
        ///
        /// Rules for shorter paths are not evaluated: they could allow a client that the rules for this path deny.
        case uncovered(allowed: [String], by: [CompiledRule])
        /// The rule that decides.
        case rule(CompiledRule)
        /// 400: there are rules for hosts, and the host of the request is invalid.
        case ambiguousHost
        /// 400, with the reason: programs may read the path differently, and no rule allows that.
        case ambiguousPath(String)
    }

    let hosts: [HostRules]
    /// The hosts and domains that rules are for, and the one for all hosts if there is one.
    package var ruleHosts: [ProtectRule.Host] { hosts.map(\.host) }
    private let hostTable: HostTable
    /// All rules, in no order.
    package let all: [ProtectRule]
    /// True if there is a rule for a host or a domain.
    package let hasHosts: Bool
    /// True if a rule allows paths that programs may read differently.
    package let allowsAmbiguousPaths: Bool
    /// The hosts whose CORS preflights are allowed.
    package let preflightHosts: [ProtectRule.Host]

    /// Rules in any order; those with the same host, path and value of `isExact` must have different methods.
    ///
    /// CORS preflights of the `preflightHosts` are allowed without a login.
    public init(_ rules: [ProtectRule], preflightHosts: [ProtectRule.Host] = []) {
        all = rules
        allowsAmbiguousPaths = rules.contains { $0.ambiguousPaths == .allow }
        self.preflightHosts = preflightHosts.map { HostRules.canonical($0) }
        var groups: [ProtectRule.Host: [CompiledRule]] = [:]
        for rule in rules { groups[HostRules.canonical(rule.host), default: []].append(CompiledRule(rule)) }
        hosts = groups.map { HostRules($0, $1) }.sorted {
            ($0.host.rank, $1.host.description) > ($1.host.rank, $0.host.description)
        }
        hostTable = HostTable(hosts)
        hasHosts = hosts.contains { $0.host != .any }
    }

    /// Returns the rule that decides about a request with a host as received; nil if no rule matches it, or if the matching
    /// rules are for other methods.
    public func rule(host: String? = nil, path: RequestPath, method: String = "GET") -> ProtectRule? {
        guard case .rule(let compiled) = match(host: host, path: path, method: method) else { return nil }
        return compiled.rule
    }

    /// Returns the result of matching a request; the host as received is parsed only if there is a rule for a host.
    package func match(host: String?, path: RequestPath, method: String) -> Match {
        match(host: host, path: PathReadings(path), method: method)
    }

    package func match(host: RequestHost?, path: RequestPath, method: String) -> Match {
        hostTable.first(for: host) { $0.match(path, method) } ?? .none
    }

    package func match(host: String?, path: PathReadings, method: String) -> Match {
        guard hasHosts, let host else { return match(host: nil as RequestHost?, path: path, method: method) }
        guard let host = RequestHost(host) else { return .ambiguousHost }
        return match(host: host, path: path, method: method)
    }

    /// If the path has several readings, all must lead to the same rule, which must allow that.
    ///
    /// So no client can choose a spelling of a path for which another rule decides than for the path that the
    /// application reads.
    package func match(host: RequestHost?, path: PathReadings, method: String) -> Match {
        let match = match(host: host, path: path.path, method: method)
        guard let ambiguity = path.ambiguity else { return match }
        guard case .rule(let compiled) = match, compiled.rule.ambiguousPaths == .allow else {
            return .ambiguousPath("the path is ambiguous: \(ambiguity)")
        }
        for other in path.others {
            guard case .rule(let deciding) = self.match(host: host, path: other, method: method), deciding === compiled
            else {
                return .ambiguousPath("the path is ambiguous: its readings lead to different rules")
            }
        }
        return match
    }

    // MARK: CORS preflights

    func allowsPreflights(of host: RequestHost?) -> Bool {
        guard let host else { return false }
        return preflightHosts.contains { $0.matches(host.name) }
    }

    /// Returns the rule of the request that a CORS preflight announces, if the preflight is allowed; nil if it is
    /// decided about as any other request.
    ///
    /// A preflight has no credentials (Fetch Standard, CORS-preflight fetch), so it cannot meet a requirement. It is
    /// allowed if the request with the method of `Access-Control-Request-Method` could be allowed from this address:
    /// not without a rule, and not by a rule with `nobody`. A rule with `methods OPTIONS` decides itself.
    package func ruleAllowingPreflight(
        for method: String,
        host: RequestHost?,
        path: PathReadings,
        from address: String?
    ) -> CompiledRule? {
        guard allowsPreflights(of: host) else { return nil }
        if case .rule(let own) = match(host: host, path: path, method: "OPTIONS"),
            own.rule.methods.contains("OPTIONS")
        {
            return nil
        }
        guard case .rule(let compiled) = match(host: host, path: path, method: method),
            compiled.rule.access != .nobody, compiled.matches(peer: address)
        else { return nil }
        return compiled
    }
}
