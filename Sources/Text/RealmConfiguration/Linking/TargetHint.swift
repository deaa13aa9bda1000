// SPDX-License-Identifier: Apache-2.0

/// Hints for targets of rules that are written in the syntax of other programs.
enum TargetHint {
    /// The operators that nginx and other programs require before a pattern.
    static let operators: Set<String> = ["~", "~*", "^~", "=~", "!~", "regex", "regexp", "glob"]

    /// The hint about the two kinds of targets.
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

    /// Returns a path without its last segment.
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
