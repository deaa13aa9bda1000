// SPDX-License-Identifier: Apache-2.0

/// Finds the parts of a text that may contain passwords, in whatever kind of file they are.
///
/// These are the values of names such as `password`, unless a value consists of references `${...}`; connection
/// parameters such as `password=...`; and URLs with a user name or a password. The text may have any mistakes, so the
/// scanner does not depend on where statements end. It reads every byte at most a few times.
struct ConfidentialTextScanner {
    let bytes: [UInt8]
    let names: [[UInt8]]
    let end: Int
    var position = 0
    var parts = ConfidentialText.Parts()
    /// The place from which the current line is hidden.
    private var hiddenStart: Int?
    /// The place at which the user of the current URL would begin.
    private var urlStart: Int?
    /// The place after the first `:` of the current word.
    private var colonEnd: Int?
    /// The first place after a line that is neither blank nor in a comment, as far as it is known.
    private var nextContent = 0
    /// True after an odd number of quotes on the current line.
    var hasOpenQuote = false
    var isComment = false
    /// True if a value of an earlier line goes on at the current line.
    private var goesOn = false
    /// True if the current line has the value of a name.
    var hasValue = false
    /// True if the current line has a character that can end a value.
    private var hasEnd = false

    init(_ bytes: [UInt8], names: [[UInt8]] = [], end: Int? = nil) {
        self.bytes = bytes
        self.names = names
        self.end = end ?? bytes.count
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
        let word = bytes[start..<position]
        guard !endsPath(before: start),
            let name = SecretName(word) ?? (names.contains { $0.elementsEqual(word) } ? .secret : nil)
        else { return }
        readValue(of: name, at: start)
    }

    /// Returns whether a word is the last part of a path, as in `/etc/passwd`, and so no name.
    private func endsPath(before start: Int) -> Bool {
        guard start > 0, bytes[start - 1] == .slash else { return false }
        // A comment may touch the word: `//` or `*/`.
        if start > 1, bytes[start - 2] == .slash || bytes[start - 2] == .asterisk { return false }
        return position == end || bytes[position] != .equals && bytes[position] != .colon
    }

    /// Reads one byte that is not a part of a name.
    mutating func step() {
        switch bytes[position] {
        case .carriageReturn where byte(after: position) == .lineFeed: break
        case .lineFeed, .carriageReturn: endLine()
        case .space, .tab:
            // The password of a quoted URL may have a blank.
            if !hasOpenQuote || colonEnd != nil { urlStart = nil }
            colonEnd = nil
        case .quote:
            hasOpenQuote.toggle()
            hasEnd = true
        case .semicolon, .closeBrace: hasEnd = true
        case .backslash where byte(after: position) == .quote || byte(after: position) == .backslash: position += 1
        case .hash where isAfterBlank && !hasOpenQuote: isComment = true
        case .slash where isAfterBlank && !hasOpenQuote && byte(after: position) == .slash: isComment = true
        case .colon where bytes[position...].starts(with: "://".utf8):
            urlStart = urlStart ?? position + 3
            colonEnd = nil
        case .colon where urlStart == nil:
            // A URL may be misspelled, as in `ldaps:/ann:hunter2@host`.
            urlStart = colonEnd
            colonEnd = position + 1
        case .at: hideURL()
        default: break
        }
        position += 1
    }

    func byte(after index: Int) -> UInt8? { index + 1 < end ? bytes[index + 1] : nil }

    var isAfterBlank: Bool {
        guard position > 0 else { return true }
        let before = bytes[position - 1]
        return before.isBlank || before.isLineEnd
    }

    // MARK: Hiding

    mutating func endLine() {
        if let start = hiddenStart {
            let line = min(start, position)..<position
            if !line.isEmpty { parts.lines.append(line) }
            if goesOn { addValue(line) }
            goesOn = goesOn ? !hasEnd : hasOpenQuote
            // A `;` may be missing, or the value has a line end that its author has not quoted.
            if hasValue, !endsWithStatement(line), !beginsStatement(after: position) { goesOn = true }
            hiddenStart = goesOn ? position + 1 : nil
        }
        hasOpenQuote = false
        isComment = false
        hasEnd = false
        hasValue = goesOn
        urlStart = nil
        colonEnd = nil
    }

    /// Returns whether the last character of a line, apart from blanks, can end a statement.
    private func endsWithStatement(_ line: Range<Int>) -> Bool {
        guard let last = bytes[line].last(where: { !$0.isBlank }) else { return false }
        return last == .semicolon || last == .closeBrace
    }

    /// Returns whether the next word after a line end, empty lines and comments can begin a statement or an option.
    mutating func beginsStatement(after lineEnd: Int) -> Bool {
        if nextContent <= lineEnd { nextContent = content(from: lineEnd + 1) }
        let first = nextContent
        guard first < end else { return true }
        if [.openBrace, .closeBrace, .semicolon].contains(bytes[first]) { return true }
        var index = first
        while index < end, bytes[index].isNamePart { index += 1 }
        guard index > first, index < end else { return false }
        if bytes[index] == .equals, let next = byte(after: index) {
            return next != .equals && next != .semicolon && !next.isLineEnd
        }
        return bytes[index].isBlank
    }

    /// Returns the first place from an index that is neither a blank, nor a line end, nor in a comment.
    private func content(from start: Int) -> Int {
        var index = start
        while index < end {
            if bytes[index].isBlank || bytes[index].isLineEnd {
                index += 1
            } else if bytes[index] == .hash || bytes[index...].starts(with: "//".utf8) {
                while index < end, !bytes[index].isLineEnd { index += 1 }
            } else if bytes[index...].starts(with: "/*".utf8) {
                index += 2
                while index < end, !bytes[index...].starts(with: "*/".utf8) { index += 1 }
                index = min(end, index + 2)
            } else {
                break
            }
        }
        return index
    }

    mutating func hide(from start: Int) { hiddenStart = min(hiddenStart ?? start, start) }

    mutating func addValue(_ value: Range<Int>) {
        if !value.isEmpty { ConfidentialText.Parts.insert(value, into: &parts.secrets) }
    }

    /// Hides a URL with a user name or a password before the current `@`.
    private mutating func hideURL() {
        guard let start = urlStart, start <= position else { return }
        urlStart = nil
        hide(from: start)
        if let last = parts.secrets.last, last.lowerBound <= start, last.upperBound > position { return }
        var index = position
        var lastAt = position
        while index < end, !bytes[index].isLineEnd, hasOpenQuote ? bytes[index] != .quote : !bytes[index].isBlank {
            if bytes[index] == .at { lastAt = index }
            index += 1
        }
        addValue(start..<lastAt)
    }
}
