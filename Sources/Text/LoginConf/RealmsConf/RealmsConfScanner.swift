// SPDX-License-Identifier: Apache-2.0

/// A token of realms.conf.
struct RealmsConfToken {
    enum Kind {
        case word
        /// A text in double quotes.
        case string
        /// A string without its closing quote, up to the end of the line or file.
        case unterminatedString
        case openBrace
        case closeBrace
        case semicolon
        case endOfFile
    }

    var kind: Kind
    var start: Int
    var end: Int
    var beginsLine: Bool

    var range: SourceRange { SourceRange(UInt32(start), UInt32(end)) }
}

/// Splits realms.conf, which must be valid UTF-8, into tokens.
struct RealmsConfScanner {
    let bytes: [UInt8]
    var position = 0

    mutating func next() -> RealmsConfToken {
        var beginsLine = position == 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte.isLineEnd {
                beginsLine = true
            } else if byte == .hash {
                while position < bytes.count, !bytes[position].isLineEnd { position += 1 }
                continue
            } else if !byte.isBlank {
                break
            }
            position += 1
        }
        let start = position
        guard start < bytes.count else {
            return RealmsConfToken(kind: .endOfFile, start: start, end: start, beginsLine: beginsLine)
        }
        let kind: RealmsConfToken.Kind
        switch bytes[start] {
        case .openBrace: kind = .openBrace
        case .closeBrace: kind = .closeBrace
        case .semicolon: kind = .semicolon
        case .quote: kind = string()
        default:
            while position < bytes.count, !bytes[position].endsWord { position += 1 }
            kind = .word
        }
        if kind != .unterminatedString, kind != .string, kind != .word { position += 1 }
        return RealmsConfToken(kind: kind, start: start, end: position, beginsLine: beginsLine)
    }

    private mutating func string() -> RealmsConfToken.Kind {
        position += 1
        while position < bytes.count, !bytes[position].isLineEnd {
            let byte = bytes[position]
            position += 1
            if byte == .quote { return .string }
            if byte == .backslash, position < bytes.count, !bytes[position].isLineEnd { position += 1 }
        }
        return .unterminatedString
    }
}

extension UInt8 {
    fileprivate var endsWord: Bool {
        isBlank || isLineEnd || self == .semicolon || self == .openBrace || self == .closeBrace || self == .quote
    }
}
