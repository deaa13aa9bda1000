// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import RealmConfiguration

/// The rules of one host, of all hosts below a domain or of all hosts, in the order of evaluation.
struct HostRules: Sendable {
    let host: ProtectRule.Host
    let paths: [PathRules]

    init(_ host: ProtectRule.Host, _ rules: [ProtectionRules.CompiledRule]) {
        self.host = host
        // The keys are bytes: as strings, two spellings of an accent would be the same key.
        var paths: [[UInt8]: [ProtectionRules.CompiledRule]] = [:]
        for guarded in rules {
            let rule = guarded.rule
            let path = rule.path.utf8.split(separator: UInt8(ascii: "/")).joined(separator: [UInt8(ascii: "/")])
            paths[[rule.isExact ? 1 : 0] + path, default: []].append(guarded)
        }
        // Of two paths with the same number of segments, at most one matches a request; the order by name makes
        // explanations readable.
        self.paths = paths.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { PathRules($0.value) }.sorted {
            $0.isExact == $1.isExact ? $0.segments.count > $1.segments.count : $0.isExact
        }
    }

    /// Returns a host in the form in which rules compare hosts; in another spelling it would never match.
    static func canonical(_ host: ProtectRule.Host) -> ProtectRule.Host {
        switch host {
        case .any: .any
        case .name(let name): .name(HostName.canonical(name[...]) ?? name)
        case .below(let domain): .below(HostName.canonical(domain[...]) ?? domain)
        }
    }

    /// Returns whether these rules apply to a host.
    func matches(_ host: RequestHost?) -> Bool {
        switch self.host {
        case .any: true
        case .name(let name): host.map { $0.name.hasBytes(of: name) } ?? false
        case .below(let domain): host.map { Self.isBelow($0.name, domain) } ?? false
        }
    }

    /// Returns whether a name is one or more labels and then the domain.
    private static func isBelow(_ name: String, _ domain: String) -> Bool {
        let (name, domain) = (name.utf8Span.span, domain.utf8Span.span)
        let dot = name.count - domain.count - 1
        guard dot > 0, name[dot] == UInt8(ascii: ".") else { return false }
        for index in domain.indices where name[dot + 1 + index] != domain[index] { return false }
        return true
    }
}

extension ProtectRule.Host {
    /// The precedence of the host; rules with a greater rank are evaluated first.
    var rank: Int {
        switch self {
        case .any: -1
        case .name: .max
        case .below(let domain): domain.utf8.count
        }
    }
}

/// The rules of one path, each for different methods.
struct PathRules: Sendable {
    let isExact: Bool
    let segments: [UTF8Text]
    let rules: [ProtectionRules.CompiledRule]
    /// The methods that the rules name, and HEAD where they name GET; empty if they name none.
    let allowed: [String]

    /// - Parameter rules: At least one; their path and exactness are the same.
    init(_ rules: [ProtectionRules.CompiledRule]) {
        isExact = rules.first?.rule.isExact ?? false
        segments = rules.first?.rule.path.split(separator: "/").map { UTF8Text(String($0)) } ?? []
        self.rules = rules
        let methods = Set(rules.flatMap(\.rule.methods))
        allowed = (methods.contains("GET") ? methods.union(["HEAD"]) : methods).sorted()
    }

    /// Returns whether these rules apply to a path: to their own path and, unless they are exact, to the paths below
    /// it.
    ///
    /// Segments are compared byte by byte: two spellings that Unicode treats as equal are two paths.
    func matches(_ path: RequestPath) -> Bool {
        let count = path.segments.count
        guard isExact ? segments.count == count : segments.count <= count else { return false }
        for index in segments.indices where segments[index] != path.segments[index] { return false }
        return true
    }
}
