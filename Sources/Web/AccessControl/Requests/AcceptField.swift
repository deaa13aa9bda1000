// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import HTTPTypes

/// Reads the `Accept` field of a request: the media types that the client accepts.
///
/// Source: RFC 9110 section 12.5.1.
package enum AcceptField {
    /// Returns whether the client accepts HTML.
    ///
    /// The field must name a type of HTML with a weight above 0 or without a weight. No memory is allocated, because a
    /// field may list hundreds of types.
    ///
    /// - Parameter value: The value of an `Accept` field.
    /// - Returns: True if the client accepts HTML.
    package static func prefersHTML(_ value: Span<UInt8>) -> Bool {
        var start = 0
        while start < value.count {
            let end = end(of: value, from: start, UInt8(ascii: ","))
            if isHTML(value.extracting(start..<end)) { return true }
            start = end + 1
        }
        return false
    }

    /// Returns true if a media range is HTML and its weight is above 0.
    private static func isHTML(_ type: Span<UInt8>) -> Bool {
        // The shortest type of HTML is text/html. This check is fast for `*/*`, which most other clients send.
        guard type.count >= 9 else { return false }
        var end = end(of: type, from: 0, UInt8(ascii: ";"))
        let name = type.extracting(type.trimmed(0..<end))
        guard name.equalsIgnoringCase("text/html") || name.equalsIgnoringCase("application/xhtml+xml") else {
            return false
        }
        while end < type.count {
            let start = end + 1
            end = self.end(of: type, from: start, UInt8(ascii: ";"))
            if isZeroWeight(type.extracting(type.trimmed(start..<end))) { return false }
        }
        return true
    }

    /// Returns true if a parameter is a weight of 0, such as `q=0` or `q=0.0`.
    private static func isZeroWeight(_ parameter: Span<UInt8>) -> Bool {
        guard parameter.beginsIgnoringCase(with: "q=0") else { return false }
        guard parameter.count > 3 else { return true }
        guard parameter[3] == UInt8(ascii: ".") else { return false }
        for index in 4..<parameter.count where parameter[index] != UInt8(ascii: "0") { return false }
        return true
    }

    /// Returns the index of the next delimiter; the number of bytes if there is none.
    static func end(of bytes: Span<UInt8>, from start: Int, _ delimiter: UInt8) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != delimiter { end += 1 }
        return end
    }
}

extension AcceptField {
    /// Returns true if the client accepts HTML by the first `Accept` field of the request.
    package static func prefersHTML(_ fields: HTTPFields) -> Bool {
        fields.texts(of: .accept).first.map { prefersHTML($0.string.utf8Span.span) } ?? false
    }
}
