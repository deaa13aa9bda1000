// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
        let utf8 = text.utf8
        guard let scheme = Scheme(beginning: utf8.prefix(8).map(ASCII.lowercased)) else { return nil }
        self.scheme = scheme
        let rest = text[utf8.index(utf8.startIndex, offsetBy: scheme.rawValue.utf8.count + 3)...]
        let slash = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        authority = String(rest[..<slash])
        target = rest[slash...].utf8.first == UInt8(ascii: "/") ? String(rest[slash...]) : "/" + rest[slash...]
    }
}

extension RequestURL.Scheme {
    private static let prefixes: [(prefix: [UInt8], scheme: Self)] = [
        (Array("https://".utf8), .https), (Array("http://".utf8), .http),
    ]

    /// Finds the scheme by the first bytes of a URL in lower case; nil if the scheme is not supported.
    fileprivate init?(beginning bytes: [UInt8]) {
        guard let found = Self.prefixes.first(where: { bytes.starts(with: $0.prefix) }) else { return nil }
        self = found.scheme
    }
}
