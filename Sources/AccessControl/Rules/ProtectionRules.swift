// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmConfiguration

/// The rules of a configuration, which determine the rule that decides about a request.
///
/// The rules of the most specific host are evaluated first: those of a name, then those of the longest domain, then
/// those of all hosts. Within a host an exact path comes first, then the longest path that is the path of the request
/// or a folder above it. If no rule of a host matches the path, the rules of the next host are evaluated. The order in
/// the file has no effect.
public struct ProtectionRules: Sendable {
    /// A rule as an object, which is compared by identity.
    package final class CompiledRule: Sendable {
        package let rule: ProtectRule

        fileprivate init(_ rule: ProtectRule) { self.rule = rule }
    }

    /// The result of matching a request against the rules.
    package enum Match: Sendable {
        /// No rule matches the request.
        case none
        /// Rules match the path, and none of them matches the method: 405.
        ///
        /// A rule for a shorter path is not evaluated: it could allow a client that the rules for the path are meant to
        /// deny.
        case uncovered(allowed: [String])
        /// The rule that decides.
        case rule(CompiledRule)
        /// Some rules are limited to hosts, and the host of the request cannot be compared with them: 400.
        case ambiguousHost
    }

    let hosts: [HostRules]
    /// All rules, in no order.
    package let all: [ProtectRule]
    /// True if a rule is limited to a host or a domain.
    package let hasHosts: Bool

    /// Rules in any order.
    ///
    /// - Parameter rules: The rules; those of one host, path and exactness apply to different methods.
    public init(_ rules: [ProtectRule]) {
        all = rules
        var groups: [ProtectRule.Host: [CompiledRule]] = [:]
        for rule in rules { groups[HostRules.canonical(rule.host), default: []].append(CompiledRule(rule)) }
        hosts = groups.map { HostRules($0, $1) }.sorted {
            ($0.host.rank, $1.host.description) > ($1.host.rank, $0.host.description)
        }
        hasHosts = hosts.contains { $0.host != .any }
    }

    /// Returns the rule for a request; nil if no rule matches it, or if the matching rules apply to other methods.
    ///
    /// - Parameters:
    ///   - host: The host of the request, as the request spells it.
    ///   - path: The request's path.
    ///   - method: The request's method.
    /// - Returns: The rule that decides; nil if there is none.
    public func rule(host: String? = nil, path: RequestPath, method: String = "GET") -> ProtectRule? {
        guard case .rule(let guarded) = match(host: host, path: path, method: method) else { return nil }
        return guarded.rule
    }

    /// Returns the result of matching a request against the rules.
    ///
    /// - Parameters:
    ///   - host: The host of the request, as the request spells it; it is parsed only if a rule is limited to hosts.
    ///   - path: The request's path.
    ///   - method: The request's method.
    /// - Returns: The rule that decides, or the reason why there is none.
    package func match(host: String?, path: RequestPath, method: String) -> Match {
        guard hasHosts, let host else { return match(nil as RequestHost?, path, method) }
        guard let host = RequestHost(host) else { return .ambiguousHost }
        return match(host, path, method)
    }

    /// Returns the result of matching a request whose host has been parsed already.
    package func match(host: RequestHost?, path: RequestPath, method: String) -> Match { match(host, path, method) }

    private func match(_ host: RequestHost?, _ path: RequestPath, _ method: String) -> Match {
        for rules in hosts where rules.matches(host) {
            for place in rules.paths where place.matches(path) {
                for guarded in place.rules where guarded.rule.matches(method: method) { return .rule(guarded) }
                return .uncovered(allowed: place.allowed)
            }
        }
        return .none
    }
}
