// SPDX-License-Identifier: Apache-2.0

public import Bytes

/// The decoded path of a request, which is never ambiguous.
///
/// A path that two programs might read differently is rejected. Otherwise Gatehouse could allow a path that the
/// application reads as another, protected path. The rejected paths contain `%2F`, `%5C`, `%3F`, `%23`, dot segments,
/// empty segments, `;`, `\`, control characters, bytes that are not UTF-8, or a fragment.
///
/// Source: RFC 9112 section 3.2, RFC 3986; CVE-2025-54576, CVE-2026-41059 and CVE-2026-40912 among others.
public struct RequestPath: Sendable, Hashable {
    /// The segments, percent-decoded and compared byte by byte; empty for `/`.
    public let segments: [UTF8Text]
    /// True if the path ends with `/`.
    public let endsInSlash: Bool

    /// The path, percent-decoded.
    public var text: String {
        "/" + segments.map(\.string).joined(separator: "/") + (endsInSlash && !segments.isEmpty ? "/" : "")
    }

    /// Parses a request target in origin or absolute form; nil if it is ambiguous.
    public init?(target: String) { self.init(target: target.utf8Span.span) }

    /// Parses the bytes of a request target in origin or absolute form; nil if it is ambiguous.
    public init?(target: Span<UInt8>) {
        do throws(AmbiguousPath) { try self.init(reading: target) } catch { return nil }
    }

    /// Parses the bytes of a request target in origin or absolute form, and throws the first reason why it is ambiguous.
    public init(reading target: Span<UInt8>) throws(AmbiguousPath) {
        let path = try Self.path(of: target)
        guard path.count <= 8192 else { throw .tooLong }
        var segments: [UTF8Text] = []
        var endsInSlash = false
        var start = path.lowerBound + 1
        if path.count <= 1 { endsInSlash = true } else { segments.reserveCapacity(2) }
        while start < path.upperBound {
            var end = start
            var isEncoded = false
            while end < path.upperBound, target[end] != UInt8(ascii: "/") {
                guard Self.isPlain(target[end]) else { throw .character }
                if target[end] == UInt8(ascii: "%") { isEncoded = true }
                end += 1
            }
            guard end > start else { throw .emptySegment }
            let bytes = target.extracting(start..<end)
            if isEncoded {
                segments.append(try Self.decode(bytes))
            } else {
                guard !Self.isDots(bytes) else { throw .dots }
                // All bytes are ASCII here, so the conversion replaces no invalid bytes.
                segments.append(UTF8Text(repairing: bytes))
            }
            start = end + 1
            endsInSlash = start == path.upperBound
        }
        self.segments = segments
        self.endsInSlash = endsInSlash
    }

    /// One of the readings of an ambiguous path; see ``PathReadings``.
    init(_ segments: [UTF8Text], endsInSlash: Bool) {
        self.segments = segments
        self.endsInSlash = endsInSlash
    }

    /// Returns the range of the path in a target, without scheme, authority and query.
    static func path(of target: Span<UInt8>) throws(AmbiguousPath) -> Range<Int> {
        var start = 0
        if let length = schemeLength(target) {
            start = length
            while start < target.count, target[start] != UInt8(ascii: "/"), target[start] != UInt8(ascii: "?") {
                if target[start] == UInt8(ascii: "@") { throw .noPath }
                start += 1
            }
            guard start > length else { throw .noPath }
        }
        var end = start
        while end < target.count, target[end] != UInt8(ascii: "?") {
            guard target[end] != UInt8(ascii: "#") else { throw .fragment }
            end += 1
        }
        for index in end..<target.count where target[index] == UInt8(ascii: "#") { throw .fragment }
        if end == start, start > 0 { return start..<start }
        guard start < target.count, target[start] == UInt8(ascii: "/") else { throw .noPath }
        return start..<end
    }

    private static func schemeLength(_ target: Span<UInt8>) -> Int? {
        guard target.count > 0, target[0] != UInt8(ascii: "/") else { return nil }
        return [("https://" as StaticString), "http://"].first { target.beginsIgnoringCase(with: $0) }?
            .utf8CodeUnitCount
    }

    /// Returns true for the bytes that RFC 3986 allows in a path, except `;`.
    static func isPlain(_ byte: UInt8) -> Bool {
        guard ASCII.isVisible(byte) else { return false }
        switch byte {
        case UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"),
            UInt8(ascii: "#"):
            return false
        default: return true
        }
    }

    private static func isDots(_ segment: Span<UInt8>) -> Bool {
        segment.equalsIgnoringCase(".") || segment.equalsIgnoringCase("..")
    }

    private static func decode(_ segment: Span<UInt8>) throws(AmbiguousPath) -> UTF8Text {
        var bytes: [UInt8] = []
        var index = 0
        while index < segment.count {
            guard segment[index] == UInt8(ascii: "%") else {
                bytes.append(segment[index])
                index += 1
                continue
            }
            guard let decoded = PercentEncoding.decode(segment, at: index), decoded >= 0x20, decoded != 0x7F,
                !"/\\%;?#".utf8.contains(decoded)
            else { throw .encoding }
            bytes.append(decoded)
            index += 3
        }
        guard !isDots(bytes.span) else { throw .dots }
        guard let text = UTF8Text(validating: bytes.span) else { throw .encoding }
        return text
    }
}

/// The reason why a request target is ambiguous: two programs might read it differently.
public enum AmbiguousPath: Error, Sendable, Hashable, CustomStringConvertible {
    /// The target has no path, or a user name before the host.
    case noPath
    /// The path is longer than 8192 bytes.
    case tooLong
    /// Two `/` follow each other.
    case emptySegment
    /// A segment is `.` or `..`.
    case dots
    /// A `%` without two hexadecimal digits, or an encoded character that is not allowed.
    ///
    /// The encoded forms of `/`, `\`, `%`, `;`, `?`, `#`, control characters and bytes that are not UTF-8 are rejected.
    case encoding
    /// A character that is not allowed in a path, such as `;`, `\` or a character that is not ASCII.
    case character
    /// The target contains a `#`.
    case fragment
    /// The path can be read in too many ways, such as `%252525252F`.
    case tooManyReadings

    /// A short text for the administrator, without any part of the target.
    public var description: String {
        switch self {
        case .noPath: "the target has no path, or a user name before the host"
        case .tooLong: "the path is longer than 8192 bytes"
        case .emptySegment: "two / follow each other"
        case .dots: "a segment is . or .."
        case .encoding: "a % without two hexadecimal digits, or an encoded character that is not allowed, such as %2F"
        case .character: "a character that is not allowed in a path, such as ; or \\"
        case .fragment: "the target contains a #"
        case .tooManyReadings: "the path can be read in too many ways"
        }
    }
}
