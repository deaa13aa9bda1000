// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The translations of the pages, and the choice between them.
package struct Translations: Sendable, Hashable {
    /// The translations that are part of the program.
    package static let builtIn = [Translation.english, .german, .french]

    package static let maximumCount = 64

    /// The translations; there is at least one, and at most ``maximumCount``.
    package let all: [Translation]

    /// The translation for clients that ask for no known language: the first one.
    package var standard: Translation { all[0] }

    /// Without translations, the built-in ones are used; those after ``maximumCount`` are ignored.
    package init(_ all: [Translation] = builtIn) {
        self.all = all.isEmpty ? Self.builtIn : Array(all.prefix(Self.maximumCount))
    }

    /// Returns the index of the translation for a language range.
    ///
    /// Source: RFC 4647 section 3.4 (lookup). In addition, a range without a translation finds the first translation
    /// of the same primary language, so that `pt-PT` finds `pt-br`. Case is ignored.
    package func index(for range: Span<UInt8>) -> Int? {
        var end = range.count
        while end > 0 {
            for index in all.indices
            where all[index].language.utf8Span.span.equalsIgnoringCase(range.extracting(0..<end)) {
                return index
            }
            end = Self.lastHyphen(range, before: end)
        }
        let primary = range.extracting(0..<Self.firstHyphen(range))
        return primary.isEmpty
            ? nil
            : all.indices.first { index in
                let language = all[index].language.utf8Span.span
                return language.extracting(0..<Self.firstHyphen(language)).equalsIgnoringCase(primary)
            }
    }

    private static func lastHyphen(_ range: Span<UInt8>, before end: Int) -> Int {
        var end = end - 1
        while end > 0, range[end] != UInt8(ascii: "-") { end -= 1 }
        return max(end, 0)
    }

    private static func firstHyphen(_ range: Span<UInt8>) -> Int {
        var end = 0
        while end < range.count, range[end] != UInt8(ascii: "-") { end += 1 }
        return end
    }
}
