// SPDX-License-Identifier: Apache-2.0

/// The part of a text that may be shown below a message about a place: the statement or option at hand, up to the place.
///
/// Names are shown if they are known or similar to a known one, and the values of known statements that are harmless. What
/// is after the place, before the statement, in comments or after anything else is not.
struct ShownPart {
    /// The meaning of the next word.
    private enum Context {
        case keyword
        /// A value of a harmless statement.
        case value
        /// The value of a harmless option, `KEY=VALUE`.
        case optionValue
        /// A value that may not be shown, or a name.
        case name
    }

    /// The maximum number of bytes before and after a place that are read.
    private static let reach = 4096

    private let bytes: [UInt8]
    private let names: KnownNames
    private var context = Context.keyword
    /// The part that may be shown, which may begin on an earlier line; nil if there is none.
    private(set) var range: Range<Int>?
    /// The name of a secret between the words of a harmless statement, probably after a missing `;`.
    private(set) var misplacedName: SourceRange?

    init(of text: SourceText, at place: SourceRange, showing shownPlace: ShownPlace) {
        (bytes, names) = (text.bytes, text.names)
        let start = min(place.start, bytes.count)
        guard let first = Self.statementStart(before: start, in: bytes) else { return }
        var scanner = Scanner(bytes, .either, from: first, to: min(bytes.count, start + Self.reach))
        // An empty place is before the token that begins there.
        let end = shownPlace == .never ? start : max(start + 1, place.end)
        var previous = Token(kind: .semicolon, start: first, end: first)
        var isCut = false
        while case let token = scanner.next(), token.kind != .endOfFile, token.start < end {
            let isAfterComment = bytes[previous.end..<token.start].contains { !$0.isLoginConfWhitespace }
            if isCut || isAfterComment { range = nil }
            let isDelimiter = bytes[token.start].isDelimiter
            var isShown = false
            if isProbablyMisquoted(token, after: previous) {
                // The values behind it are not shown either.
                context = .name
            } else {
                isShown = mayShow(token, end: scanner.end) || shownPlace == .always && token.start >= start
            }
            isCut = !isShown || isDelimiter
            if isDelimiter { misplacedName = nil }
            if isShown { range = (range?.lowerBound ?? token.start)..<token.end }
            previous = token
        }
        // A statement that begins at a place that is not shown has no part to show.
        if shownPlace == .never, range != nil, bytes[previous.start].isDelimiter { range = nil }
    }

    /// Returns the end of the last `;`, `{` or `}` at the end of a line before the line of a place; nil if it is too far.
    private static func statementStart(before place: Int, in bytes: [UInt8]) -> Int? {
        var index = place
        var isLineStart = false
        while index > 0, place - index < reach {
            let byte = bytes[index - 1]
            if isLineStart, byte.isDelimiter { return index }
            if byte.isLineEnd { isLineStart = true } else if !byte.isLoginConfWhitespace { isLineStart = false }
            index -= 1
        }
        return index == 0 ? 0 : nil
    }

    /// Returns whether a text is in quotes, or out of them, probably because of a quotation mark too many or too few: a quoted
    /// text with a delimiter in it or another word beside it, or the word behind it.
    private func isProbablyMisquoted(_ token: Token, after previous: Token) -> Bool {
        let isNotFirst = previous.isText && previous.end == token.start
        guard token.kind == .string else { return isNotFirst && previous.kind == .string }
        let touchesNext =
            token.end < bytes.count && !bytes[token.end].isLoginConfWhitespace && !bytes[token.end].isDelimiter
        return isNotFirst || touchesNext || hasDelimiter(token)
    }

    /// Returns whether a quoted text has a `;`, or a brace beside white space that is none of a reference `${...}`.
    private func hasDelimiter(_ token: Token) -> Bool {
        var isReference = false
        for index in token.start + 1..<token.end - 1 where bytes[index].isDelimiter {
            switch bytes[index] {
            case .openBrace where bytes[index - 1] == .dollar: isReference = true
            case .closeBrace where isReference: isReference = false
            case .semicolon: return true
            default:
                let neighbours = [bytes[index - 1], bytes[index + 1]]
                if neighbours.contains(where: \.isLoginConfWhitespace) { return true }
            }
        }
        return false
    }

    private mutating func mayShow(_ token: Token, end: Int) -> Bool {
        switch token.kind {
        case .semicolon, .openBrace, .closeBrace:
            context = .keyword
            return true
        case .equals: return true
        case .unterminatedString: return false
        default: break
        }
        let word = token.kind == .string ? "" : String(decoding: bytes[token.start..<token.end], as: UTF8.self)
        switch context {
        case .value where token.kind == .string || !names.isSecret(word):
            return true
        case .optionValue:
            context = .name
            return true
        case .value, .keyword, .name:
            if context == .value { misplacedName = token.range }
            let isOption = bytes[token.end..<end].first { !$0.isLoginConfWhitespace } == .equals
            let isHarmless = names.isHarmless(word) && (isOption || context == .keyword)
            context = isHarmless ? (isOption ? .optionValue : .value) : .name
            return names.mayQuote(word)
        }
    }
}

/// The line below a message: its text, and the place in it that is underlined.
struct ShownLine {
    /// The maximum number of columns.
    private static let width = 100
    private static let ellipsis = "..."
    static let none = ShownLine(text: "", indent: 0, length: 0)

    let text: String
    let indent: Int
    let length: Int

    /// Shows the part of a line that may be shown; the rest is `...`, also at the place if that is not shown.
    static func of(_ bytes: [UInt8], line: SourceText.Line, place: SourceRange, part: Range<Int>?) -> ShownLine {
        guard let part, part.upperBound > line.start, part.lowerBound <= line.end else { return none }
        let (start, end) = (max(part.lowerBound, line.start), min(part.upperBound, line.end))
        let isWhole = bytes[line.start..<start].allSatisfy(\.isLoginConfWhitespace)
        let before = isWhole ? DiagnosticText.line(bytes[line.start..<start]) : "\(ellipsis) "
        let shown = before + DiagnosticText.line(bytes[start..<end])
        let rest = bytes[end..<line.end]
        let gap = DiagnosticText.line(rest.prefix { $0.isLoginConfWhitespace })
        let isPlaceShown = line.offset < end || line.offset == end && place.start == place.end
        if isPlaceShown || rest.isEmpty {
            let hasOnlyDelimiters = rest.allSatisfy { $0.isLoginConfWhitespace || $0.isDelimiter }
            let indent = before + DiagnosticText.line(bytes[start..<max(start, min(line.offset, end))])
            let marked = DiagnosticText.line(bytes[line.offset..<max(line.offset, min(place.end, end))])
            return ShownLine(
                text: shown + (hasOnlyDelimiters ? DiagnosticText.line(rest) : gap + ellipsis),
                indent: indent.unicodeScalars.count,
                length: max(1, marked.unicodeScalars.count)
            ).cut()
        }
        let indent = (shown + gap).unicodeScalars.count
        return ShownLine(text: shown + gap + ellipsis, indent: indent, length: ellipsis.count).cut()
    }

    /// Returns the line, cut to the columns around the place.
    private func cut() -> ShownLine {
        let all = Array(text.unicodeScalars)
        guard all.count > Self.width else { return self }
        let room = Self.width - 2 * Self.ellipsis.count
        let kept = min(indent, max(room / 3, room - (all.count - indent)))
        let after = min(all.count - indent, room - kept)
        let isCutBefore = kept < indent
        var shown = String.UnicodeScalarView()
        if isCutBefore { shown.append(contentsOf: Self.ellipsis.unicodeScalars) }
        shown.append(contentsOf: all[(indent - kept)..<(indent + after)])
        if indent + after < all.count { shown.append(contentsOf: Self.ellipsis.unicodeScalars) }
        return ShownLine(
            text: String(shown),
            indent: kept + (isCutBefore ? Self.ellipsis.count : 0),
            length: min(length, max(1, after))
        )
    }
}
