// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import HTTPTypes

/// The `Accept` field of a request, with the media types that the client accepts (RFC 9110 section 12.5.1).
package enum AcceptField {
    /// Returns true if the field names a type of HTML with a weight above 0 or without a weight.
    ///
    /// No memory is allocated, because a field may list hundreds of types.
    package static func prefersHTML(_ value: Span<UInt8>) -> Bool {
        var start = 0
        while start < value.count {
            let end = end(of: value, from: start, UInt8(ascii: ","))
            if isHTML(value.extracting(start..<end)) { return true }
            start = end + 1
        }
        return false
    }

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

    /// True for `q=0` or `q=0.0`.
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

    package static func prefersHTML(_ fields: HTTPFields) -> Bool {
        fields.texts(of: .accept).first.map { prefersHTML($0.string.utf8Span.span) } ?? false
    }
}

/// The `Accept-Language` field of a request, with the languages that the user prefers (RFC 9110 section 12.5.4).
package enum AcceptLanguageField {
    private static let maximumRanges = 16

    /// Returns the index of the translation that the user prefers most; 0, the standard translation, if the user
    /// prefers none.
    ///
    /// Of languages with the same weight, the first one counts. A language with weight 0 is never chosen for its range.
    /// No memory is allocated.
    package static func index(for value: Span<UInt8>, in translations: Translations) -> Int {
        var (best, bestWeight) = (0, 0)
        var (start, count) = (0, 0)
        while start < value.count, count < maximumRanges {
            let end = AcceptField.end(of: value, from: start, ASCII.comma)
            let item = value.extracting(start..<end)
            let rangeEnd = AcceptField.end(of: item, from: 0, ASCII.semicolon)
            let range = item.extracting(item.trimmed(0..<rangeEnd))
            let weight = weight(item, after: rangeEnd)
            if weight > bestWeight, let index = index(for: range, in: translations) {
                (best, bestWeight) = (index, weight)
            }
            start = end + 1
            count += 1
        }
        return best
    }

    private static func index(for range: Span<UInt8>, in translations: Translations) -> Int? {
        range.count == 1 && range[0] == UInt8(ascii: "*") ? 0 : translations.index(for: range)
    }

    /// Returns the weight of an item in thousandths: 1,000 without a parameter `q`, and 0 for a malformed one.
    private static func weight(_ item: Span<UInt8>, after rangeEnd: Int) -> Int {
        guard rangeEnd < item.count else { return 1000 }
        let parameter = item.extracting(item.trimmed(rangeEnd + 1..<item.count))
        guard parameter.beginsIgnoringCase(with: "q="), (3...7).contains(parameter.count), ASCII.isDigit(parameter[2]),
            parameter.count == 3 || parameter[3] == UInt8(ascii: ".")
        else { return 0 }
        var weight = Int(parameter[2] - UInt8(ascii: "0")) * 1000
        var place = 100
        for index in 4..<max(parameter.count, 4) {
            guard ASCII.isDigit(parameter[index]) else { return 0 }
            weight += Int(parameter[index] - UInt8(ascii: "0")) * place
            place /= 10
        }
        return min(weight, 1000)
    }

    package static func index(for fields: HTTPFields, in translations: Translations) -> Int {
        fields.texts(of: .acceptLanguage).first.map { index(for: $0.string.utf8Span.span, in: translations) } ?? 0
    }
}
