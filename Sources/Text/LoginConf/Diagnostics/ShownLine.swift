// SPDX-License-Identifier: Apache-2.0

/// The part of a text that may be shown below a message about a place: the statement or option at hand, up to the place.
///
/// Names are shown if they are known or similar to a known one, and the values of known statements that are harmless. What
/// is after the place, before the statement, in comments or after anything else is not.
struct ShownPart {
    /// What the next word is.
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
    private let limit: Int
    private var position: Int
    private var context = Context.keyword
    private var hasPassedComment = false
    /// The part that may be shown, which may begin on an earlier line; nil if there is none.
    private(set) var range: Range<Int>?
    /// The name of a secret between the words of a harmless statement, probably after a missing `;`.
    private(set) var misplacedName: Range<Int>?

    init(of text: SourceText, at place: SourceRange, showing shownPlace: ShownPlace) {
        (bytes, names) = (text.bytes, text.names)
        let start = min(Int(place.start), bytes.count)
        limit = min(bytes.count, start + Self.reach)
        guard let first = Self.statementStart(before: start, in: bytes) else {
            position = start
            return
        }
        position = first
        // An empty place is before the token that begins there.
        let end = shownPlace == .never ? start : max(start + 1, Int(place.end))
        var isCut = false
        var isAfterSign = false
        while let token = nextToken(), token.lowerBound < end {
            if isCut || hasPassedComment { range = nil }
            hasPassedComment = false
            let isShown = mayShow(token) || shownPlace == .always && token.lowerBound >= start
            let first = bytes[token.lowerBound]
            isAfterSign = first.isSign
            isCut = !isShown || isAfterSign
            if first.isSign { misplacedName = nil }
            if isShown { range = (range?.lowerBound ?? token.lowerBound)..<token.upperBound }
        }
        // A statement that begins at a place that is not shown has no part to show.
        if shownPlace == .never, isAfterSign { range = nil }
    }

    /// Returns the end of the last `;`, `{` or `}` at the end of a line before the line of a place; nil if it is too far.
    private static func statementStart(before place: Int, in bytes: [UInt8]) -> Int? {
        var index = place
        var isLineStart = false
        while index > 0, place - index < reach {
            let byte = bytes[index - 1]
            if isLineStart, byte.isSign { return index }
            if byte.isLineEnd { isLineStart = true } else if !byte.isSpace { isLineStart = false }
            index -= 1
        }
        return index == 0 ? 0 : nil
    }

    private mutating func nextToken() -> Range<Int>? {
        while position < limit {
            let byte = bytes[position]
            if byte == .hash || bytes[position...].starts(with: "//".utf8) {
                while position < limit, !bytes[position].isLineEnd { position += 1 }
                hasPassedComment = true
            } else if byte.isSpace {
                position += 1
            } else {
                break
            }
        }
        guard position < limit else { return nil }
        let start = position
        position += 1
        if bytes[start] == .quote {
            while position < limit, !bytes[position].isLineEnd {
                let byte = bytes[position]
                position += 1
                if byte == .quote { break }
                if byte == .backslash, position < limit, !bytes[position].isLineEnd { position += 1 }
            }
        } else if !bytes[start].isSign, bytes[start] != .equals {
            var isReference = false
            while position < limit {
                let byte = bytes[position]
                if byte == .openBrace, bytes[position - 1] == .dollar {
                    isReference = true
                } else if byte == .closeBrace, isReference {
                    isReference = false
                } else if byte.endsToken {
                    break
                }
                position += 1
            }
        }
        return start..<position
    }

    private mutating func mayShow(_ token: Range<Int>) -> Bool {
        let first = bytes[token.lowerBound]
        if first.isSign { context = .keyword }
        if first.isSign || first == .equals { return true }
        let isString = first == .quote
        if isString, token.count < 2 || bytes[token.upperBound - 1] != .quote { return false }
        let word = isString ? "" : String(decoding: bytes[token], as: UTF8.self)
        switch context {
        case .value where isString || !names.isSecret(word):
            return true
        case .optionValue:
            context = .name
            return true
        case .value, .keyword, .name:
            if context == .value { misplacedName = token }
            let isOption = bytes[token.upperBound..<limit].first { !$0.isSpace } == .equals
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
        let isWhole = bytes[line.start..<start].allSatisfy(\.isSpace)
        let before = isWhole ? DiagnosticText.line(bytes[line.start..<start]) : "\(ellipsis) "
        let shown = before + DiagnosticText.line(bytes[start..<end])
        let rest = bytes[end..<line.end]
        let gap = DiagnosticText.line(rest.prefix { $0.isSpace })
        let isPlaceShown = line.offset < end || line.offset == end && place.start == place.end
        if isPlaceShown || rest.isEmpty {
            let isSigns = rest.allSatisfy { $0.isSpace || $0.isSign }
            let indent = before + DiagnosticText.line(bytes[start..<max(start, min(line.offset, end))])
            let marked = DiagnosticText.line(bytes[line.offset..<max(line.offset, min(Int(place.end), end))])
            return ShownLine(
                text: shown + (isSigns ? DiagnosticText.line(rest) : gap + ellipsis),
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

extension UInt8 {
    fileprivate var isSpace: Bool { self <= 0x20 }
    fileprivate var isSign: Bool { self == .semicolon || self == .openBrace || self == .closeBrace }
    fileprivate var endsToken: Bool { isSpace || isSign || self == .quote || self == .equals }
}
