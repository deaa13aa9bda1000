// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Hints for places that are written in the syntax of other programs.
enum PlaceHint {
    /// The operators of nginx and others before a pattern.
    static let operators: Set<String> = ["~", "~*", "^~", "=~", "!~"]

    /// The hint about the two kinds of places.
    static let places = "/admin covers all below it; = /admin is for that path alone"

    /// Characters that are literal in a path here, and special in patterns of other programs.
    private static let marks = Set("*?|()[]<>^$".utf8)

    /// Returns the first special character of a path, and the longest path above it; nil for a plain path.
    static func pattern(in path: String) -> (mark: String, covering: String)? {
        guard let place = path.utf8.firstIndex(where: { marks.contains($0) }) else {
            // As in `/users/:id`.
            guard let start = path.firstRange(of: "/:") else { return nil }
            return (":", above(path[..<start.upperBound]))
        }
        // A query is not a pattern, and has a hint of its own.
        if path.utf8[place] == UInt8(ascii: "?"), path[place...].contains("=") { return nil }
        return (String(path[place]), above(path[..<place]))
    }

    /// Returns the path above the last segment.
    private static func above(_ path: Substring) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().dropLast()
        return "/" + segments.filter { !$0.isEmpty }.joined(separator: "/")
    }

    /// Returns the place of a URL; nil if the text is not one.
    static func place(ofURL text: String) -> String? {
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
        case path.contains("?"): "a rule is for a path, whatever the query: leave out ? and the rest"
        case path.contains("%"): "requests are decoded before they are compared: write the character itself"
        case segments.contains("."), segments.contains(".."): "leave out . and ..: a request with them is rejected"
        case path.contains("//"): "one / is enough: a request with // is rejected"
        default: "as in /welcome: visible ASCII, no # ; \\ \" and no blanks; a rule for the path above covers others"
        }
    }
}
