// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import LoginConf

/// The target of a `protect` block: a host and a path, with or without the paths below that path.
struct RuleTarget: Hashable, CustomStringConvertible {
    var host = ProtectRule.Host.any
    var path: String
    var isExact = false

    var description: String { (isExact ? "= " : "") + host.description + path }
}

/// The targets of the rules that have been read; a target may have several rules if each rule has other methods.
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
    /// Reads the target of a rule, and returns it with its word and the block of the rule.
    func ruleTarget(_ statement: Statement) -> (target: RuleTarget, word: RealmsConfWord, block: [Statement])? {
        var statement = statement
        var isExact = false
        if let first = statement.arguments.first, !first.isQuoted {
            if first.text == "=" {
                let rest = Array(statement.arguments.dropFirst())
                statement = Statement(keyword: statement.keyword, arguments: rest, body: statement.body)
                isExact = true
            } else if TargetHint.operators.contains(first.text) {
                let message = "\(first.text) is an operator for patterns, and patterns are not supported"
                error(at: first.range, message, hint: TargetHint.kinds)
                return nil
            }
        }
        guard let (word, block) = wordAndBlock(statement) else { return nil }
        return target(word, isExact: isExact).map { ($0, word, block) }
    }

    /// Reads the host and the path of a target.
    func target(_ word: RealmsConfWord, isExact: Bool = false) -> RuleTarget? {
        value(of: word) { text throws(BadWord) in
            if let target = TargetHint.target(ofURL: text) {
                throw BadWord("\(text) is a URL", hint: "write the host and the path only: \(target)")
            }
            let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.startIndex
            let host = try ProtectRule.Host(word: text[..<slash])
            let path = try RuleTarget.path(String(text[slash...]), isQuoted: word.isQuoted)
            return RuleTarget(host: host, path: path, isExact: isExact)
        }
    }
}

extension ProtectRule.Host {
    /// Reads the hosts that a word names; without a name these are all hosts.
    init(word text: Substring) throws(BadWord) {
        guard !text.isEmpty else {
            self = .any
            return
        }
        let isBelow = text.hasPrefix("*.")
        if let name = HostName.canonicalInConfiguration(isBelow ? text.dropFirst(2) : text) {
            self = isBelow ? .below(name) : .name(name)
            return
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
        throw BadWord("\(text) is not a host that can be protected", hint: hint)
    }
}

extension RuleTarget {
    /// Returns the normalized form of a path, for comparison with the paths of requests.
    ///
    /// A path that looks like a pattern is rejected, unless it is quoted. Patterns are not supported: their characters
    /// would be compared literally, so a rule with a pattern would protect nothing.
    static func path(_ text: String, isQuoted: Bool) throws(BadWord) -> String {
        if !isQuoted, text.hasPrefix("/"), let pattern = TargetHint.pattern(in: text) {
            let hint =
                "\(pattern.parent) is for all paths below it; quote the path if \(pattern.character) is a part of its name"
            throw BadWord("\(text) contains \(pattern.character), and patterns are not supported", hint: hint)
        }
        let segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"%?#\\;\"".utf8.contains($0) }
        let inner = segments.last == "" ? segments.dropLast() : segments
        guard text.hasPrefix("/"), isPlain, !inner.contains(where: { ["", ".", ".."].contains($0) }) else {
            throw BadWord("\(text) is not a path that can be protected", hint: TargetHint.hint(forPath: text))
        }
        return inner.isEmpty ? "/" : "/" + inner.joined(separator: "/")
    }
}

/// Hints for targets of rules that are written in the syntax of other programs.
private enum TargetHint {
    /// The operators that nginx and other programs require before a pattern.
    static let operators: Set<String> = ["~", "~*", "^~", "=~", "!~", "regex", "regexp", "glob"]

    static let kinds = "/admin is for that path and all paths below it; = /admin is for that path only"

    /// The characters that have a special meaning in patterns of other programs, but not here.
    private static let specialCharacters = Set("*?|()[]<>^$".utf8)

    /// Returns the first special character of a path, and the path above its segment; nil for a plain path.
    static func pattern(in path: String) -> (character: String, parent: String)? {
        guard let place = path.utf8.firstIndex(where: { specialCharacters.contains($0) }) else {
            // A parameter such as `/users/:id`.
            guard let start = path.firstRange(of: "/:") else { return nil }
            return (":", parent(of: path[..<start.upperBound]))
        }
        // `?` with `=` after it begins a query, which has a hint of its own.
        if path.utf8[place] == UInt8(ascii: "?"), path[place...].contains("=") { return nil }
        return (String(path[place]), parent(of: path[..<place]))
    }

    private static func parent(of path: Substring) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().dropLast()
        return "/" + segments.filter { !$0.isEmpty }.joined(separator: "/")
    }

    /// Returns the host and path of a URL; nil if the text is not a URL.
    static func target(ofURL text: String) -> String? {
        guard let scheme = text.firstRange(of: "://"), !text[..<scheme.lowerBound].contains("/") else { return nil }
        let rest = text[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let host = rest.prefix { $0 != "/" && $0 != ":" }
        let path = rest.drop { $0 != "/" }
        return "\(host)\(path.isEmpty ? "/" : path)"
    }

    /// Returns a hint for a path that cannot be protected.
    static func hint(forPath path: String) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return switch true {
        case !path.hasPrefix("/"): "a path begins with /, also after a host: /welcome, app.example.com/, *.example.com/"
        case path.contains("?"): "a rule is for a path with any query: remove ? and the query"
        case path.contains("%"): "requests are decoded before they are compared: write the character itself"
        case segments.contains("."), segments.contains(".."): "remove . and ..: a request with them is rejected"
        case path.contains("//"): "one / is enough: a request with // is rejected"
        default: "use visible ASCII without # ; \\ \" and blanks; for other paths write a rule for the path above them"
        }
    }
}

// MARK: Methods

extension Block {
    /// The methods in the registry of IANA (RFC 9110 section 16.1.1), and those of common programs.
    private static let knownMethods = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "ACL", "BASELINE-CONTROL",
        "BIND", "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "LOCK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL",
        "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PRI", "PROPFIND", "PROPPATCH", "QUERY", "REBIND",
        "REPORT", "SEARCH", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF",
        "VERSION-CONTROL", "M-SEARCH", "NOTIFY", "SUBSCRIBE", "UNSUBSCRIBE", "PURGE",
    ]

    /// Reads the `methods` of a rule; nil without the statement.
    func methods() -> [String]? {
        guard first("methods") != nil else { return nil }
        let methods = list("methods", isUnique: true, Self.method)
        for method in methods where !Self.knownMethods.contains(method.value) {
            guard let known = NearestName.suggest(method.value, among: Self.knownMethods) else { continue }
            builder.warn(at: method.range, "\(method.value) is not a known method", hint: "did you mean \(known)?")
        }
        return methods.map(\.value)
    }

    private static func method(_ method: String) throws(BadWord) -> String {
        let upper = method.uppercased()
        if ["*", "ALL", "ANY"].contains(upper) {
            let hint = "a rule without methods is for all methods: remove the statement"
            throw BadWord("\(method) is not a method", hint: hint)
        }
        let isToken = method.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") }
        guard isToken, (1...32).contains(method.utf8.count) else {
            let hint =
                knownMethods.contains(upper)
                ? "methods are in capital letters: \(upper)"
                : "a method has 1 to 32 characters, A to Z and -, such as GET"
            throw BadWord("\(method) is not a method", hint: hint)
        }
        return method
    }
}
