// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import HTTPTypes
package import RealmConfiguration

/// Reads the `Accept-Language` field of a request: the languages that the user prefers.
///
/// Source: RFC 9110 section 12.5.4.
package enum AcceptLanguageField {
    /// The maximum number of languages that are read.
    private static let maximumRanges = 16

    /// Returns the index of the translation that the user prefers most.
    ///
    /// Of languages with the same weight, the first one counts. A language with weight 0 is never chosen for its range.
    /// No memory is allocated.
    ///
    /// - Parameters:
    ///   - value: The value of an `Accept-Language` field.
    ///   - translations: The translations.
    /// - Returns: The index; 0, the standard translation, if the user prefers none of them.
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
}

extension AcceptLanguageField {
    /// Returns the index of the translation that the user prefers by the first `Accept-Language` field of the request.
    package static func index(for fields: HTTPFields, in translations: Translations) -> Int {
        fields.texts(of: .acceptLanguage).first.map { index(for: $0.string.utf8Span.span, in: translations) } ?? 0
    }
}
