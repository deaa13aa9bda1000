// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The words of secrets, which messages must not contain.
///
/// A message may contain a secret in pieces, without its escapes, or with other text around it. So the letters and digits
/// of the secrets are compared with those of each word of the message. One letter or digit on its own is not hidden.
struct HiddenWords {
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

/// The values of references `${...}` to variables and files, which messages show as they are written.
final class HiddenValues: Sendable {
    private let values = Mutex<[(value: String, written: String, line: Int)]>([])

    /// Adds a value with its references replaced.
    func add(_ value: String, writtenAs written: String, line: Int) {
        values.withLock { values in
            // The same value is often read twice, one time after the other.
            if let last = values.last, last.line == line, last.value.utf8.elementsEqual(value.utf8) { return }
            values.append((value, written, line))
        }
    }

    /// Returns a diagnostic with the values as they are written; the line is nil if it is about another text.
    ///
    /// In diagnostics about other lines, a short value is probably another word.
    func hiding(in diagnostic: Diagnostic, line: Int?) -> Diagnostic {
        values.withLock { $0 }.reduce(diagnostic) { shown, hidden in
            let isSameLine = hidden.line == line
            guard isSameLine || hidden.value.utf8.count > 3 else { return shown }
            return shown.replacing(hidden.value, by: hidden.written, hidesParts: isSameLine)
        }
    }
}

extension Diagnostic {
    /// Returns the diagnostic with a value replaced by the references `${...}` that stand for it in the configuration.
    ///
    /// The value of a variable or a file may be a secret, so messages show the references instead.
    ///
    /// - Parameters:
    ///   - value: The value with its references replaced. It is found only where no letter or digit touches it.
    ///   - written: The value as it is written in the configuration.
    ///   - hidesParts: True if words that contain a part of the replacements are hidden too.
    /// - Returns: The diagnostic; the line that it shows is not changed.
    public func replacing(_ value: String, by written: String, hidesParts: Bool) -> Diagnostic {
        var words = HiddenWords()
        if hidesParts { words.add(Self.replacements(in: Array(value.utf8), of: Array(written.utf8))) }
        let shownValue = Array(DiagnosticText.text(value).utf8)
        let shownText = DiagnosticText.text(written)
        let hidden = words
        func replaced(_ text: String) -> String {
            Self.pieces(of: text, without: shownValue).map { hidden.hiding(in: $0) }.joined(separator: shownText)
        }
        var shown = self
        shown.message = replaced(message)
        shown.hint = hint.map(replaced)
        return shown
    }

    /// Returns the part of an expanded value that the references of a text stand for, with the text between them.
    private static func replacements(in value: [UInt8], of written: [UInt8]) -> ArraySlice<UInt8> {
        let before = written.firstIndex(of: .dollar) ?? 0
        let after = written.lastIndex(of: .closeBrace).map { written.count - 1 - $0 } ?? 0
        return value.dropFirst(before).dropLast(after)
    }

    /// Returns the pieces of a text between the occurrences of a value.
    private static func pieces(of text: String, without value: [UInt8]) -> [String] {
        let bytes = Array(text.utf8)
        var pieces: [String] = []
        var start = 0
        var index = 0
        while !value.isEmpty, index + value.count <= bytes.count {
            let end = index + value.count
            let isAlone =
                (index == 0 || !bytes[index - 1].isLetterOrDigit) && (end == bytes.count || !bytes[end].isLetterOrDigit)
            if isAlone, bytes[index..<end].elementsEqual(value) {
                pieces.append(String(decoding: bytes[start..<index], as: UTF8.self))
                (start, index) = (end, end)
            } else {
                index += 1
            }
        }
        return pieces + [String(decoding: bytes[start...], as: UTF8.self)]
    }
}
