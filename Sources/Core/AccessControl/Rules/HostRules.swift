// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The rules for one host, for all hosts below a domain, or for all hosts, in the order of evaluation.
///
/// It is a class, because a request must not copy it.
final class HostRules: Sendable {
    let host: ProtectRule.Host
    let paths: [PathRules]
    private let pathTable: PathTable

    init(_ host: ProtectRule.Host, _ rules: [ProtectionRules.CompiledRule]) {
        self.host = host
        // The keys are bytes, because strings with different encodings of an accented letter are equal.
        var paths: [[UInt8]: [ProtectionRules.CompiledRule]] = [:]
        for compiled in rules {
            let rule = compiled.rule
            let path = rule.path.utf8.split(separator: UInt8(ascii: "/")).joined(separator: [UInt8(ascii: "/")])
            paths[[rule.isExact ? 1 : 0] + path, default: []].append(compiled)
        }
        // Different paths with the same number of segments never match the same request, so their order does not
        // matter. They are sorted by name to make explanations readable.
        self.paths = paths.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { PathRules($0.value) }.sorted {
            $0.isExact == $1.isExact ? $0.segments.count > $1.segments.count : $0.isExact
        }
        pathTable = PathTable(self.paths)
    }

    /// Returns nil if no rule matches the path.
    func match(_ path: RequestPath, _ method: String) -> ProtectionRules.Match? {
        guard let index = pathTable.index(for: path) else { return nil }
        for compiled in paths[index].rules where compiled.rule.matches(method: method) { return .rule(compiled) }
        return .uncovered(allowed: paths[index].allowed, by: paths[index].rules)
    }

    /// Returns the canonical form, which the hosts of requests have: a rule with another form would never match.
    static func canonical(_ host: ProtectRule.Host) -> ProtectRule.Host {
        switch host {
        case .any: .any
        case .name(let name): .name(HostName.canonical(name[...]) ?? name)
        case .below(let domain): .below(HostName.canonical(domain[...]) ?? domain)
        }
    }

    func matches(_ host: RequestHost?) -> Bool {
        guard let host else { return self.host == .any }
        return self.host.matches(host.name)
    }
}

extension ProtectRule.Host {
    /// Returns true if a host in canonical form belongs to these hosts.
    package func matches(_ name: String) -> Bool {
        switch self {
        case .any: true
        case .name(let own): name.hasBytes(of: own)
        case .below(let domain): Self.isBelow(name, domain)
        }
    }

    /// True for one or more labels and then the domain.
    private static func isBelow(_ name: String, _ domain: String) -> Bool {
        let (name, domain) = (name.utf8Span.span, domain.utf8Span.span)
        let dot = name.count - domain.count - 1
        guard dot > 0, name[dot] == UInt8(ascii: ".") else { return false }
        for index in domain.indices where name[dot + 1 + index] != domain[index] { return false }
        return true
    }

    /// Rules with a higher rank are evaluated first.
    var rank: Int {
        switch self {
        case .any: -1
        case .name: .max
        case .below(let domain): domain.utf8.count
        }
    }
}

/// A table that finds the rules for a host: those for its name, then those for the domains above it, the longest first,
/// and then those for all hosts.
struct HostTable: Sendable {
    private let hosts: [HostRules]
    private var names: [UTF8Text: Int] = [:]
    private var domains: [UTF8Text: Int] = [:]
    private var any: Int?

    /// The table of the rules of each host, in the order of evaluation.
    init(_ hosts: [HostRules]) {
        self.hosts = hosts
        for (index, rules) in hosts.enumerated() {
            switch rules.host {
            case .any: any = index
            case .name(let name): names[UTF8Text(name)] = index
            case .below(let domain): domains[UTF8Text(domain)] = index
            }
        }
    }

    /// Returns the first result of the hosts that a request may be for; without a host, only of the rules for all
    /// hosts.
    func first<Result>(for host: RequestHost?, _ body: (HostRules) -> Result?) -> Result? {
        if let host {
            if let index = names[UTF8Text(host.name)], let result = body(hosts[index]) { return result }
            if !domains.isEmpty, let result = firstDomain(of: host.name, body) { return result }
        }
        return any.flatMap { body(hosts[$0]) }
    }

    private func firstDomain<Result>(of name: String, _ body: (HostRules) -> Result?) -> Result? {
        let bytes = name.utf8Span.span
        // A domain begins after a dot, and at least one label precedes the dot.
        for dot in bytes.indices where dot > 0 && bytes[dot] == UInt8(ascii: ".") {
            let domain = UTF8Text(repairing: bytes.extracting((dot + 1)..<bytes.count))
            if let index = domains[domain], let result = body(hosts[index]) { return result }
        }
        return nil
    }
}

/// The sign-in host, and the hosts to which its sessions are handed over: those of the rules with the scheme `form`.
///
/// Their ports are the port of the sign-in host, because the rules name no ports and the services at other ports may
/// not be trusted. A host at another port needs an entry in `return-to`.
package struct SignInHosts: Sendable {
    /// The origin of the sign-in host.
    package let origin: SignInSettings.Origin
    private let hosts: [ProtectRule.Host]
    private let otherOrigins: [SignInSettings.Origin]

    /// Nil if each host has its own sign-in page.
    package init?(_ settings: SignInSettings, rules: [ProtectRule]) {
        guard let origin = settings.host else { return nil }
        self.origin = origin
        hosts = Set(rules.filter { $0.schemes.contains(.form) && $0.host != .any }.map { HostRules.canonical($0.host) })
            .sorted { $0.description.utf8.lexicographicallyPrecedes($1.description.utf8) }
        otherOrigins = settings.returnTo
    }

    /// Returns whether the host and port of a request are those of the sign-in host.
    package func isSignInHost(_ authority: String) -> Bool {
        RequestHost(authority).map { SignInSettings.Origin($0) == origin } ?? false
    }

    /// Returns whether a session may be handed over to an origin, with the host in canonical form: not to the sign-in
    /// host itself, and only if a rule names the host.
    package func contains(_ origin: SignInSettings.Origin) -> Bool {
        guard origin != self.origin, hosts.contains(where: { $0.matches(origin.host) }) else { return false }
        return origin.port == self.origin.port || otherOrigins.contains(origin)
    }
}

extension SignInSettings.Origin {
    /// The origin of a host that is requested over https; without a port it is 443.
    package init(_ host: RequestHost) { self.init(host: host.name, port: host.port.map(Int.init) ?? 443) }
}
