// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmConfiguration

/// The rules for one host, for all hosts below a domain, or for all hosts.
///
/// The rules are in the order of evaluation.
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

    /// Returns the result of matching a path and a method against these rules; nil if no rule matches the path.
    func match(_ path: RequestPath, _ method: String) -> ProtectionRules.Match? {
        guard let index = pathTable.index(for: path) else { return nil }
        for compiled in paths[index].rules where compiled.matches(method) { return .rule(compiled) }
        return .uncovered(allowed: paths[index].allowed, by: paths[index].rules)
    }

    /// Returns the canonical form of a host.
    ///
    /// The hosts of requests are in canonical form, so a rule with another form would never match.
    static func canonical(_ host: ProtectRule.Host) -> ProtectRule.Host {
        switch host {
        case .any: .any
        case .name(let name): .name(HostName.canonical(name[...]) ?? name)
        case .below(let domain): .below(HostName.canonical(domain[...]) ?? domain)
        }
    }

    /// Returns true if these rules apply to a host.
    func matches(_ host: RequestHost?) -> Bool {
        guard let host else { return self.host == .any }
        return self.host.matches(host.name)
    }
}

extension ProtectRule.Host {
    /// Returns true if a host belongs to these hosts.
    ///
    /// - Parameter name: The host in canonical form.
    /// - Returns: True if the host belongs to these hosts.
    func matches(_ name: String) -> Bool {
        switch self {
        case .any: true
        case .name(let own): name.hasBytes(of: own)
        case .below(let domain): Self.isBelow(name, domain)
        }
    }

    /// Returns true if a name consists of one or more labels and then the domain.
    private static func isBelow(_ name: String, _ domain: String) -> Bool {
        let (name, domain) = (name.utf8Span.span, domain.utf8Span.span)
        let dot = name.count - domain.count - 1
        guard dot > 0, name[dot] == UInt8(ascii: ".") else { return false }
        for index in domain.indices where name[dot + 1 + index] != domain[index] { return false }
        return true
    }

    /// The precedence of the host.
    ///
    /// Rules with a higher rank are evaluated first.
    var rank: Int {
        switch self {
        case .any: -1
        case .name: .max
        case .below(let domain): domain.utf8.count
        }
    }
}

/// The rules of one path.
///
/// Each rule is for different methods.
struct PathRules: Sendable {
    let isExact: Bool
    let segments: [UTF8Text]
    let rules: [ProtectionRules.CompiledRule]
    /// The allowed methods: the methods of the rules, and HEAD if a rule names GET.
    ///
    /// Empty if the rules name no methods.
    let allowed: [String]

    /// The rules of a path.
    ///
    /// - Parameter rules: At least one rule. All rules have the same path and the same value of `isExact`.
    init(_ rules: [ProtectionRules.CompiledRule]) {
        isExact = rules.first?.rule.isExact ?? false
        // A slash with a combining mark is no separator of characters, but it is one of bytes.
        segments = rules.first.map { Self.segments(of: $0.rule.path) } ?? []
        self.rules = rules
        let methods = Set(rules.flatMap(\.rule.methods))
        allowed = (methods.contains("GET") ? methods.union(["HEAD"]) : methods).sorted()
    }

    private static func segments(of path: String) -> [UTF8Text] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { UTF8Text(repairing: Array($0).span) }
    }

    /// Returns true if these rules apply to a path.
    ///
    /// Exact rules apply only to their own path. Other rules also apply to the paths below it. Segments are compared
    /// byte by byte.
    func matches(_ path: RequestPath) -> Bool {
        let count = path.segments.count
        guard isExact ? segments.count == count : segments.count <= count else { return false }
        for index in segments.indices where segments[index] != path.segments[index] { return false }
        return true
    }
}
