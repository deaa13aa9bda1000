// SPDX-License-Identifier: Apache-2.0

import Bytes
import RealmConfiguration
import SeededRandom

@testable import AccessControl

/// A simple model of the documented order of rules, with strings and sorting.
struct RuleModel {
    let rules: [ProtectRule]

    /// Returns the decision: `none`, `uncovered` with the allowed methods, or the place of the rule.
    func decide(host: String?, path: String, method: String) -> String {
        var name = host?.lowercased()
        if let colon = name?.lastIndex(of: ":") { name = name.map { String($0[..<colon]) } }
        if name?.hasSuffix(".") ?? false { name?.removeLast() }
        let wanted = Self.segments(path)
        let matching = rules.filter { rule in
            let isHost =
                switch rule.host {
                case .any: true
                case .name(let other): name == other
                case .below(let domain): name?.hasSuffix("." + domain) ?? false
                }
            let segments = Self.segments(rule.path)
            return isHost && (rule.isExact ? segments == wanted : Array(wanted.prefix(segments.count)) == segments)
        }
        guard let best = matching.max(by: { Self.weight($0) < Self.weight($1) }) else { return "none" }
        let bestRules = matching.filter { Self.weight($0) == Self.weight(best) }
        let methods = bestRules.map { $0.methods + ($0.methods.contains("GET") ? ["HEAD"] : []) }
        for (rule, methods) in zip(bestRules, methods) where methods.isEmpty || methods.contains(method) {
            return rule.place
        }
        return "uncovered \(Set(methods.flatMap(\.self)).sorted())"
    }

    private static func segments(_ path: String) -> [UTF8Text] {
        path.split(separator: "/").map { UTF8Text(String($0)) }
    }

    private static func weight(_ rule: ProtectRule) -> Int {
        let host =
            switch rule.host {
            case .any: 0
            case .name: 1000
            case .below(let domain): domain.count
            }
        return host * 1000 + (rule.isExact ? 500 : 0) + segments(rule.path).count
    }
}

/// Random rules and requests, made of few words so that many requests match a rule.
struct RandomRules {
    var random: Random
    static let names = ["a.example", "b.a.example", "c.b.a.example", "example", "xa.example", "127.0.0.1"]
    /// The largest number of targets of a set.
    var maximum = 10
    /// The segments of paths.
    var words = ["a", "b", "A"]
    /// The hosts, besides ``names``.
    var moreNames: [String] = []

    init(seed: UInt64) { random = Random(seed: seed) }

    mutating func path() -> String {
        "/" + (0..<random.below(4)).map { _ in random.pick(words) }.joined(separator: "/")
    }

    /// Returns random rules, each with its own place.
    ///
    /// Rules with the same target have different methods.
    mutating func rules() -> [ProtectRule] {
        var seen: Set<String> = []
        var rules: [ProtectRule] = []
        for _ in 0..<1 + random.below(maximum) {
            var rule = ProtectRule(path: path(), realms: ["r"], schemes: [.basic], requirements: [.any])
            switch random.below(3) {
            case 0: rule.host = .any
            case 1: rule.host = .name(random.pick(Self.names + moreNames))
            default: rule.host = .below(random.pick(["a.example", "example", "b.a.example"] + moreNames))
            }
            rule.isExact = random.below(3) == 0
            guard seen.insert(rule.target).inserted else { continue }
            guard random.below(2) == 0 else {
                rule.place = "\(rules.count)"
                rules.append(rule)
                continue
            }
            for methods in [["GET"], ["POST", "PUT"]].prefix(1 + random.below(2)) {
                rule.methods = methods
                rule.place = "\(rules.count)"
                rules.append(rule)
            }
        }
        return rules
    }

    mutating func request() -> (host: String?, path: String, method: String) {
        let host = random.below(5) == 0 ? nil : random.pick(Self.names + moreNames + ["other.test"])
        return (host, path(), random.pick(["GET", "HEAD", "POST", "DELETE", "get"]))
    }

    /// Returns another spelling of a host.
    mutating func spelling(of host: String) -> String {
        let text = String(host.map { random.below(2) == 0 ? Character($0.uppercased()) : $0 })
        return text + random.pick(["", ".", ":443", ".:8443", ":"])
    }
}

extension ProtectionRules {
    /// Returns the decision in the format of ``RuleModel``.
    func decide(host: String?, path: String, method: String) -> String? {
        guard let path = RequestPath(target: path) else { return nil }
        return switch match(host: host, path: path, method: method) {
        case .none: "none"
        case .uncovered(let allowed, _): "uncovered \(allowed)"
        case .rule(let compiled): compiled.rule.place
        case .ambiguousHost: "ambiguous host"
        case .ambiguousPath: "ambiguous path"
        }
    }
}
