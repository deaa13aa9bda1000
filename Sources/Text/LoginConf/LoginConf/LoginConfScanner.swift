// SPDX-License-Identifier: Apache-2.0

/// A token of login.conf.
struct LoginConfToken {
    enum Kind: UInt8 {
        case word
        /// A text in double quotes.
        case string
        case openBrace
        case closeBrace
        case semicolon
        case equals
        case endOfFile
        /// A character that cannot begin a token, such as a digit; the JDK rejects it everywhere.
        case invalidCharacter
        /// A word that contains a byte order mark.
        case wordWithByteOrderMark
        /// A string without its closing quote, up to the end of the line or file.
        case unterminatedString
        /// A comment without its `*/`, up to the end of the file.
        case unterminatedComment
    }

    /// The kind of content of a token, which decides how its text is read.
    enum Content: UInt8 {
        case plain
        /// A string with `$`, which may contain references.
        case dollar
        /// A string with backslashes, and possibly with `$`.
        case escapes
        /// The parser made this token as a replacement for a faulty token.
        case replacement
    }

    var kind: Kind
    var content: Content = .plain
    var start: UInt32
    var end: UInt32

    var range: SourceRange { SourceRange(start, end) }
    /// True for a word or string: a name, a class, a flag, a key or a value.
    var isText: Bool { kind == .word || kind == .string }
    var length: Int { Int(end - start) }
}

/// Splits login.conf into tokens, like `java.io.StreamTokenizer` with the settings of the JDK's parser.
///
/// The JDK misreads some texts without an error: a lone `/`, unclosed strings and comments, byte order marks. The
/// scanner returns such texts as invalid tokens, and the parser reports an error. The bytes must be valid UTF-8.
struct LoginConfScanner {
    let bytes: [UInt8]
    var position: Int

    init(_ bytes: [UInt8], position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    @inline(__always)
    mutating func next() -> LoginConfToken {
        let token = token()
        position = Int(token.end)
        return token
    }

    @inline(__always)
    private func token() -> LoginConfToken {
        let span = bytes.span
        var index = position
        while index < span.count {
            let byte = span[index]
            let kind = ByteClass.of(byte)
            if kind & ByteClass.space != 0 {
                index += 1
            } else if kind & ByteClass.wordStart != 0 {
                return word(from: index)
            } else if byte == .slash {
                guard let end = comment(from: index) else {
                    return token(.invalidCharacter, from: index, to: index + 1)
                }
                guard end <= span.count else { return token(.unterminatedComment, from: index, to: span.count) }
                index = end
            } else {
                switch byte {
                case .quote: return string(from: index)
                case .openBrace: return token(.openBrace, from: index, to: index + 1)
                case .closeBrace: return token(.closeBrace, from: index, to: index + 1)
                case .semicolon: return token(.semicolon, from: index, to: index + 1)
                case .equals: return token(.equals, from: index, to: index + 1)
                default: return otherToken(from: index)
                }
            }
        }
        return token(.endOfFile, from: span.count, to: span.count)
    }

    @inline(__always)
    private func token(
        _ kind: LoginConfToken.Kind,
        from start: Int,
        to end: Int,
        content: LoginConfToken.Content = .plain
    ) -> LoginConfToken {
        LoginConfToken(
            kind: kind,
            content: content,
            start: UInt32(truncatingIfNeeded: start),
            end: UInt32(truncatingIfNeeded: end)
        )
    }

    @inline(__always)
    private func word(from start: Int) -> LoginConfToken {
        let span = bytes.span
        var index = start + 1
        while index < span.count, ByteClass.of(span[index]) & ByteClass.wordPart != 0 { index += 1 }
        if index < span.count, span[index] == 0xC2 || span[index] == 0xEF {
            return wordWithNonASCII(from: start, at: index)
        }
        return token(.word, from: start, to: index)
    }

    /// Reads a word from its first byte C2, whose next byte decides, or EF, which always belongs to it, to its end.
    @inline(never)
    private func wordWithNonASCII(from start: Int, at place: Int) -> LoginConfToken {
        let span = bytes.span
        var index = place
        var containsMark = false
        while index < span.count {
            let byte = span[index]
            if byte == 0xC2 {
                // U+0080 to U+009F are control characters, so they end the word.
                guard index + 1 < span.count, span[index + 1] >= 0xA0 else { break }
            } else if byte == 0xEF {
                containsMark = containsMark || bytes[index...].starts(with: [0xEF, 0xBB, 0xBF])
            } else if ByteClass.of(byte) & ByteClass.wordPart == 0 {
                break
            }
            index += 1
        }
        return token(containsMark ? .wordWithByteOrderMark : .word, from: start, to: index)
    }

    @inline(never)
    private func otherToken(from start: Int) -> LoginConfToken {
        switch bytes[start] {
        case 0xC2 where start + 1 < bytes.count && bytes[start + 1] >= 0xA0, 0xEF:
            return wordWithNonASCII(from: start, at: start)
        default:
            var end = start + 1
            while end < bytes.count, bytes[end].isContinuation { end += 1 }
            return token(.invalidCharacter, from: start, to: end)
        }
    }

    @inline(__always)
    private func string(from start: Int) -> LoginConfToken {
        let span = bytes.span
        var index = start + 1
        var content = LoginConfToken.Content.plain
        while true {
            while index < span.count, ByteClass.of(span[index]) & ByteClass.stringStop == 0 { index += 1 }
            guard index < span.count else {
                return token(.unterminatedString, from: start, to: span.count, content: content)
            }
            switch span[index] {
            case .quote: return token(.string, from: start, to: index + 1, content: content)
            case .dollar:
                if content == .plain { content = .dollar }
                index += 1
            case .backslash:
                content = .escapes
                // An escaped character does not end the string, even if it is a line end.
                index = min(index + 2, span.count)
            default: return token(.unterminatedString, from: start, to: index, content: content)
            }
        }
    }

    /// Returns the end of a comment, which is greater than the length of the text if it is unclosed; nil for a lone `/`.
    private func comment(from start: Int) -> Int? {
        let span = bytes.span
        guard start + 1 < span.count else { return nil }
        var index = start + 2
        switch span[start + 1] {
        case .slash:
            while index < span.count, !span[index].isLineEnd { index += 1 }
            return index
        case .asterisk:
            while index + 1 < span.count {
                if span[index] == .asterisk, span[index + 1] == .slash { return index + 2 }
                index += 1
            }
            return span.count + 1
        default:
            return nil
        }
    }
}

/// The classes of bytes in login.conf.
///
/// A byte may have several classes. Source: the observed behaviour of `java.io.StreamTokenizer`, with the settings of
/// the JDK's parser, for all characters up to U+00FF.
enum ByteClass {
    /// White space: the space and all control characters up to U+001F.
    static let space: UInt8 = 1
    /// The bytes that may begin a word: letters, `_ $ *`, and the first byte of most characters from U+00A0 up.
    static let wordStart: UInt8 = 2
    /// The bytes that a word may contain after its first byte: all bytes of `wordStart`, digits, `.`, `-`, and
    /// continuation bytes.
    static let wordPart: UInt8 = 4
    /// The bytes at which the scan of a string stops: `"`, backslash, `$`, line ends.
    static let stringStop: UInt8 = 8

    @inline(__always)
    static func of(_ byte: UInt8) -> UInt8 { table[Int(byte)] }

    static func isSpace(_ byte: UInt8) -> Bool { of(byte) & space != 0 }

    // C2 and EF are first bytes of characters, but have no class. After C2 the next byte decides whether the character
    // is allowed in a word (from U+00A0). EF may begin a byte order mark.
    // swift-format-ignore
    private static let table: [256 of UInt8] = [
         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9, 1, 1, 9, 1, 1,
         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
         1, 0, 8, 0, 14, 0, 0, 0, 0, 0, 6, 0, 0, 4, 4, 0,
         4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0, 0, 0, 0, 0, 0,
         0, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
         6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0, 8, 0, 0, 6,
         0, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
         6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0, 0, 0, 0, 0,
         4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
         4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
         4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
         4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
         0, 0, 0, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
         6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
         6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0,
         6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
    ]
}
