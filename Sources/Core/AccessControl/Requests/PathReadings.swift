// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The path of a request, and all that programs may read from it.
///
/// Most paths have one reading. Programs read a path with `%2F`, `%25`, `%3F`, `%23`, `;` or `//` differently: they
/// decode it once or twice, before or after they split it at `/`; they remove `;` and the rest of a segment, or keep
/// them; they merge `//`, or do not; and a decoded `?` or `#` may end the path. The readings are the results of these
/// steps in every order.
///
/// Dot segments, `\`, control characters and bytes that are not UTF-8 are rejected in every reading.
///
/// Source: RFC 3986 sections 2.4 and 3.3; Jakarta Servlet 6.0 section 3.5.2, URI Path Canonicalization.
package struct PathReadings: Sendable, Hashable {
    /// The first reading.
    package let path: RequestPath
    package let others: [RequestPath]
    /// The reason why the path is ambiguous; nil if programs do not read it differently.
    package let ambiguity: AmbiguousPath?

    /// The maximum number of texts that the steps lead to, so that the path of a client costs little time.
    ///
    /// The time grows with the square of it. Paths of applications lead to five texts at most.
    private static let maximumTexts = 64
    /// The maximum number of bytes of all texts.
    private static let maximumBytes = 32_768

    /// The readings of a path that is not ambiguous.
    package init(_ path: RequestPath) {
        self.path = path
        others = []
        ambiguity = nil
    }

    /// Reads a request target in origin or absolute form; throws if a reading has dot segments or characters that are
    /// never allowed.
    package init(reading target: Span<UInt8>) throws(AmbiguousPath) {
        do throws(AmbiguousPath) {
            path = try RequestPath(reading: target)
            others = []
            ambiguity = nil
        } catch {
            switch error {
            case .emptySegment, .encoding, .character: break
            case .noPath, .tooLong, .dots, .fragment, .tooManyReadings: throw error
            }
            var readings = try Self.readings(of: target)
            path = readings.removeFirst()
            others = readings
            ambiguity = error
        }
    }

    /// Returns at least one reading.
    private static func readings(of target: Span<UInt8>) throws(AmbiguousPath) -> [RequestPath] {
        let range = try RequestPath.path(of: target)
        guard range.count <= 8192 else { throw .tooLong }
        let bytes = range.map { target[$0] }
        for index in bytes.indices {
            guard RequestPath.isPlain(bytes[index]) || bytes[index] == UInt8(ascii: ";") else { throw .character }
            guard bytes[index] != UInt8(ascii: "%") || PercentEncoding.decode(bytes.span, at: index) != nil else {
                throw .encoding
            }
        }
        // Every program decodes the other characters.
        var texts = [decoded(bytes, keeping: "/%;?#")]
        var readings: [RequestPath] = []
        var count = 0
        while count < texts.count {
            let text = texts[count]
            count += 1
            for reading in try split(text) where !readings.contains(reading) { readings.append(reading) }
            let next = [
                decoded(text, keeping: "/%;?#"), decoded(text, keeping: "/"), decoded(text, keeping: ""),
                withoutParameters(text), Array(text.prefix { $0 != UInt8(ascii: "?") }),
                Array(text.prefix { $0 != UInt8(ascii: "#") }),
            ]
            for text in next where !texts.contains(text) {
                guard texts.count < maximumTexts, texts.reduce(text.count, { $0 + $1.count }) <= maximumBytes else {
                    throw .tooManyReadings
                }
                texts.append(text)
            }
        }
        return readings
    }

    /// Decodes a text once; characters that are kept stay encoded, and so does a `%` without two digits.
    private static func decoded(_ text: [UInt8], keeping kept: String) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "%"), let byte = PercentEncoding.decode(text.span, at: index),
                !kept.utf8.contains(byte)
            {
                result.append(byte)
                index += 3
            } else {
                result.append(text[index])
                index += 1
            }
        }
        return result
    }

    /// Removes each `;` and the text after it up to the next `/`.
    private static func withoutParameters(_ text: [UInt8]) -> [UInt8] {
        var isParameter = false
        return text.filter { byte in
            if byte == UInt8(ascii: "/") { isParameter = false }
            if byte == UInt8(ascii: ";") { isParameter = true }
            return !isParameter
        }
    }

    /// Splits a text at each `/`: with its empty segments, and without them.
    ///
    /// A reading with only some of them leads to no other rule: its path is at or below the path of the first, and at
    /// or above that of the second.
    private static func split(_ text: [UInt8]) throws(AmbiguousPath) -> [RequestPath] {
        let isClean = text.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
        guard isClean, UTF8Text(validating: text.span) != nil else { throw .encoding }
        var segments = text.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { UTF8Text(repairing: $0.span) }
        guard !segments.contains(where: { $0 == "." || $0 == ".." }) else { throw .dots }
        let endsInSlash = segments.last?.isEmpty ?? true
        if endsInSlash { segments = segments.dropLast() }
        let merged = segments.filter { !$0.isEmpty }
        let whole = RequestPath(segments, endsInSlash: endsInSlash)
        return merged.count == segments.count ? [whole] : [whole, RequestPath(merged, endsInSlash: endsInSlash)]
    }
}
