// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The one path of a request that rules and pages see.
///
/// A path that two programs might read differently is refused, so that nobody can be let in by one reading and served by
/// another: `%2F`, `%5C`, dot segments, empty segments, `;`, `\`, control characters, bytes that are not UTF-8, fragments.
///
/// Source: RFC 9112 section 3.2, RFC 3986; CVE-2025-54576, CVE-2026-41059 and CVE-2026-40912 among others.
public struct RequestPath: Sendable, Hashable {
    /// The segments, percent-decoded; empty for `/`.
    public let segments: [String]
    /// Whether the path ends in `/`, as folders do.
    public let endsInSlash: Bool

    /// The path, percent-decoded.
    public var text: String { "/" + segments.joined(separator: "/") + (endsInSlash && !segments.isEmpty ? "/" : "") }

    /// Reads a request target; nil if it is not one that can be served without doubt.
    ///
    /// - Parameter target: The target in origin or absolute form, as it stands in the request line.
    public init?(target: String) {
        guard target.utf8.count <= 8192, let path = Self.path(of: target[...]) else { return nil }
        guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\\;\"<>^`{|}#".utf8.contains($0) }) else {
            return nil
        }
        var parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        endsInSlash = parts.last?.isEmpty ?? true
        if endsInSlash { parts.removeLast() }
        var segments: [String] = []
        for part in parts {
            guard let segment = Self.decode(part), !segment.isEmpty, segment != ".", segment != ".." else { return nil }
            segments.append(segment)
        }
        self.segments = segments
    }

    /// What is left of a target without scheme, authority and query.
    private static func path(of target: Substring) -> Substring? {
        guard !target.contains("#") else { return nil }
        var rest = target
        for scheme in ["https://", "http://"] where rest.lowercased().hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            guard !authority.isEmpty, !authority.contains("@") else { return nil }
            rest = rest.dropFirst(authority.count)
            if rest.first != "/" { rest = "/" + rest }
            break
        }
        guard rest.first == "/" else { return nil }
        return rest.prefix { $0 != "?" }
    }

    private static func decode(_ segment: Substring) -> String? {
        guard segment.contains("%") else { return String(segment) }
        var bytes: [UInt8] = []
        var rest = Array(segment.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let high = hexValue(rest.removeFirst()), let low = hexValue(rest.removeFirst())
            else { return nil }
            let decoded = high << 4 | low
            guard decoded >= 0x20, decoded != 0x7F, !"/\\%;".utf8.contains(decoded) else { return nil }
            bytes.append(decoded)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
