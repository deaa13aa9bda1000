// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A token of login.conf: what it is and where it stands.
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
        /// Any other character, digits at the start of a token included: the JDK accepts none of them anywhere.
        case other
        /// A word with a byte order mark in it.
        case markedWord
        /// `"...` up to the end of the line or file.
        case openString
        /// `/*` without its `*/`.
        case openComment
    }

    /// What has to be looked at more closely to know the text of a token.
    enum Content: UInt8 {
        case plain
        /// A string with `$` in it, which may have to be expanded.
        case dollar
        /// A string with backslashes, and perhaps `$`.
        case escapes
        /// Not as the scanner made it: what the parser put in the place of something wrong.
        case mended
    }

    var kind: Kind
    var content: Content = .plain
    var start: UInt32
    var end: UInt32

    var range: SourceRange { SourceRange(start, end) }
    /// Whether it is something that can name a context, a class, a flag, a key or a value.
    var isText: Bool { kind == .word || kind == .string }
    var length: Int { Int(end - start) }
}

/// Cuts login.conf into tokens, as `java.io.StreamTokenizer` does with the settings of the JDK's parser.
///
/// It differs from that one only where the JDK misreads in silence: a lone `/`, strings and comments that are not
/// closed, byte order marks. Those are tokens of their own here, which the parser reports.
///
/// The bytes must be valid UTF-8.
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
                guard let end = comment(from: index) else { return token(.other, index, index + 1) }
                guard end <= span.count else { return token(.openComment, index, span.count) }
                index = end
            } else {
                switch byte {
                case .quote: return string(from: index)
                case .openBrace: return token(.openBrace, index, index + 1)
                case .closeBrace: return token(.closeBrace, index, index + 1)
                case .semicolon: return token(.semicolon, index, index + 1)
                case .equals: return token(.equals, index, index + 1)
                default: return unusual(from: index)
                }
            }
        }
        return token(.endOfFile, span.count, span.count)
    }

    @inline(__always)
    private func token(
        _ kind: LoginConfToken.Kind,
        _ start: Int,
        _ end: Int,
        _ content: LoginConfToken.Content = .plain
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
        return token(.word, start, index)
    }

    /// A word that goes on with a character whose first byte does not tell whether words may hold it.
    @inline(never)
    private func wideWord(from start: Int, at place: Int) -> LoginConfToken {
        let span = bytes.span
        var index = place
        var isMarked = false
        while index < span.count {
            let byte = span[index]
            if byte == 0xC2 {
                // U+0080 to U+009F are no word characters.
                guard index + 1 < span.count, span[index + 1] >= 0xA0 else { break }
            } else if byte == 0xEF {
                isMarked = isMarked || bytes[index...].starts(with: [0xEF, 0xBB, 0xBF])
            } else if ByteClass.of(byte) & ByteClass.wordPart == 0 {
                break
            }
            index += 1
        }
        return token(isMarked ? .markedWord : .word, start, index)
    }

    @inline(never)
    private func unusual(from start: Int) -> LoginConfToken {
        switch bytes[start] {
        case 0xC2 where start + 1 < bytes.count && bytes[start + 1] >= 0xA0, 0xEF:
            return wideWord(from: start, at: start)
        default:
            var end = start + 1
            while end < bytes.count, bytes[end].isContinuation { end += 1 }
            return token(.other, start, end)
        }
    }

    @inline(__always)
    private func string(from start: Int) -> LoginConfToken {
        let span = bytes.span
        var index = start + 1
        var content = LoginConfToken.Content.plain
        while true {
            while index < span.count, ByteClass.of(span[index]) & ByteClass.stringStop == 0 { index += 1 }
            guard index < span.count else { return token(.openString, start, span.count, content) }
            switch span[index] {
            case .quote: return token(.string, start, index + 1, content)
            case .dollar:
                if content == .plain { content = .dollar }
                index += 1
            case .backslash:
                content = .escapes
                // Whatever follows does not end the string, a line end included.
                index = min(index + 2, span.count)
            default: return token(.openString, start, index, content)
            }
        }
    }

    /// The end of a comment; nil for a lone `/`, past the end for a comment that is not closed.
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
