// SPDX-License-Identifier: Apache-2.0

/// A token of login.conf or realms.conf.
struct Token {
    enum Kind {
        case word
        /// A text in double quotes.
        case string
        case openBrace
        case closeBrace
        case semicolon
        /// In realms.conf, `=` is a part of words.
        case equals
        case endOfFile
        /// A character that cannot begin a token of login.conf, such as a digit; the JDK rejects it everywhere.
        case invalidCharacter
        /// A string without its closing quote, up to the end of the line or file.
        case unterminatedString
        /// A comment of login.conf without its `*/`, up to the end of the file.
        case unterminatedComment
    }

    var kind: Kind
    var start: Int
    var end: Int
    /// True if the parser has made a string of a token without its closing quote.
    var isRepaired = false

    var range: SourceRange { SourceRange(start, end) }
    /// True for a word or string.
    var isText: Bool { kind == .word || kind == .string }
}

/// Splits a text of UTF-8 into tokens.
struct Scanner {
    enum Language {
        /// login.conf and `login` blocks, read like `java.io.StreamTokenizer` with the settings of the JDK's parser.
        ///
        /// The JDK misreads some texts without an error: a lone `/`, unclosed strings and comments. They are invalid tokens.
        case loginConf
        /// realms.conf, without its `login` blocks.
        case realmsConf
        /// A part of a text whose language is not known, for the line below a message.
        case either
    }

    let bytes: [UInt8]
    var language: Language
    var position: Int
    /// The end of the part that is read.
    let end: Int

    init(_ bytes: [UInt8], _ language: Language, from start: Int = 0, to end: Int? = nil) {
        self.bytes = bytes
        self.language = language
        position = start
        self.end = end ?? bytes.count
    }

    mutating func next() -> Token {
        while position < end {
            let byte = bytes[position]
            if isWhitespace(byte) {
                position += 1
            } else if beginsLineComment {
                while position < end, !bytes[position].isLineEnd { position += 1 }
            } else if language == .loginConf, begins(.asterisk) {
                let start = position
                guard let close = bytes[(start + 2)..<end].firstRange(of: "*/".utf8) else {
                    position = end
                    return Token(kind: .unterminatedComment, start: start, end: end)
                }
                position = close.upperBound
            } else {
                let start = position
                let kind = kind(of: byte)
                return Token(kind: kind, start: start, end: position)
            }
        }
        return Token(kind: .endOfFile, start: end, end: end)
    }

    /// Reads a token that begins with a byte, and returns its kind.
    private mutating func kind(of byte: UInt8) -> Token.Kind {
        position += 1
        switch byte {
        case .openBrace: return .openBrace
        case .closeBrace: return .closeBrace
        case .semicolon: return .semicolon
        case .equals where language != .realmsConf: return .equals
        case .quote: return string()
        default: break
        }
        guard language == .loginConf else {
            skipWord()
            return .word
        }
        let isWord = isWordPart(position - 1) && !byte.isDigit && byte != .dot && byte != .hyphen
        if isWord {
            while position < end, isWordPart(position) { position += 1 }
        } else {
            while position < end, bytes[position].isContinuation { position += 1 }
        }
        return isWord ? .word : .invalidCharacter
    }

    private mutating func string() -> Token.Kind {
        while position < end, !bytes[position].isLineEnd {
            let byte = bytes[position]
            position += 1
            if byte == .quote { return .string }
            // In login.conf, an escaped character does not end the string, even if it is a line end.
            if byte == .backslash, position < end, language == .loginConf || !bytes[position].isLineEnd {
                position += 1
            }
        }
        return .unterminatedString
    }

    /// Skips the rest of a word of realms.conf; the braces of a reference `${...}` do not end it.
    private mutating func skipWord() {
        var isReference = false
        while position < end {
            let byte = bytes[position]
            if byte == .openBrace, bytes[position - 1] == .dollar {
                isReference = true
            } else if byte == .closeBrace, isReference {
                isReference = false
            } else if isWhitespace(byte) || byte.isDelimiter || byte == .quote || byte == .equals && language == .either
            {
                return
            }
            position += 1
        }
    }

    private func isWhitespace(_ byte: UInt8) -> Bool {
        language == .realmsConf ? byte.isSpaceOrTab || byte.isLineEnd : byte.isLoginConfWhitespace
    }

    private var beginsLineComment: Bool {
        language != .loginConf && bytes[position] == .hash || language != .realmsConf && begins(.slash)
    }

    /// Returns whether a `/` and another sign are at the current position.
    private func begins(_ second: UInt8) -> Bool {
        position + 1 < end && bytes[position] == .slash && bytes[position + 1] == second
    }

    /// Returns whether a word of login.conf may contain the byte at an offset, after its first character.
    ///
    /// Source: the observed behaviour of `java.io.StreamTokenizer` for all characters up to U+00FF.
    private func isWordPart(_ offset: Int) -> Bool {
        let byte = bytes[offset]
        // U+0080 to U+009F are control characters.
        if byte >= 0x80 { return byte != 0xC2 || offset + 1 < end && bytes[offset + 1] >= 0xA0 }
        return byte.isLetterOrDigit || byte == UInt8(ascii: "_") || byte == .dollar || byte == .asterisk || byte == .dot
            || byte == .hyphen
    }
}
