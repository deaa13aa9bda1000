// SPDX-License-Identifier: Apache-2.0

extension SourceText {
    /// Returns an error about a place in this text.
    ///
    /// - Parameters:
    ///   - range: The place to underline; only its first line is underlined.
    ///   - message: The problem, in one line.
    ///   - hint: A way to solve the problem, in one line.
    ///   - isConfidential: True if the line must not be shown, because it contains a secret.
    ///   - end: The end of the values that the message may contain, if they go on after the place.
    /// - Returns: The diagnostic. It does not show a line that looks as if it contained a password, either. The words of a
    ///   secret or of such a password are replaced by `(hidden)`, and a hint with them is left out.
    public func error(
        at range: SourceRange,
        _ message: String,
        hint: String? = nil,
        isConfidential: Bool = false,
        valuesUntil end: UInt32 = 0
    ) -> Diagnostic {
        diagnostic(
            .error,
            at: range,
            message: message,
            hint: hint,
            isWordConfidential: isConfidential,
            valuesEnd: Int(end)
        )
    }

    /// Returns an error about a name that is not known.
    ///
    /// The value after the name is not shown if it may be a secret: if the name that is meant is that of a secret, or if no
    /// known name is similar.
    ///
    /// - Parameters:
    ///   - range: The name.
    ///   - message: The problem, in one line.
    ///   - meant: The known name that is probably meant; nil if none is similar.
    ///   - hint: A way to solve the problem, in one line; nil for the name that is meant.
    /// - Returns: The diagnostic.
    public func error(
        unknownName range: SourceRange,
        _ message: String,
        meant: String?,
        hint: String? = nil
    ) -> Diagnostic {
        let isNextConfidential = meant.map { isSecret($0, after: range.end) } ?? false
        return diagnostic(
            .error,
            at: range,
            message: message,
            hint: hint ?? meant.map { "did you mean \($0)?" },
            isNextConfidential: isNextConfidential,
            isCutAfterRange: isNextConfidential || meant == nil
        )
    }

    /// Returns a warning about a place in this text.
    ///
    /// - Parameters:
    ///   - range: The place to underline; only its first line is underlined.
    ///   - message: The problem, in one line.
    ///   - hint: A way to solve the problem, in one line.
    /// - Returns: The diagnostic. It does not show a line that looks as if it contained a password; see
    ///   ``error(at:_:hint:isConfidential:valuesUntil:)``.
    public func warning(at range: SourceRange, _ message: String, hint: String? = nil) -> Diagnostic {
        diagnostic(.warning, at: range, message: message, hint: hint)
    }

    /// Hides the value of an unknown name in later diagnostics, unless a known name is meant that is none of a secret.
    ///
    /// - Parameters:
    ///   - name: The place of the name.
    ///   - value: The place of the value.
    ///   - meant: The known name that is probably meant; nil if none is similar.
    public func hideValue(ofUnknownName name: SourceRange, at value: SourceRange, meant: String?) {
        let end = min(Int(value.end), bytes.count)
        guard Int(value.start) < end else { return }
        guard let meant else { return confidential.add(Int(value.start)..<end, isSecret: false) }
        if isSecret(meant, after: name.end) { confidential.add(Int(value.start)..<end, isSecret: true) }
    }

    /// Returns whether the value of a name may be a secret; the path of a `key` is none.
    private func isSecret(_ name: String, after nameEnd: UInt32) -> Bool {
        guard let kind = SecretName(Array(name.utf8)[...]) else { return false }
        var scanner = confidential.scanner
        return kind != .key || !scanner.hasPath(name, after: Int(nameEnd))
    }

    /// Returns a place in this text as it is shown in messages, such as `login.conf:3:5`.
    public func place(of range: SourceRange) -> String {
        let location = location(of: range.start)
        return "\(DiagnosticText.text(name)):\(location.line):\(location.column)"
    }

    @inline(never)
    private func diagnostic(
        _ severity: Diagnostic.Severity,
        at range: SourceRange,
        message: String,
        hint: String?,
        isWordConfidential: Bool = false,
        isNextConfidential: Bool = false,
        isCutAfterRange: Bool = false,
        valuesEnd: Int = 0
    ) -> Diagnostic {
        let line = line(around: Int(range.start))
        let lineParts = confidential.parts
        // What follows is cut anyway.
        let rangeEnd = max(Int(range.end), line.offset)
        let unknownValue = lineParts.unknownValue(from: line.start, to: line.end)
        let shownEnd = min(line.end, isCutAfterRange ? rangeEnd : max(line.offset, unknownValue ?? line.end))
        // A text with several NUL is probably in an encoding in which names are not found.
        let isHidden =
            isWordConfidential || lineParts.hasLine(from: line.start, to: shownEnd) || (unknownValue ?? .max) < rangeEnd
            || bytes[max(line.start, line.offset - LineExcerpt.reach)..<line.end].count { $0 == 0 } > 1
        let words = hiddenWords(
            of: line,
            range: range,
            valuesEnd: valuesEnd,
            isWordConfidential: isWordConfidential,
            isNextConfidential: isWordConfidential || isNextConfidential
        )
        let shownMessage = words.hiding(in: message)
        // A hint with a value is of no use without it.
        let shownHint = hint.flatMap { words.hiding(in: $0).utf8.elementsEqual($0.utf8) ? $0 : nil }
        let excerpt = LineExcerpt(of: bytes, line: line, end: Int(range.end), shownEnd: shownEnd)
        let diagnostic = Diagnostic(
            severity: severity,
            message: DiagnosticText.text(shownMessage),
            hint: shownHint.map(DiagnosticText.text),
            file: DiagnosticText.text(name),
            line: line.number,
            column: line.column,
            lineText: isHidden ? "" : excerpt.text,
            indent: isHidden ? 0 : excerpt.indent,
            length: isHidden ? 0 : excerpt.length
        )
        return hiddenValues.hiding(in: diagnostic, line: line.number)
    }

    /// Returns the words of secrets that the messages about a place must not contain.
    ///
    /// The messages may contain values up to `valuesEnd`. The word is the place itself; a secret that is next may be at the
    /// place or after it.
    private func hiddenWords(
        of line: Line,
        range: SourceRange,
        valuesEnd: Int,
        isWordConfidential: Bool,
        isNextConfidential: Bool
    ) -> HiddenWords {
        var words = HiddenWords()
        let end = min(Int(range.end), bytes.count)
        for value in confidential.parts.values(from: line.start, to: max(line.end, end, valuesEnd)) {
            words.add(bytes[value])
        }
        guard isNextConfidential else { return words }
        let start = isWordConfidential ? min(Int(range.start), end) : end
        let scanner = ConfidentialTextScanner(bytes)
        words.add(bytes[start..<max(end, scanner.endOfValue(from: start, isOption: false))])
        return words
    }
}

/// The part of a line that is shown below a message.
private struct LineExcerpt {
    /// The maximum number of columns.
    private static let width = 100
    private static let ellipsis = "..."
    /// The number of bytes of a long line that are read on each side of the place: a scalar has up to four bytes.
    static let reach = 4 * width

    let text: String
    let indent: Int
    let length: Int

    /// The line has the beginning of the place, which ends at `end`; what is after `shownEnd` may not be shown.
    init(of bytes: [UInt8], line: SourceText.Line, end: Int, shownEnd: Int) {
        var first = max(line.start, line.offset - Self.reach)
        while first < line.offset, bytes[first].isContinuation { first += 1 }
        var last = min(shownEnd, line.offset + Self.reach)
        while last > line.offset, last < shownEnd, bytes[last].isContinuation { last -= 1 }

        let before = Array(DiagnosticText.line(bytes[first..<line.offset]).unicodeScalars)
        let after = Array(DiagnosticText.line(bytes[line.offset..<max(last, line.offset)]).unicodeScalars)
        let marked = DiagnosticText.line(bytes[line.offset..<min(max(end, line.offset), last)]).unicodeScalars.count

        let isWhole = first == line.start && last == line.end && before.count + after.count <= Self.width
        let room = isWhole ? Self.width : Self.width - 2 * Self.ellipsis.count
        let keptBefore = isWhole ? before.count : min(before.count, max(room / 3, room - after.count))
        let keptAfter = min(after.count, room - keptBefore)
        let isCutBefore = first > line.start || keptBefore < before.count
        let isCutAfter = last < line.end || keptAfter < after.count

        var shown = String.UnicodeScalarView()
        if isCutBefore { shown.append(contentsOf: Self.ellipsis.unicodeScalars) }
        shown.append(contentsOf: before.suffix(keptBefore))
        indent = shown.count
        shown.append(contentsOf: after.prefix(keptAfter))
        if isCutAfter { shown.append(contentsOf: Self.ellipsis.unicodeScalars) }
        text = String(shown)
        length = max(1, min(marked, keptAfter))
    }
}
