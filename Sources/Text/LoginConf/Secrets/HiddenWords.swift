// SPDX-License-Identifier: Apache-2.0

/// The words of secrets, which messages must not contain.
///
/// A message may contain a secret in pieces, without its escapes, or with other text around it. So the letters and digits
/// of the secrets are compared with those of each word of the message. One letter or digit on its own is not hidden.
struct HiddenWords {
    /// The text in the place of the words of a secret.
    static let replacement = "(hidden)"

    /// The maximum number of bytes that are compared; messages about longer secrets are replaced as a whole.
    private static let maximumCount = 4096
    /// Messages contain these words, so they would be unreadable if a secret with such a word hid them.
    private static let common: Set<String> = [
        "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "for", "has", "if", "in", "is", "it", "its",
        "no", "not", "of", "on", "one", "or", "so", "the", "to",
    ]
    /// Marks of the syntax that messages contain.
    private static let syntax: Set<String> = ["${...}", "${", "};", "//", "/*", "*/", "->", "\\\"", "\\\\"]

    private var bytes: [UInt8] = []
    /// The letters and digits of the secrets, with a line end between two secrets.
    private var letters: [UInt8] = []
    private var words: Set<[UInt8]> = []
    private var isTooLong = false

    /// Adds a secret as it is written in the configuration.
    mutating func add(_ secret: ArraySlice<UInt8>) {
        guard !secret.isEmpty else { return }
        guard bytes.count + secret.count <= Self.maximumCount else {
            isTooLong = true
            return
        }
        bytes += secret
        bytes.append(.lineFeed)
        addLetters(of: secret)
        if secret.contains(.backslash) { addLetters(of: Array(LoginConfEscapes.unescaped(secret).utf8)[...]) }
    }

    private mutating func addLetters(of secret: ArraySlice<UInt8>) {
        for word in Self.words(of: secret) {
            words.insert(word)
            letters += word
        }
        letters.append(.lineFeed)
    }

    /// Returns a text with the words of the secrets replaced.
    func hiding(in text: String) -> String {
        if isTooLong { return "a mistake in a text that may contain a secret" }
        guard !bytes.isEmpty else { return text }
        var shown: [String] = []
        for word in Array(text.utf8).split(separator: UInt8.space, omittingEmptySubsequences: false) {
            if !isHidden(word) {
                shown.append(String(decoding: word, as: UTF8.self))
            } else if shown.last != Self.replacement {
                shown.append(Self.replacement)
            }
        }
        return shown.joined(separator: " ")
    }

    private func isHidden(_ word: ArraySlice<UInt8>) -> Bool {
        let parts = Self.words(of: word)
        guard parts.isEmpty else { return parts.contains(where: isHiddenPart) }
        let isQuoteOrComma = { (byte: UInt8) in byte == UInt8(ascii: "`") || byte == .quote || byte == .comma }
        var marks = word.drop(while: isQuoteOrComma)
        while let last = marks.last, isQuoteOrComma(last) { marks = marks.dropLast() }
        // The end of a long word is cut in messages.
        if marks.count > 3, marks.suffix(3).elementsEqual("...".utf8) { marks = marks.dropLast(3) }
        guard marks.count > 1, !Self.syntax.contains(String(decoding: marks, as: UTF8.self)) else { return false }
        return bytes[...].firstRange(of: marks) != nil
    }

    /// Returns whether a word of ``words(of:)`` is a part of a secret.
    private func isHiddenPart(_ part: [UInt8]) -> Bool {
        let characters = part.count(where: { !$0.isContinuation })
        guard characters > 1 else { return false }
        if characters > 3 || !part[0].isLetterOrDigit {
            return letters.firstRange(of: part) != nil
                || words.contains { $0.count > 3 && $0.count < part.count && part.firstRange(of: $0) != nil }
        }
        return words.contains(part) && !Self.common.contains(String(decoding: part, as: UTF8.self))
    }

    /// Returns the runs of letters and digits of ASCII, in lower case, and the runs of other characters.
    ///
    /// Signs of ASCII separate the runs.
    private static func words(of text: ArraySlice<UInt8>) -> [[UInt8]] {
        var words: [[UInt8]] = []
        var isASCII: Bool?
        for byte in text {
            guard byte >= 0x80 || byte.isLetterOrDigit else {
                isASCII = nil
                continue
            }
            if isASCII == (byte < 0x80) {
                words[words.count - 1].append(byte.lowercased)
            } else {
                words.append([byte.lowercased])
                isASCII = byte < 0x80
            }
        }
        return words
    }
}
