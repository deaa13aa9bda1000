// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmConfiguration

/// The rules of one host, or of all of a kind, those that go first first.
struct HostRules: Sendable {
    let host: ProtectRule.Host
    let places: [PathRules]

    init(_ host: ProtectRule.Host, _ rules: [ProtectionRules.Guarded]) {
        self.host = host
        // By bytes: a dictionary would take two spellings of an accent for one path.
        var places: [[UInt8]: [ProtectionRules.Guarded]] = [:]
        for guarded in rules {
            let rule = guarded.rule
            let path = rule.path.utf8.split(separator: UInt8(ascii: "/")).joined(separator: [UInt8(ascii: "/")])
            places[[rule.isExact ? 1 : 0] + path, default: []].append(guarded)
        }
        // Of those with as many segments none is asked before another one that is for the same path: by name, for people.
        self.places = places.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { PathRules($0.value) }.sorted {
            $0.isExact == $1.isExact ? $0.segments.count > $1.segments.count : $0.isExact
        }
    }

    /// A host as the rules compare it, however it was written: one that is spelled in another way would never match.
    static func canonical(_ host: ProtectRule.Host) -> ProtectRule.Host {
        switch host {
        case .any: .any
        case .name(let name): .name(HostName.canonical(name[...]) ?? name)
        case .below(let domain): .below(HostName.canonical(domain[...]) ?? domain)
        }
    }

    /// Whether these rules are about a host.
    func covers(_ host: RequestHost?) -> Bool {
        switch self.host {
        case .any: true
        case .name(let name): host.map { $0.name.hasBytes(of: name) } ?? false
        case .below(let domain): host.map { Self.isBelow($0.name, domain) } ?? false
        }
    }

    /// Whether a name is one or more labels and then the domain.
    private static func isBelow(_ name: String, _ domain: String) -> Bool {
        let (name, domain) = (name.utf8Span.span, domain.utf8Span.span)
        let dot = name.count - domain.count - 1
        guard dot > 0, name[dot] == UInt8(ascii: ".") else { return false }
        for index in domain.indices where name[dot + 1 + index] != domain[index] { return false }
        return true
    }
}

extension ProtectRule.Host {
    /// The greater goes first.
    var rank: Int {
        switch self {
        case .any: -1
        case .name: .max
        case .below(let domain): domain.utf8.count
        }
    }
}

/// The rules of one path, each about methods of its own.
struct PathRules: Sendable {
    let isExact: Bool
    let segments: [String]
    let rules: [ProtectionRules.Guarded]
    /// The methods that one of the rules is about; empty if that is all of them.
    let allowed: [String]

    /// - Parameter rules: At least one; their path and exactness are the same.
    init(_ rules: [ProtectionRules.Guarded]) {
        isExact = rules.first?.rule.isExact ?? false
        segments = rules.first?.rule.path.split(separator: "/").map(String.init) ?? []
        self.rules = rules
        let methods = Set(rules.flatMap(\.rule.methods))
        allowed = (methods.contains("GET") ? methods.union(["HEAD"]) : methods).sorted()
    }

    /// Whether a path is this one, or below it if these rules are about that too.
    ///
    /// Byte by byte: two spellings that Unicode holds for the same are two paths.
    func covers(_ path: RequestPath) -> Bool {
        let count = path.segments.count
        guard isExact ? segments.count == count : segments.count <= count else { return false }
        for index in segments.indices where !segments[index].hasBytes(of: path.segments[index]) { return false }
        return true
    }
}

extension String {
    /// Whether the bytes of two texts are the same; `==` takes two spellings of an accent for one.
    ///
    /// For what is asked in a loop over rules: most differ in their length, and views of UTF-8 are slow to go through.
    func hasBytes(of other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let (bytes, others) = (utf8Span.span, other.utf8Span.span)
        for index in bytes.indices where bytes[index] != others[index] { return false }
        return true
    }
}
