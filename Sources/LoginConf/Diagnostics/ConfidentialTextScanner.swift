// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Finds the parts of a text that may contain passwords, in whatever kind of file they are.
///
/// These are the values of names such as `password`, unless a value consists of references `${...}`; connection
/// parameters such as `password=...`; and URLs with a user name or a password. The text may have any mistakes, so the
/// scanner does not depend on where statements end. It reads every byte at most a few times.
struct ConfidentialTextScanner {
    private let bytes: [UInt8]
    private let end: Int
    private var position = 0
    private var parts = ConfidentialText.Parts()
    /// The place from which the current line is hidden.
    private var hiddenStart: Int?
    /// The place after the `://` of the current word.
    private var urlStart: Int?
    /// True after an odd number of quotes on the current line.
    private var hasOpenQuote = false
    private var isComment = false
    /// True if a quoted value of an earlier line goes on at the current line.
    private var isCarried = false
    private var endsCarry = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // The only error about a larger text is shown at its first line.
        end = bytes.count > SourceText.maximumSize ? 1 << 16 : bytes.count
    }

    /// Returns the parts; it is called once.
    mutating func scan() -> ConfidentialText.Parts {
        while position < end {
            if bytes[position].isNamePart { readWord() } else { step() }
        }
        endLine()
        return parts
    }

    private mutating func readWord() {
        let start = position
        while position < end, bytes[position].isNamePart { position += 1 }
        guard !endsPath(before: start), let name = SecretName(bytes[start..<position]) else { return }
        readValue(of: name)
    }

    /// Returns whether a word is the last part of a path, as in `/etc/passwd`, and so no name.
    private func endsPath(before start: Int) -> Bool {
        let before = bytes[..<start]
        return before.last == .slash && before.dropLast().last != .asterisk
    }

    /// Reads one byte that is not a part of a name.
    private mutating func step() {
        switch bytes[position] {
        case .lineFeed, .carriageReturn: endLine()
        case .space, .tab: urlStart = nil
        case .quote:
            hasOpenQuote.toggle()
            endsCarry = true
            urlStart = nil
        case .semicolon, .closeBrace: endsCarry = true
        case .backslash where byte(after: position) == .quote || byte(after: position) == .backslash: position += 1
        case .hash where isAfterBlank: isComment = true
        case .slash where isAfterBlank && byte(after: position) == .slash: isComment = true
        case .colon where bytes[position...].starts(with: "://".utf8): urlStart = urlStart ?? position + 3
        case .at: hideURL()
        default: break
        }
        position += 1
    }

    private func byte(after index: Int) -> UInt8? { index + 1 < end ? bytes[index + 1] : nil }

    private var isAfterBlank: Bool {
        guard position > 0 else { return true }
        let before = bytes[position - 1]
        return before.isBlank || before.isLineEnd
    }

    // MARK: Hiding

    private mutating func endLine() {
        if let start = hiddenStart {
            let line = min(start, position)..<position
            if !line.isEmpty { parts.lines.append(line) }
            if isCarried { addValue(line) }
            isCarried = isCarried ? !endsCarry : hasOpenQuote
            hiddenStart = isCarried ? position + 1 : nil
        }
        hasOpenQuote = false
        isComment = false
        endsCarry = false
        urlStart = nil
    }

    private mutating func hide(from start: Int) { hiddenStart = min(hiddenStart ?? start, start) }

    private mutating func addValue(_ value: Range<Int>) {
        guard !value.isEmpty else { return }
        var value = value
        while let last = parts.secrets.last, last.upperBound >= value.lowerBound {
            value = min(last.lowerBound, value.lowerBound)..<max(last.upperBound, value.upperBound)
            parts.secrets.removeLast()
        }
        parts.secrets.append(value)
    }

    /// Hides a URL with a user name or a password before the current `@`.
    private mutating func hideURL() {
        guard let start = urlStart, start <= position else { return }
        urlStart = nil
        hide(from: start)
        if let last = parts.secrets.last, last.lowerBound <= start, last.upperBound > position { return }
        var index = position
        var lastAt = position
        while index < end, !bytes[index].isBlank, !bytes[index].isLineEnd, bytes[index] != .quote {
            if bytes[index] == .at { lastAt = index }
            index += 1
        }
        addValue(start..<lastAt)
    }

    // MARK: Values

    /// Reads the beginning of the value of a name, which may be on a later line.
    private mutating func readValue(of name: SecretName) {
        let nameEnd = position
        let isInComment = isComment
        var hasEquals = false
        gap: while position < end {
            let byte = bytes[position]
            switch byte {
            case .space, .tab, .quote, .equals, .colon:
                hasEquals = hasEquals || byte == .equals
                step()
            case .lineFeed, .carriageReturn:
                if isInComment { return }
                step()
            case .hash where isAfterBlank: skipComment()
            case .slash where self.byte(after: position) == .slash || self.byte(after: position) == .asterisk:
                skipComment()
            default: break gap
            }
        }
        guard position < end, beginsValue(of: name, isSeparate: position > nameEnd) else { return }
        if skipReferences(isOption: hasEquals) || name == .key && isPath { return }
        hide(from: position)
        addValue(position..<endOfValue(from: position, isOption: hasEquals))
    }

    /// Skips a comment between a name and its value; it may be a part of a value that is not quoted.
    private mutating func skipComment() {
        let start = position
        hide(from: start)
        if byte(after: position) == .asterisk {
            position += 2
            while position < end, !bytes[position...].starts(with: "*/".utf8) {
                if bytes[position].isLineEnd {
                    endLine()
                    hide(from: position + 1)
                }
                position += 1
            }
            position = min(end, position + 2)
        } else {
            while position < end, !bytes[position].isLineEnd { position += 1 }
        }
        addValue(start..<position)
    }

    private func beginsValue(of name: SecretName, isSeparate: Bool) -> Bool {
        let next = byte(after: position)
        switch bytes[position] {
        case .semicolon, .closeBrace: return isSeparate && next != .quote && !endsStatement(at: position)
        case .openBrace:
            // A block may have such a name, as in `identity-token { ... }`.
            guard let next, !next.isLineEnd else { return false }
            return name == .secret && !isNameOfBlock || !next.isBlank
        default: return isSeparate
        }
    }

    /// True if a word that ends with `token` is before the current `{`.
    private var isNameOfBlock: Bool {
        var index = position
        while index > 0, bytes[index - 1].isBlank { index -= 1 }
        return bytes[..<index].suffix(5).elementsEqual("token".utf8)
    }

    /// Returns whether a byte is a `;` or a `}` with white space, another such byte or nothing after it.
    private func endsStatement(at index: Int) -> Bool {
        guard bytes[index] == .semicolon || bytes[index] == .closeBrace else { return false }
        guard let next = byte(after: index) else { return true }
        return next.isBlank || next.isLineEnd || next == .semicolon || next == .closeBrace
    }

    /// Moves over a value that consists of references; returns false if the value is not of this form.
    private mutating func skipReferences(isOption: Bool) -> Bool {
        var index = position
        while let close = endOfReference(at: index) {
            index = close
            while index < end, bytes[index].isBlank || bytes[index] == .quote { index += 1 }
        }
        guard index > position else { return false }
        let isComment = index < end && bytes[index] == .hash && bytes[index - 1].isBlank
        guard
            index == end || bytes[index].isLineEnd || endsStatement(at: index) || isComment
                || isOption && beginsOption(at: index)
        else { return false }
        while position < index { step() }
        return true
    }

    /// Returns the place after a reference `${...}`; nil if there is none.
    private func endOfReference(at start: Int) -> Int? {
        guard start + 2 < end, bytes[start] == .dollar, bytes[start + 1] == .openBrace else { return nil }
        var index = start + 2
        while index < end {
            switch bytes[index] {
            case .closeBrace: return index + 1
            case .dollar, .openBrace, .quote, .lineFeed, .carriageReturn: return nil
            default: index += 1
            }
        }
        return nil
    }

    /// Returns whether the next option of login.conf begins at a word: `KEY=`.
    private func beginsOption(at start: Int) -> Bool {
        guard start > 0, bytes[start - 1].isBlank else { return false }
        var index = start
        while index < end, bytes[index].isNamePart { index += 1 }
        return index > start && index < end && bytes[index] == .equals
    }

    /// True if the value is the path of a file.
    private var isPath: Bool {
        let value = bytes[position..<end].prefix { $0.isNamePart || $0 == .slash }
        if value.endIndex < end {
            let next = bytes[value.endIndex]
            guard next.isBlank || next.isLineEnd || next == .quote || endsStatement(at: value.endIndex) else {
                return false
            }
        }
        return ["/", "./", "../"].contains { value.starts(with: $0.utf8) }
            || [".pem", ".key", ".der", ".crt"].contains { value.suffix(4).elementsEqual($0.utf8) }
    }

    /// Returns the end of a value: a `;` or `}` outside of quotes that probably ends the statement, or the end of the line.
    ///
    /// - Parameters:
    ///   - start: The beginning of the value.
    ///   - isOption: True if the value is that of an option `KEY=VALUE`, which other options may follow.
    /// - Returns: The end of the value.
    func endOfValue(from start: Int, isOption: Bool) -> Int {
        if let last = parts.secrets.last, last.contains(start) { return last.upperBound }
        var isQuoted = hasOpenQuote
        var index = start
        while index < end, !bytes[index].isLineEnd {
            switch bytes[index] {
            case .backslash where byte(after: index) == .quote || byte(after: index) == .backslash: index += 1
            case .quote: isQuoted.toggle()
            case .dollar: index = endOfReference(at: index).map { $0 - 1 } ?? index
            case .semicolon, .closeBrace:
                if !isQuoted, endsStatement(at: index) { return index }
            case .space, .tab:
                if !isQuoted, isOption, beginsOption(at: index + 1) { return index }
            default: break
            }
            index += 1
        }
        return index
    }
}
