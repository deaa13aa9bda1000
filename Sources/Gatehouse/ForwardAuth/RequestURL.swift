// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A URL of HTTP, taken apart; its parts are yet to be checked.
struct RequestURL {
    /// How a request came.
    enum Scheme: String, Sendable, Hashable {
        case http
        case https
    }

    let scheme: Scheme
    let authority: String
    /// What the request line would say: the path, `/` if there is none, and the query.
    let target: String

    /// Takes a URL apart; nil for what does not begin with `http://` or `https://`.
    init?(_ text: String) {
        guard let end = text.utf8.firstRange(of: "://".utf8),
            let scheme = Scheme(rawValue: text[..<end.lowerBound].lowercased())
        else { return nil }
        self.scheme = scheme
        let rest = text[end.upperBound...]
        let slash = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        authority = String(rest[..<slash])
        target = rest[slash...].utf8.first == UInt8(ascii: "/") ? String(rest[slash...]) : "/" + rest[slash...]
    }
}
