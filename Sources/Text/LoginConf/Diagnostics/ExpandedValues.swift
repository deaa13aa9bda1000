// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The values of references `${...}` to variables and files, which messages show as they are written.
final class ExpandedValues: Sendable {
    private struct Value {
        let value: String
        let written: String
        let line: Int
    }

    private let values = Mutex<[Value]>([])

    /// Adds a value with its references replaced.
    func add(_ value: String, writtenAs written: String, line: Int) {
        values.withLock { values in
            // The same value is often read twice, one time after the other.
            if let last = values.last, last.line == line, last.value.utf8.elementsEqual(value.utf8) { return }
            values.append(Value(value: value, written: written, line: line))
        }
    }

    /// Returns a diagnostic with the values as they are written; the line is nil if it is about another text.
    ///
    /// In diagnostics about other lines, a short value is probably another word.
    func hiding(in diagnostic: Diagnostic, line: Int?) -> Diagnostic {
        values.withLock { $0 }.reduce(diagnostic) { shown, hidden in
            let isSameLine = hidden.line == line
            guard isSameLine || hidden.value.utf8.count > 3 else { return shown }
            return shown.replacing(hidden.value, by: hidden.written, isSameLine: isSameLine)
        }
    }
}

extension Diagnostic {
    /// The number of bytes of a replacement that a message about its line may contain.
    private static let longestPart = 3

    /// Returns the diagnostic with a value replaced by the references `${...}` that stand for it in the configuration.
    ///
    /// If a message about the same line still has a part of the replacement, as in a message about the port of an address,
    /// it is replaced as a whole.
    fileprivate func replacing(_ value: String, by written: String, isSameLine: Bool) -> Diagnostic {
        let shownValue = Array(DiagnosticText.text(value).utf8)
        let shownText = DiagnosticText.text(written)
        let secret = Array(Self.replacements(in: Array(value.utf8), of: Array(written.utf8)))
        let replaced = { (text: String) in
            let pieces = Self.pieces(of: Array(text.utf8), without: shownValue)
            return (pieces.joined(separator: shownText), isSameLine && pieces.contains { Self.hasPart(of: secret, $0) })
        }
        let (newMessage, hasPart) = replaced(message)
        let newHint = hint.map(replaced)
        var shown = self
        shown.message = hasPart ? "the value of \(shownText) cannot be used here" : newMessage
        shown.hint = newHint.flatMap { hasPart || $0.1 ? nil : $0.0 }
        return shown
    }

    /// Returns the part of an expanded value that the references of a text stand for, with the text between them.
    private static func replacements(in value: [UInt8], of written: [UInt8]) -> ArraySlice<UInt8> {
        let before = written.firstIndex(of: .dollar) ?? 0
        let after = written.lastIndex(of: .closeBrace).map { written.count - 1 - $0 } ?? 0
        return value.dropFirst(before).dropLast(after)
    }

    private static func hasPart(of secret: [UInt8], _ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let count = longestPart + 1
        guard secret.count >= count else { return false }
        return (0...secret.count - count).contains { bytes[...].firstRange(of: secret[$0..<$0 + count]) != nil }
    }

    /// Returns the pieces of a text between the occurrences of a value that no letter or digit touches.
    private static func pieces(of bytes: [UInt8], without value: [UInt8]) -> [String] {
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
