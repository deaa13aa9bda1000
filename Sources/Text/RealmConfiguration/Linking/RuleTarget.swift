// SPDX-License-Identifier: Apache-2.0

internal import LoginConf

/// The target of a `protect` block: a host and a path, with or without the paths below that path.
struct RuleTarget: Hashable, CustomStringConvertible {
    var host = ProtectRule.Host.any
    var path: String
    var isExact = false

    var description: String { (isExact ? "= " : "") + host.description + path }
}

/// The targets of the rules that have been read.
///
/// A target may have several rules if each rule has other methods.
struct RuleTargets {
    let builder: ConfigurationBuilder
    private var earlier: [RuleTarget: [(methods: [String]?, range: SourceRange)]] = [:]

    init(builder: ConfigurationBuilder) { self.builder = builder }

    /// Adds the target of a rule; reports an error if an earlier rule has the same target and method.
    mutating func add(_ target: RuleTarget, methods: [String]?, at range: SourceRange) {
        for other in earlier[target] ?? [] {
            let first = "the first one is at \(builder.text.place(of: other.range))"
            guard let methods, let others = other.methods else {
                let needsMethods =
                    methods == nil && other.methods == nil ? "" : "; if a path has several rules, each needs methods"
                builder.error(at: range, "a second rule for \(target)", hint: first + needsMethods)
                continue
            }
            let allowedBefore = Set(Self.withHead(others))
            if let common = Self.withHead(methods).first(where: allowedBefore.contains) {
                let head = common == "HEAD" ? "; GET includes HEAD" : ""
                builder.error(at: range, "a second rule for \(common) \(target)", hint: first + head)
            }
        }
        earlier[target, default: []].append((methods, range))
    }

    /// Returns the methods, with HEAD if GET is one of them: GET includes HEAD (RFC 9110 section 9.3.2).
    private static func withHead(_ methods: [String]) -> [String] {
        methods.contains("GET") && !methods.contains("HEAD") ? methods + ["HEAD"] : methods
    }
}

extension ConfigurationBuilder {
    /// Reads the target of a rule.
    ///
    /// - Returns: The target, its word, and the block of the rule.
    func ruleTarget(_ statement: Statement) -> (target: RuleTarget, word: RealmsConfWord, block: [Statement])? {
        var statement = statement
        var isExact = false
        if let first = statement.arguments.first, first.text == "=", !first.isQuoted {
            let rest = Array(statement.arguments.dropFirst())
            statement = Statement(keyword: statement.keyword, arguments: rest, body: statement.body)
            isExact = true
        } else if let first = statement.arguments.first, !first.isQuoted, TargetHint.operators.contains(first.text) {
            error(
                at: first.range,
                "\(first.text) is an operator for patterns, and patterns are not supported",
                hint: TargetHint.kinds
            )
            return nil
        }
        guard let (word, block) = wordAndBlock(statement), let text = expanded(word) else { return nil }
        if let target = TargetHint.target(ofURL: text) {
            error(at: word.range, "\(text) is a URL", hint: "write the host and the path only: \(target)")
            return nil
        }
        let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.startIndex
        guard let host = host(text[..<slash], at: word), let path = path(String(text[slash...]), at: word) else {
            return nil
        }
        return (RuleTarget(host: host, path: path, isExact: isExact), word, block)
    }

    /// Returns the hosts that a word names; without a name these are all hosts.
    func host(_ text: Substring, at word: RealmsConfWord) -> ProtectRule.Host? {
        guard !text.isEmpty else { return .any }
        let isBelow = text.hasPrefix("*.")
        if let name = HostName.canonicalInConfiguration(isBelow ? text.dropFirst(2) : text) {
            return isBelow ? .below(name) : .name(name)
        }
        let hint =
            switch true {
            case text == "*": "for all hosts, write the path only"
            case text.contains("*"):
                "* is allowed only at the beginning, as in *.example.com for all hosts below a domain"
            case text.hasPrefix("="): "write a blank after ="
            case text.hasPrefix("["): "IPv6 addresses are not supported here"
            case text.contains(":"): "a rule is for all ports of a host: remove the port"
            default: "use ASCII letters, digits, - and ., as in app.example.com/admin or *.example.com/"
            }
        error(at: word.range, "\(text) is not a host that can be protected", hint: hint)
        return nil
    }

    /// Returns the normalized form of a path, for comparison with the paths of requests.
    ///
    /// A path that looks like a pattern is rejected, unless it is quoted. Patterns are not supported: their characters
    /// would be compared literally, so a rule with a pattern would protect nothing.
    func path(_ text: String, at word: RealmsConfWord) -> String? {
        if !word.isQuoted, text.hasPrefix("/"), let pattern = TargetHint.pattern(in: text) {
            let hint =
                "\(pattern.parent) is for all paths below it; quote the path if \(pattern.character) is a part of its name"
            error(at: word.range, "\(text) contains \(pattern.character), and patterns are not supported", hint: hint)
            return nil
        }
        let segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"%?#\\;\"".utf8.contains($0) }
        let inner = segments.last == "" ? segments.dropLast() : segments
        guard text.hasPrefix("/"), isPlain, !inner.contains(where: { ["", ".", ".."].contains($0) }) else {
            error(at: word.range, "\(text) is not a path that can be protected", hint: TargetHint.hint(forPath: text))
            return nil
        }
        return inner.isEmpty ? "/" : "/" + inner.joined(separator: "/")
    }
}
