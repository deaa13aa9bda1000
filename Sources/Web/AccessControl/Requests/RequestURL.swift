// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// An HTTP URL, split into its parts.
///
/// The parts are not checked yet.
package struct RequestURL {
    /// The scheme of a URL.
    package enum Scheme: String, Sendable, Hashable {
        case http
        case https
    }

    package let scheme: Scheme
    package let authority: String
    /// The target as in the request line: the path and the query.
    ///
    /// An empty path is replaced by `/`.
    package let target: String

    /// Splits a URL; nil if it does not begin with `http://` or `https://`.
    package init?(_ text: String) {
        let bytes = text.utf8Span.span
        let authorityStart: Int
        if bytes.beginsIgnoringCase(with: "https://") {
            (scheme, authorityStart) = (.https, 8)
        } else if bytes.beginsIgnoringCase(with: "http://") {
            (scheme, authorityStart) = (.http, 7)
        } else {
            return nil
        }
        var end = authorityStart
        while end < bytes.count, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") { end += 1 }
        let authority = text.utf8.prefix(end).dropFirst(authorityStart)
        let target = text.utf8.dropFirst(end)
        self.authority = String(Substring(authority))
        self.target = target.first == UInt8(ascii: "/") ? String(Substring(target)) : "/" + Substring(target)
    }
}
