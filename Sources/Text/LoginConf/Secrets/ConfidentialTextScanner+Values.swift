// SPDX-License-Identifier: Apache-2.0

/// The values of names, which the scanner reads when it has found a name.
extension ConfidentialTextScanner {
    /// Reads the beginning of the value of a name, which may be on a later line.
    mutating func readValue(of name: SecretName, at nameStart: Int) {
        let nameEnd = position
        let isInComment = isComment
        let isInQuotes = hasOpenQuote
        var signs: Set<UInt8> = []
        while true {
            guard skipGap(isInComment: isInComment, signs: &signs) else { return }
            let word = bytes[nameStart..<nameEnd]
            let hasEquals = signs.contains(.equals)
            guard position < end, name != .field || hasEquals || signs.contains(.colon),
                beginsValue(of: name, word: word, isSeparate: position > nameEnd),
                !isPlaceholder, !(isInQuotes && isPartOfQuery(isWord: signs.isEmpty))
            else { return }
            if skipReferences(isOption: hasEquals) {
                // Further values of the same statement may be on the next lines.
                guard !isInComment, position < end, bytes[position].isLineEnd || bytes[position] == .hash,
                    !beginsStatement(after: position)
                else { return }
                continue
            }
            if isSetting(of: name, word: word) { return }
            hide(from: position)
            hasValue = !isInComment
            addValue(position..<endOfValue(from: position, isOption: hasEquals))
            return
        }
    }

    /// Skips what may be between a name and its value, and adds the signs in it; returns false if the name has no value.
    ///
    /// The value of a name in a comment is on the same line.
    private mutating func skipGap(isInComment: Bool, signs: inout Set<UInt8>) -> Bool {
        while position < end {
            let byte = bytes[position]
            switch byte {
            case .space, .tab: step()
            case .quote, .equals, .colon:
                signs.insert(byte)
                step()
            case .lineFeed, .carriageReturn:
                if isInComment { return false }
                step()
            case .hash where isAfterBlank: skipComment()
            case .slash where self.byte(after: position) == .slash || self.byte(after: position) == .asterisk:
                skipComment()
            default: return true
            }
        }
        return true
    }

    /// True if `%p`, for which a password is inserted later, is at the place instead of a value, as in `"password":"%p"`.
    private var isPlaceholder: Bool {
        let value = bytes[position..<end].prefix(8).drop {
            $0 == .backslash || $0 == .quote || $0 == .colon || $0.isBlank
        }
        return value.starts(with: "%p".utf8)
    }

    /// Returns whether, instead of a value, a word of SQL is at the current place, or after a sign a parameter of a query.
    private func isPartOfQuery(isWord: Bool) -> Bool {
        let word = bytes[position..<end].prefix(16).prefix { $0.isNamePart }
        if isWord { return Self.wordsOfSQL.contains(String(decoding: word, as: UTF8.self).lowercased()) }
        return position > 0 && bytes[position - 1] == .colon
            && Self.parametersOfQueries.contains(String(decoding: word, as: UTF8.self))
    }

    /// Words that follow the name of a column in queries.
    private static let wordsOfSQL: Set<String> = [
        "and", "as", "collate", "else", "end", "from", "group", "in", "is", "join", "like", "limit", "not", "or",
        "order", "then", "union", "where",
    ]
    private static let parametersOfQueries: Set<String> = ["user", "password-hash", "old-hash"]

    /// Returns whether the current value is that of a setting that has such a name and is no secret.
    private func isSetting(of name: SecretName, word: ArraySlice<UInt8>) -> Bool {
        if name == .key { return isPath(of: word) }
        guard word.elementsEqual("credentials".utf8) else { return false }
        // The format of requests of RemoteRealm: basic or json.
        let value = bytes[position..<end].prefix { $0.isLetterOrDigit }
        return value.count <= 6 && value.endIndex < end && endsStatement(at: value.endIndex)
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

    private func beginsValue(of name: SecretName, word: ArraySlice<UInt8>, isSeparate: Bool) -> Bool {
        let next = byte(after: position)
        switch bytes[position] {
        case .semicolon, .closeBrace:
            // The sign may be one too many.
            return next != .quote && (!endsStatement(at: position) || isQuoteAfterSigns)
        case .openBrace:
            // A block may have such a name, as in `identity-token { ... }`.
            guard name == .secret, !word.elementsEqual("identity-token".utf8) else {
                return next.map { !$0.isBlank && !$0.isLineEnd } ?? false
            }
            return next != nil
        // After other signs, too, as in `password'x'`; but not after those of sentences, calls and URLs.
        default: return isSeparate || !",/).%?!&".utf8.contains(bytes[position]) || isQuoteAfterSigns
        }
    }

    /// True if a `"` or `=` follows the current sign, or further signs and blanks after it.
    private var isQuoteAfterSigns: Bool {
        let rest = bytes[position..<end].dropFirst().prefix(8)
        let next = rest.first { !$0.isBlank && $0 != .semicolon && $0 != .closeBrace && $0 != .comma }
        return next == .quote || next == .equals
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
        var isOpen = hasOpenQuote
        while let close = endOfReference(at: index) {
            index = close
            while index < end, bytes[index].isBlank || bytes[index] == .quote {
                if bytes[index] == .quote { isOpen.toggle() }
                index += 1
            }
        }
        guard index > position else { return false }
        let isComment = index < end && bytes[index] == .hash && bytes[index - 1].isBlank
        let isEnd = index == end || bytes[index].isLineEnd || isComment
        guard
            isEnd && !isOpen || index < end && (endsStatement(at: index) || isOption && beginsOption(at: index))
        else { return false }
        while position < index { step() }
        return true
    }

    /// Returns the place after a reference `${...}`; nil if there is none.
    ///
    /// `${NAME:-VALUE}`, `${NAME=VALUE}` and the like of other programs, which contain a default value, are none.
    private func endOfReference(at start: Int) -> Int? {
        guard start + 2 < end, bytes[start] == .dollar, bytes[start + 1] == .openBrace else { return nil }
        var index = start + 2
        let isFile = bytes[index...].starts(with: "file:".utf8)
        for prefix in ["env:", "file:"] where bytes[index...].starts(with: prefix.utf8) { index += prefix.utf8.count }
        while index < end {
            switch bytes[index] {
            case .closeBrace: return index + 1
            case .dollar, .openBrace, .quote, .lineFeed, .carriageReturn, .colon: return nil
            case let byte where !isFile && "=?+,|; \t".utf8.contains(byte): return nil
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

    /// Returns whether the value of a name that ends at `nameEnd` is the path of a file.
    mutating func hasPath(_ name: String, after nameEnd: Int) -> Bool {
        position = min(nameEnd, end)
        while position < end, bytes[position].isBlank || bytes[position] == .quote || bytes[position] == .equals {
            step()
        }
        return isPath(of: Array(name.utf8)[...])
    }

    /// Returns whether the current value is the path of a file, with or without references.
    private func isPath(of word: ArraySlice<UInt8>) -> Bool {
        let limit = min(end, position + 4096)
        var index = position
        var hasReference = false
        while index < limit {
            if let close = endOfReference(at: index) {
                hasReference = true
                index = close
            } else if isPathPart(bytes[index]) {
                index += 1
            } else {
                break
            }
        }
        guard
            index == end || bytes[index].isBlank || bytes[index].isLineEnd || bytes[index] == .quote
                || endsStatement(at: index)
        else { return false }
        let value = bytes[position..<index]
        if ["/", "./", "../", "~/"].contains(where: { value.starts(with: $0.utf8) })
            || [".pem", ".key", ".der", ".crt"].contains(where: { value.suffix(4).elementsEqual($0.utf8) })
            || hasReference && value.contains(.slash)
        {
            return true
        }
        // Statements of realms.conf whose value is a path, unless a realm has a secret of this name. A key in hexadecimal
        // or Base64 is longer than most names of files, and has no dot.
        let isStatement = ["key", "client-key", "ticket-key"].contains { word.elementsEqual($0.utf8) }
        let before = bytes[..<position].last { !$0.isBlank && $0 != .quote }
        let close = index < end && bytes[index] == .quote ? index + 1 : index
        return isStatement && before == word.last && !names.contains { $0.elementsEqual(word) }
            && (value.count < 32 || value.contains(UInt8(ascii: "."))) && close < end && endsStatement(at: close)
    }

    private func isPathPart(_ byte: UInt8) -> Bool {
        byte.isNamePart || byte == .slash || byte == UInt8(ascii: "~") || byte >= 0x80 || hasOpenQuote && byte == .space
    }

    /// Returns the end of a value: a `;` or `}` outside of quotes that probably ends the statement, or the end of the line.
    ///
    /// Other options may follow the value of an option `KEY=VALUE`.
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
