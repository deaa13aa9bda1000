// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What a client says it can show.
///
/// Source: RFC 9110 section 12.5.1.
enum AcceptField {
    /// Whether the client is one that shows HTML: it says so, and does not take it back with a weight of 0.
    ///
    /// - Parameter value: The value of an Accept field.
    /// - Returns: Whether HTML is among the types.
    static func prefersHTML(_ value: Span<UInt8>) -> Bool {
        var start = 0
        while start < value.count {
            var end = start
            while end < value.count, value[end] != UInt8(ascii: ",") { end += 1 }
            if isHTML(value.extracting(start..<end)) { return true }
            start = end + 1
        }
        return false
    }

    /// Whether one of the types is HTML with a weight above 0.
    private static func isHTML(_ type: Span<UInt8>) -> Bool {
        // The shortest is text/html, and most clients other than browsers send */* alone.
        guard type.count >= 9 else { return false }
        let parts = unsafe type.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
            .split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
        guard let name = parts.first, name == "text/html" || name == "application/xhtml+xml" else { return false }
        return !parts.dropFirst().contains { parameter in
            guard parameter.hasPrefix("q=") else { return false }
            return Double(parameter.dropFirst(2)) == 0
        }
    }
}
