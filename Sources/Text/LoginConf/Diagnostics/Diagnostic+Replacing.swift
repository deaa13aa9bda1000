// SPDX-License-Identifier: Apache-2.0

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
        return Diagnostic(
            severity: severity,
            message: replaced(message),
            hint: hint.map(replaced),
            file: file,
            line: line,
            column: column,
            lineText: lineText,
            indent: indent,
            length: length
        )
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
