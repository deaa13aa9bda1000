// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HTTPTypes

/// What a client says it can show.
///
/// Source: RFC 9110 section 12.5.1.
enum AcceptField {
    /// Whether the client is one that shows HTML: it says so, and does not take it back with a weight of 0.
    ///
    /// It looks at each byte a few times and allocates nothing: a field may name hundreds of types.
    ///
    /// - Parameter value: The value of an Accept field.
    /// - Returns: Whether HTML is among the types.
    static func prefersHTML(_ value: Span<UInt8>) -> Bool {
        var start = 0
        while start < value.count {
            let end = end(of: value, from: start, UInt8(ascii: ","))
            if isHTML(value.extracting(start..<end)) { return true }
            start = end + 1
        }
        return false
    }

    /// Whether one of the types is HTML with a weight above 0.
    private static func isHTML(_ type: Span<UInt8>) -> Bool {
        // The shortest is text/html, and most clients other than browsers send */* alone.
        guard type.count >= 9 else { return false }
        var end = end(of: type, from: 0, UInt8(ascii: ";"))
        let name = type.extracting(type.trimmed(0..<end))
        guard name.equalsIgnoringCase("text/html") || name.equalsIgnoringCase("application/xhtml+xml") else {
            return false
        }
        while end < type.count {
            let start = end + 1
            end = self.end(of: type, from: start, UInt8(ascii: ";"))
            if isNoWeight(type.extracting(type.trimmed(start..<end))) { return false }
        }
        return true
    }

    /// Whether a parameter is `q=0`, with or without decimals.
    private static func isNoWeight(_ parameter: Span<UInt8>) -> Bool {
        guard parameter.beginsIgnoringCase(with: "q=0") else { return false }
        guard parameter.count > 3 else { return true }
        guard parameter[3] == UInt8(ascii: ".") else { return false }
        for index in 4..<parameter.count where parameter[index] != UInt8(ascii: "0") { return false }
        return true
    }

    private static func end(of bytes: Span<UInt8>, from start: Int, _ delimiter: UInt8) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != delimiter { end += 1 }
        return end
    }
}

extension AcceptField {
    /// Whether the client is one that shows HTML, by the first Accept field there is.
    static func prefersHTML(_ fields: HTTPFields) -> Bool {
        fields[.accept].map { prefersHTML($0.utf8Span.span) } ?? false
    }
}
