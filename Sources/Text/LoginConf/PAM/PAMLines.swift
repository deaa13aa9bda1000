// SPDX-License-Identifier: Apache-2.0

/// An error or a warning about a part of a pam.d file.
struct PAMSyntaxError: Error {
    let message: String
    let range: SourceRange
    let hint: String?

    init(_ message: String, at range: SourceRange, hint: String? = nil) {
        (self.message, self.range, self.hint) = (message, range, hint)
    }
}

/// A word of a pam.d file, or a text in brackets.
struct PAMToken {
    /// The content, without brackets; `\]` is `]`.
    let bytes: [UInt8]
    /// The place of each byte in the file.
    let offsets: [Int]
    let range: SourceRange
    let isBracketed: Bool

    var string: String { String(decoding: bytes, as: UTF8.self) }
    /// The word for a message; a word that is unlike all known ones may be a secret that a mistake has moved.
    var shown: String { Self.shown(string) }

    static func shown(_ word: String) -> String {
        PAMFile.names.mayQuote(word) ? DiagnosticText.word(word) : "of this name"
    }

    func range(of part: Range<Int>) -> SourceRange {
        guard part.lowerBound < offsets.count else { return SourceRange(range.end, range.end) }
        return SourceRange(offsets[part.lowerBound], offsets[min(part.upperBound, offsets.count) - 1] + 1)
    }

    /// Returns whether the token is a word of PAM, in upper or lower case.
    func isWord(_ word: String) -> Bool { bytes.lazy.map(\.lowercased).elementsEqual(word.utf8) }
}

/// A line of a pam.d file with the lines that continue it, without comments.
struct PAMLogicalLine {
    private(set) var bytes: [UInt8] = []
    private(set) var offsets: [Int] = []
    /// True if a comment ends the line.
    private(set) var hasComment = false

    mutating func append(_ part: ArraySlice<UInt8>) {
        bytes += part
        offsets += part.indices
    }

    /// Reads the line at an offset, and moves the offset behind it; nil for a line without words.
    ///
    /// libpam 1.5 skips comments and empty lines between continued lines, and libpam 1.7 ends the line there.
    static func read(_ text: [UInt8], from offset: inout Int) throws(PAMSyntaxError) -> PAMLogicalLine? {
        var line = PAMLogicalLine()
        while offset < text.count {
            let physical = text[offset...].prefix { $0 != .lineFeed }
            let end = physical.endIndex
            offset = min(end + 1, text.count)
            let content = physical.drop(while: \.isSpaceOrTab)
            let beforeComment = content.prefix { $0 != .hash }
            line.hasComment = beforeComment.endIndex != end
            let isContinued = line.offsets.last.map { text[$0] == .backslash } ?? false
            if isContinued, beforeComment.allSatisfy(\.isSpaceOrTab) {
                let hint = "remove the `\\` of the line before it: libpam 1.5 and 1.7 read this in two ways"
                let range = SourceRange(content.startIndex, content.startIndex)
                throw PAMSyntaxError("an empty line or a comment continues a line", at: range, hint: hint)
            }
            var trimmed = beforeComment
            while trimmed.last?.isSpaceOrTab == true { trimmed.removeLast() }
            guard trimmed.last == .backslash else {
                line.append(beforeComment)
                return line.bytes.allSatisfy(\.isSpaceOrTab) ? nil : line
            }
            let backslash = SourceRange(trimmed.endIndex - 1, trimmed.endIndex)
            if line.hasComment {
                let hint = "put the comment on a line of its own"
                throw PAMSyntaxError("a line with a comment is not continued", at: backslash, hint: hint)
            }
            line.append(trimmed.dropLast())
            line.bytes.append(.space)
            line.offsets.append(backslash.start)
            if end == text.count || offset == text.count {
                throw PAMSyntaxError("the line that `\\` continues is missing", at: backslash, hint: "remove the `\\`")
            }
        }
        return nil
    }

    /// Returns the words of the line.
    func tokens() throws(PAMSyntaxError) -> [PAMToken] {
        var tokens: [PAMToken] = []
        var position = 0
        while position < bytes.count {
            let start = position
            if bytes[position].isSpaceOrTab {
                position += 1
                continue
            }
            let isBracketed = bytes[position] == UInt8(ascii: "[")
            var content: [Int] = []
            if isBracketed {
                position += 1
                while position < bytes.count, bytes[position] != UInt8(ascii: "]") {
                    let next = position + 1
                    let isEscape =
                        bytes[position] == .backslash && next < bytes.count && bytes[next] == UInt8(ascii: "]")
                    content.append(isEscape ? next : position)
                    position += isEscape ? 2 : 1
                }
                guard position < bytes.count else {
                    let hint =
                        hasComment ? "close it with `]`; `#` begins a comment in brackets too" : "close it with `]`"
                    throw PAMSyntaxError("this bracket is not closed", at: range(start, start + 1), hint: hint)
                }
                position += 1
            } else {
                while position < bytes.count, !bytes[position].isSpaceOrTab { position += 1 }
                content = Array(start..<position)
            }
            let token = PAMToken(
                bytes: content.map { bytes[$0] },
                offsets: content.map { offsets[$0] },
                range: range(start, position),
                isBracketed: isBracketed
            )
            try Self.check(token)
            tokens.append(token)
        }
        if hasComment, let last = tokens.last, let end = bytes.last, !end.isSpaceOrTab {
            let hint = "put a blank before the comment; an argument cannot have a `#`"
            throw PAMSyntaxError("`#` begins a comment within a word", at: last.range, hint: hint)
        }
        return tokens
    }

    private func range(_ start: Int, _ end: Int) -> SourceRange { SourceRange(offsets[start], offsets[end - 1] + 1) }

    /// Refuses control characters and blanks that are none for libpam, which would be a part of the word.
    private static func check(_ token: PAMToken) throws(PAMSyntaxError) {
        if token.bytes.allSatisfy({ 0x20...0x7E ~= $0 || $0 == .tab }) { return }
        var index = 0
        for scalar in token.string.unicodeScalars {
            let width = UTF8.width(scalar)
            defer { index += width }
            guard scalar.isInvisible, scalar != " ", scalar != "\t" else { continue }
            let range = token.range(of: index..<(index + width))
            if scalar == "\r" {
                let hint = "save the file with the line ends of Unix"
                throw PAMSyntaxError("a carriage return, which is a part of the word for libpam", at: range, hint: hint)
            }
            let code = String(scalar.value, radix: 16, uppercase: true)
            let name = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
            let message = "an invisible character (\(name)), which is a part of the word for libpam"
            throw PAMSyntaxError(message, at: range, hint: "replace it with a space")
        }
    }
}
