// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf

/// What a `protect` block is for: a host, a path, and whether what is below it is meant too.
struct RulePlace: Hashable, CustomStringConvertible {
    var host = ProtectRule.Host.any
    var path: String
    var isExact = false

    var description: String { (isExact ? "= " : "") + host.description + path }
}

/// The places that have been read: one may have several rules if each is about methods of its own.
struct RulePlaces {
    let linker: Linker
    private var earlier: [RulePlace: [(methods: [String]?, range: SourceRange)]] = [:]

    init(linker: Linker) { self.linker = linker }

    /// Takes note of a rule, and reports one that is about what another one is about.
    mutating func add(_ place: RulePlace, _ methods: [String]?, at range: SourceRange) {
        for other in earlier[place] ?? [] {
            let first = "the first one is at \(linker.text.place(of: other.range))"
            guard let methods, let others = other.methods else {
                let both = methods == nil && other.methods == nil ? "" : "; each names its methods, or there is one"
                linker.error(range, "a second rule for \(place)", hint: first + both)
                continue
            }
            let all = Set(Self.meant(others))
            if let common = Self.meant(methods).first(where: all.contains) {
                let head = common == "HEAD" ? "; GET stands for HEAD too" : ""
                linker.error(range, "a second rule for \(common) \(place)", hint: first + head)
            }
        }
        earlier[place, default: []].append((methods, range))
    }

    /// HEAD asks for what GET does, RFC 9110 section 9.3.2.
    private static func meant(_ methods: [String]) -> [String] {
        methods.contains("GET") && !methods.contains("HEAD") ? methods + ["HEAD"] : methods
    }
}

extension Linker {
    /// The place of a rule, the word that says it, and its block.
    func rulePlace(_ statement: Statement) -> (place: RulePlace, word: Word, block: [Statement])? {
        var statement = statement
        var isExact = false
        if let first = statement.arguments.first, first.text == "=", !first.isQuoted {
            let rest = Array(statement.arguments.dropFirst())
            statement = Statement(keyword: statement.keyword, arguments: rest, body: statement.body)
            isExact = true
        }
        guard let (word, block) = named(statement), let text = expanded(word) else { return nil }
        let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.startIndex
        guard let host = host(text[..<slash], word), let path = path(String(text[slash...]), word) else { return nil }
        return (RulePlace(host: host, path: path, isExact: isExact), word, block)
    }

    private func host(_ text: Substring, _ word: Word) -> ProtectRule.Host? {
        guard !text.isEmpty else { return .any }
        let isBelow = text.hasPrefix("*.")
        if let name = hostName(isBelow ? text.dropFirst(2) : text) { return isBelow ? .below(name) : .name(name) }
        let hint =
            switch true {
            case text == "*": "leave it out for all hosts"
            case text.hasPrefix("="): "a blank stands behind ="
            case text.hasPrefix("["): "IPv6 addresses are not supported here"
            case text.hasSuffix(":"): "leave out http:// and https://"
            case text.contains(":"): "a rule is for all ports of a host; leave the port out"
            default: "as in app.example.com/admin or *.example.com/: letters and digits of ASCII, - and ."
            }
        error(word.range, "\(text) is not a host that can be protected", hint: hint)
        return nil
    }

    /// A name of a host that settings may have; nil for what is none.
    func hostName(_ text: Substring) -> String? {
        text.utf8.contains(UInt8(ascii: "_")) ? nil : HostName.canonical(text)
    }

    /// A path as requests have it after normalisation, so that a rule can be compared with one.
    func path(_ text: String, _ word: Word) -> String? {
        let segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"%?#\\;\"".utf8.contains($0) }
        let inner = segments.last == "" ? segments.dropLast() : segments
        guard text.hasPrefix("/"), isPlain, !inner.contains(where: { ["", ".", ".."].contains($0) }) else {
            let hint = "as in /welcome: begins with /, no // . .. % ? # ; \\ and no blanks"
            error(word.range, "\(text) is not a path that can be protected", hint: hint)
            return nil
        }
        return inner.isEmpty ? "/" : "/" + inner.joined(separator: "/")
    }
}
