// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer

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
        self.init(target: target.utf8Span.span)
    }

    /// Reads a request target; nil if it is not one that can be served without doubt.
    ///
    /// - Parameter target: The bytes of the target in origin or absolute form, as they stand in the request line.
    public init?(target: Span<UInt8>) {
        do throws(DoubtfulPath) { try self.init(reading: target) } catch { return nil }
    }

    /// Reads a request target, or says why it cannot be served without doubt.
    ///
    /// - Parameter target: The bytes of the target in origin or absolute form, as they stand in the request line.
    /// - Throws: ``DoubtfulPath``, the first reason there is.
    public init(reading target: Span<UInt8>) throws(DoubtfulPath) {
        let path = try Self.path(of: target)
        guard path.count <= 8192 else { throw .tooLong }
        var segments: [String] = []
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
            let segment = isEncoded ? try Self.decode(bytes) : Self.text(bytes)
            guard !Self.isDots(segment) else { throw .dots }
            segments.append(segment)
            start = end + 1
            endsInSlash = start == path.upperBound
        }
        self.segments = segments
        self.endsInSlash = endsInSlash
    }

    /// Where the path is in a target: what is left without scheme, authority and query.
    private static func path(of target: Span<UInt8>) throws(DoubtfulPath) -> Range<Int> {
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

    /// Visible ASCII without what RFC 3986 has no place for in a path, and without `;`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        guard Octet.isVisible(byte) else { return false }
        switch byte {
        case UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"),
            UInt8(ascii: "#"):
            return false
        default: return true
        }
    }

    private static func isDots(_ segment: String) -> Bool {
        segment == "." || segment == ".."
    }

    /// Plain bytes are ASCII, so there is nothing to repair.
    private static func text(_ bytes: Span<UInt8>) -> String {
        unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    private static func decode(_ segment: Span<UInt8>) throws(DoubtfulPath) -> String {
        var bytes: [UInt8] = []
        var index = 0
        while index < segment.count {
            guard segment[index] == UInt8(ascii: "%") else {
                bytes.append(segment[index])
                index += 1
                continue
            }
            guard index + 2 < segment.count, let high = hexValue(segment[index + 1]),
                let low = hexValue(segment[index + 2])
            else { throw .encoding }
            let decoded = high << 4 | low
            guard decoded >= 0x20, decoded != 0x7F, !"/\\%;".utf8.contains(decoded) else { throw .encoding }
            bytes.append(decoded)
            index += 3
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .encoding }
        return text
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
