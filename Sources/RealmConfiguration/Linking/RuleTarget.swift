// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf

/// The place that a `protect` block is for: a host, a path, and whether paths below it are included.
struct RulePlace: Hashable, CustomStringConvertible {
    var host = ProtectRule.Host.any
    var path: String
    var isExact = false

    var description: String { (isExact ? "= " : "") + host.description + path }
}

/// The places that have been read; one may have several rules if each has methods of its own.
struct RulePlaces {
    let builder: ConfigurationBuilder
    private var earlier: [RulePlace: [(methods: [String]?, range: SourceRange)]] = [:]

    init(builder: ConfigurationBuilder) { self.builder = builder }

    /// Adds a rule, and reports it if another rule has the same place and method.
    mutating func add(_ place: RulePlace, methods: [String]?, at range: SourceRange) {
        for other in earlier[place] ?? [] {
            let first = "the first one is at \(builder.text.place(of: other.range))"
            guard let methods, let others = other.methods else {
                let both =
                    methods == nil && other.methods == nil ? "" : "; several rules for a place need methods in each"
                builder.error(at: range, "a second rule for \(place)", hint: first + both)
                continue
            }
            let all = Set(Self.meant(others))
            if let common = Self.meant(methods).first(where: all.contains) {
                let head = common == "HEAD" ? "; GET includes HEAD" : ""
                builder.error(at: range, "a second rule for \(common) \(place)", hint: first + head)
            }
        }
        earlier[place, default: []].append((methods, range))
    }

    /// Adds HEAD to GET, as it requests the same (RFC 9110 section 9.3.2).
    private static func meant(_ methods: [String]) -> [String] {
        methods.contains("GET") && !methods.contains("HEAD") ? methods + ["HEAD"] : methods
    }
}

extension ConfigurationBuilder {
    /// Reads the place of a rule.
    ///
    /// - Returns: The place, its word, and the block.
    func rulePlace(_ statement: Statement) -> (place: RulePlace, word: Word, block: [Statement])? {
        var statement = statement
        var isExact = false
        if let first = statement.arguments.first, first.text == "=", !first.isQuoted {
            let rest = Array(statement.arguments.dropFirst())
            statement = Statement(keyword: statement.keyword, arguments: rest, body: statement.body)
            isExact = true
        } else if let first = statement.arguments.first, !first.isQuoted, PlaceHint.operators.contains(first.text) {
            error(
                at: first.range,
                "\(first.text) is an operator for patterns, and patterns are not supported",
                hint: PlaceHint.places
            )
            return nil
        }
        guard let (word, block) = named(statement), let text = expanded(word) else { return nil }
        if let place = PlaceHint.place(ofURL: text) {
            error(at: word.range, "\(text) is a URL", hint: "a place has no scheme, port or query: \(place)")
            return nil
        }
        let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.startIndex
        guard let host = host(text[..<slash], at: word), let path = path(String(text[slash...]), at: word) else {
            return nil
        }
        return (RulePlace(host: host, path: path, isExact: isExact), word, block)
    }

    private func host(_ text: Substring, at word: Word) -> ProtectRule.Host? {
        guard !text.isEmpty else { return .any }
        let isBelow = text.hasPrefix("*.")
        if let name = hostName(isBelow ? text.dropFirst(2) : text) { return isBelow ? .below(name) : .name(name) }
        let hint =
            switch true {
            case text == "*": "leave it out for all hosts"
            case text.contains("*"): "* is allowed in front only, for all hosts below a domain: *.example.com"
            case text.hasPrefix("'"): "use double quotes"
            case text.hasPrefix("="): "write a blank after ="
            case text.hasPrefix("["): "IPv6 addresses are not supported here"
            case text.contains(":"): "a rule is for all ports of a host; leave the port out"
            default: "as in app.example.com/admin or *.example.com/: letters and digits of ASCII, - and ."
            }
        error(at: word.range, "\(text) is not a host that can be protected", hint: hint)
        return nil
    }

    /// Returns a host name as settings may contain it; nil if it is not valid.
    func hostName(_ text: Substring) -> String? {
        text.utf8.contains(UInt8(ascii: "_")) ? nil : HostName.canonical(text)
    }

    /// Reads a path in the form of normalised requests, with which rules are compared.
    ///
    /// A pattern of other programs would be compared as a literal path, and protect nothing: it is rejected unless quoted.
    func path(_ text: String, at word: Word) -> String? {
        if !word.isQuoted, text.hasPrefix("/"), let pattern = PlaceHint.pattern(in: text) {
            let hint =
                "\(pattern.covering) covers all below it; quote the path if \(pattern.mark) is a part of its name"
            error(at: word.range, "\(text) contains \(pattern.mark), and patterns are not supported", hint: hint)
            return nil
        }
        let segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"%?#\\;\"".utf8.contains($0) }
        let inner = segments.last == "" ? segments.dropLast() : segments
        guard text.hasPrefix("/"), isPlain, !inner.contains(where: { ["", ".", ".."].contains($0) }) else {
            error(at: word.range, "\(text) is not a path that can be protected", hint: PlaceHint.hint(forPath: text))
            return nil
        }
        return inner.isEmpty ? "/" : "/" + inner.joined(separator: "/")
    }
}
