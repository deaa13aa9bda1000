// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmConfiguration

/// Which rule a request falls under.
///
/// The most specific host first: a name, then the longest domain, then the rules for all hosts. Within a host an exact
/// path, then the longest path that is the request's or a folder above it. Where no rule of a host is for the path, the next
/// host has its turn. The order in the file decides nothing.
public struct ProtectionRules: Sendable {
    /// A rule, as the one object it is.
    final class Guarded: Sendable {
        let rule: ProtectRule

        fileprivate init(_ rule: ProtectRule) { self.rule = rule }
    }

    /// What the rules say about a request.
    enum Match: Sendable {
        /// No rule is for it.
        case none
        /// The rules for the place are about other methods: 405. A shorter rule is not asked, which would let in whom the
        /// rules for the place were written against.
        case uncovered(allowed: [String])
        /// The rule that decides.
        case rule(Guarded)
        /// Some rules are about hosts, and the host is none that could be compared with theirs: 400.
        case doubtfulHost
    }

    let hosts: [HostRules]
    /// All rules, in no order.
    let all: [ProtectRule]
    /// Whether a rule is about hosts.
    let hasHosts: Bool

    /// Rules in any order.
    ///
    /// - Parameter rules: The rules; those of one host, path and exactness are about different methods.
    public init(_ rules: [ProtectRule]) {
        all = rules
        var groups: [ProtectRule.Host: [Guarded]] = [:]
        for rule in rules { groups[HostRules.canonical(rule.host), default: []].append(Guarded(rule)) }
        hosts = groups.map { HostRules($0, $1) }.sorted {
            ($0.host.rank, $1.host.description) > ($1.host.rank, $0.host.description)
        }
        hasHosts = hosts.contains { $0.host != .any }
    }

    /// The rule for a request; nil if none is for it, or those that are are about other methods.
    ///
    /// - Parameters:
    ///   - host: What the request says its host is, as it stands there.
    ///   - path: The request's path.
    ///   - method: The request's method.
    /// - Returns: The rule that decides.
    public func rule(host: String? = nil, path: RequestPath, method: String = "GET") -> ProtectRule? {
        guard case .rule(let guarded) = match(host: host, path: path, method: method) else { return nil }
        return guarded.rule
    }

    /// What the rules say about a request.
    ///
    /// - Parameters:
    ///   - host: What the request says its host is, as it stands there; not looked at if no rule is about hosts.
    ///   - path: The request's path.
    ///   - method: The request's method.
    /// - Returns: The rule that decides, or why there is none.
    func match(host: String?, path: RequestPath, method: String) -> Match {
        guard hasHosts, let host else { return match(nil as RequestHost?, path, method) }
        guard let host = RequestHost(host) else { return .doubtfulHost }
        return match(host, path, method)
    }

    /// What the rules say about a request whose host has been read already.
    func match(host: RequestHost?, path: RequestPath, method: String) -> Match { match(host, path, method) }

    private func match(_ host: RequestHost?, _ path: RequestPath, _ method: String) -> Match {
        for rules in hosts where rules.covers(host) {
            for place in rules.places where place.covers(path) {
                for guarded in place.rules where guarded.rule.covers(method: method) { return .rule(guarded) }
                return .uncovered(allowed: place.allowed)
            }
        }
        return .none
    }
}
