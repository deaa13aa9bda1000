// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A token of login.conf and its place.
struct LoginConfToken {
    enum Kind: UInt8 {
        case word
        /// `"..."`, closed.
        case string
        case openBrace
        case closeBrace
        case semicolon
        case equals
        case endOfFile
        /// Any other character, including a digit at the start of a token; the JDK accepts none of them anywhere.
        case other
        /// A word with a byte order mark in it.
        case markedWord
        /// `"...` up to the end of the line or file.
        case openString
        /// `/*` without its `*/`.
        case openComment
    }

    /// The treatment that the text of a token needs.
    enum Content: UInt8 {
        case plain
        /// A string that contains `$`, which may need expansion.
        case dollar
        /// A string that contains backslashes, and possibly `$`.
        case escapes
        /// A replacement that the parser made for a faulty token.
        case mended
    }

    var kind: Kind
    var content: Content = .plain
    var start: UInt32
    var end: UInt32

    var range: SourceRange { SourceRange(start, end) }
    /// True if the token may be the name of a context, a class, a flag, a key or a value.
    var isText: Bool { kind == .word || kind == .string }
    var length: Int { Int(end - start) }
}

/// Splits login.conf into tokens, like `java.io.StreamTokenizer` with the settings of the JDK's parser.
///
/// It differs only where the JDK misreads a text without an error: a lone `/`, unclosed strings and comments, byte
/// order marks. Those are tokens of their own, which the parser reports. The bytes must be valid UTF-8.
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
                guard let end = comment(from: index) else { return token(.other, from: index, to: index + 1) }
                guard end <= span.count else { return token(.openComment, from: index, to: span.count) }
                index = end
            } else {
                switch byte {
                case .quote: return string(from: index)
                case .openBrace: return token(.openBrace, from: index, to: index + 1)
                case .closeBrace: return token(.closeBrace, from: index, to: index + 1)
                case .semicolon: return token(.semicolon, from: index, to: index + 1)
                case .equals: return token(.equals, from: index, to: index + 1)
                default: return unusual(from: index)
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
        if index < span.count, span[index] == 0xC2 || span[index] == 0xEF { return wideWord(from: start, at: index) }
        return token(.word, from: start, to: index)
    }

    /// Reads the rest of a word from a character that may or may not be valid in words.
    @inline(never)
    private func wideWord(from start: Int, at place: Int) -> LoginConfToken {
        let span = bytes.span
        var index = place
        var isMarked = false
        while index < span.count {
            let byte = span[index]
            if byte == 0xC2 {
                // U+0080 to U+009F are not word characters.
                guard index + 1 < span.count, span[index + 1] >= 0xA0 else { break }
            } else if byte == 0xEF {
                isMarked = isMarked || bytes[index...].starts(with: [0xEF, 0xBB, 0xBF])
            } else if ByteClass.of(byte) & ByteClass.wordPart == 0 {
                break
            }
            index += 1
        }
        return token(isMarked ? .markedWord : .word, from: start, to: index)
    }

    @inline(never)
    private func unusual(from start: Int) -> LoginConfToken {
        switch bytes[start] {
        case 0xC2 where start + 1 < bytes.count && bytes[start + 1] >= 0xA0, 0xEF:
            return wideWord(from: start, at: start)
        default:
            var end = start + 1
            while end < bytes.count, bytes[end].isContinuation { end += 1 }
            return token(.other, from: start, to: end)
        }
    }

    @inline(__always)
    private func string(from start: Int) -> LoginConfToken {
        let span = bytes.span
        var index = start + 1
        var content = LoginConfToken.Content.plain
        while true {
            while index < span.count, ByteClass.of(span[index]) & ByteClass.stringStop == 0 { index += 1 }
            guard index < span.count else { return token(.openString, from: start, to: span.count, content: content) }
            switch span[index] {
            case .quote: return token(.string, from: start, to: index + 1, content: content)
            case .dollar:
                if content == .plain { content = .dollar }
                index += 1
            case .backslash:
                content = .escapes
                // The next character does not end the string, even if it is a line end.
                index = min(index + 2, span.count)
            default: return token(.openString, from: start, to: index, content: content)
            }
        }
    }

    /// Returns the end of a comment; nil for a lone `/`, an offset past the end for an unclosed comment.
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
