// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmConfiguration

/// The rules of a configuration.
///
/// This type finds the rule that decides about a request.
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
        /// 405: rules match the path, but none of them matches the method.
        ///
        /// Rules for shorter paths are not evaluated, because they could allow a client that the rules for this path
        /// deny. The rules are those for the path, at least one.
        case uncovered(allowed: [String], by: [CompiledRule])
        /// The rule that decides.
        case rule(CompiledRule)
        /// 400: there are rules for hosts, and the host of the request is invalid.
        case ambiguousHost
    }

    let hosts: [HostRules]
    private let hostTable: HostTable
    /// All rules, in no order.
    package let all: [ProtectRule]
    /// True if there is a rule for a host or a domain.
    package let hasHosts: Bool

    /// Rules in any order.
    ///
    /// - Parameter rules: The rules. Rules with the same host, path and value of `isExact` must have different methods.
    public init(_ rules: [ProtectRule]) {
        all = rules
        var groups: [ProtectRule.Host: [CompiledRule]] = [:]
        for rule in rules { groups[HostRules.canonical(rule.host), default: []].append(CompiledRule(rule)) }
        hosts = groups.map { HostRules($0, $1) }.sorted {
            ($0.host.rank, $1.host.description) > ($1.host.rank, $0.host.description)
        }
        hostTable = HostTable(hosts)
        hasHosts = hosts.contains { $0.host != .any }
    }

    /// Returns the rule that decides about a request.
    ///
    /// - Parameters:
    ///   - host: The host of the request as received.
    ///   - path: The request's path.
    ///   - method: The request's method.
    /// - Returns: The rule; nil if no rule matches the request, or if the matching rules are for other methods.
    public func rule(host: String? = nil, path: RequestPath, method: String = "GET") -> ProtectRule? {
        guard case .rule(let compiled) = match(host: host, path: path, method: method) else { return nil }
        return compiled.rule
    }

    /// Returns the result of matching a request against the rules.
    ///
    /// - Parameters:
    ///   - host: The host of the request as received. It is parsed only if there is a rule for a host.
    ///   - path: The request's path.
    ///   - method: The request's method.
    /// - Returns: The rule that decides, or the reason why no rule decides.
    package func match(host: String?, path: RequestPath, method: String) -> Match {
        guard hasHosts, let host else { return match(nil as RequestHost?, path, method) }
        guard let host = RequestHost(host) else { return .ambiguousHost }
        return match(host, path, method)
    }

    /// Returns the result of matching a request whose host is already parsed.
    package func match(host: RequestHost?, path: RequestPath, method: String) -> Match { match(host, path, method) }

    private func match(_ host: RequestHost?, _ path: RequestPath, _ method: String) -> Match {
        hostTable.first(for: host) { $0.match(path, method) } ?? .none
    }
}
