// SPDX-License-Identifier: Apache-2.0

/// The error for a text that is not a usable query.
struct BadQuery: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem with its place: the end of a sentence that begins with the property's name.
    let description: String
}

/// Finds the parameters of a query, such as `:user`, and replaces them by numbers.
///
/// Strings, quoted names, comments, dollar quotes and casts with `::` are skipped as the database itself reads them.
/// What the scanner and the database could read in different ways is an error with its place.
struct QueryScanner {
    private let bytes: [UInt8]
    private let dialect: SQLDialect
    private let allowed: [SQLParameter]
    private var place = 0
    private var output: [UInt8] = []
    private var parameters: [SQLParameter] = []
    /// True after the semicolon at the end.
    private var hasEnded = false
    private var isEmpty = true

    /// Translates a query, which may have some parameters and must have others.
    static func translate(
        _ text: String,
        name: SQLQuery.Name,
        dialect: SQLDialect,
        allowed: [SQLParameter],
        required: [SQLParameter]
    ) throws(BadQuery) -> SQLQuery {
        var scanner = QueryScanner(text, dialect: dialect, allowed: allowed)
        try scanner.scan()
        guard !scanner.isEmpty else { throw BadQuery(description: "is empty") }
        for parameter in required where !scanner.parameters.contains(parameter) {
            throw BadQuery(description: "does not use :\(parameter.rawValue)")
        }
        let translated = String(decoding: scanner.output, as: UTF8.self)
        return SQLQuery(name: name, text: translated, parameters: scanner.parameters)
    }

    private init(_ text: String, dialect: SQLDialect, allowed: [SQLParameter]) {
        bytes = Array(text.utf8)
        self.dialect = dialect
        self.allowed = allowed
    }

    private mutating func scan() throws(BadQuery) {
        if let nul = bytes.firstIndex(of: 0) { throw fault("a NUL byte", at: nul) }
        while place < bytes.count {
            let start = place
            let isComment = try step()
            guard !isComment else { continue }
            guard !hasEnded else { throw fault("a second statement; a query is one statement", at: start) }
            isEmpty = false
        }
    }

    /// Reads one token; returns true for white space, a comment and the semicolon at the end.
    private mutating func step() throws(BadQuery) -> Bool {
        let start = place
        let byte = bytes[place]
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0C, 0x0D:
            copy(1)
            return true
        case UInt8(ascii: ";"):
            guard !hasEnded, !isEmpty else { throw fault("an empty statement", at: start) }
            // The semicolon is left out: the rest can only be white space and comments.
            hasEnded = true
            place += 1
            return true
        case UInt8(ascii: "-") where next(is: "-"):
            // A carriage return ends a comment of PostgreSQL, but not one of SQLite.
            while place < bytes.count, bytes[place] != 0x0A, bytes[place] != 0x0D || dialect == .sqlite { copy(1) }
            return true
        case UInt8(ascii: "/") where next(is: "*"):
            try blockComment()
            return true
        case UInt8(ascii: "'"): try quoted(by: byte, what: "a string")
        case UInt8(ascii: "\""): try quoted(by: byte, what: "a quoted name")
        case UInt8(ascii: "`") where dialect == .sqlite: try quoted(by: byte, what: "a quoted name")
        case UInt8(ascii: "[") where dialect == .sqlite:
            guard let end = bytes[place...].firstIndex(of: UInt8(ascii: "]")) else {
                throw fault("a quoted name without its end", at: start)
            }
            copy(end + 1 - place)
        case UInt8(ascii: "$"): try dollar()
        case UInt8(ascii: ":"): try colon()
        case UInt8(ascii: "?") where dialect == .sqlite, UInt8(ascii: "@") where dialect == .sqlite:
            throw fault("a parameter without a name of ours; write :user", at: start)
        case _ where Self.isNameByte(byte): try word()
        case 0x00...0x1F, 0x7F: throw fault("a control character", at: start)
        default: copy(1)
        }
        return false
    }

    // MARK: Tokens

    /// Reads a name, a keyword or a number, and the string after it if it is a prefix such as `E`.
    private mutating func word() throws(BadQuery) {
        let start = place
        while place < bytes.count, Self.isNameByte(bytes[place]) || bytes[place] == UInt8(ascii: "$") { copy(1) }
        guard dialect == .postgreSQL, place < bytes.count, bytes[place] == UInt8(ascii: "'") else { return }
        let isEscaped = place == start + 1 && (bytes[start] | 0x20) == UInt8(ascii: "e")
        guard isEscaped else { return }
        try quoted(by: UInt8(ascii: "'"), what: "a string", hasEscapes: true)
        // A string after a line break would continue this one, with its escapes.
        var rest = place
        while rest < bytes.count, [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(bytes[rest]) { rest += 1 }
        let isComment = bytes[rest...].starts(with: "--".utf8)
        guard rest == bytes.count || bytes[rest] != UInt8(ascii: "'"), !isComment else {
            throw fault("a string with escapes that may continue; write it as one string", at: rest)
        }
    }

    /// Reads up to the closing quote; a doubled quote is a part of the text.
    private mutating func quoted(by quote: UInt8, what: String, hasEscapes: Bool = false) throws(BadQuery) {
        let start = place
        copy(1)
        while place < bytes.count {
            if hasEscapes, bytes[place] == UInt8(ascii: "\\"), place + 1 < bytes.count {
                copy(2)
            } else if bytes[place] != quote {
                copy(1)
            } else if place + 1 < bytes.count, bytes[place + 1] == quote {
                copy(2)
            } else {
                copy(1)
                return
            }
        }
        throw fault("\(what) without its end", at: start)
    }

    private mutating func blockComment() throws(BadQuery) {
        let start = place
        copy(2)
        var depth = 1
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "*"), next(is: "/") {
                copy(2)
                depth -= 1
                if depth == 0 { return }
            } else if dialect == .postgreSQL, bytes[place] == UInt8(ascii: "/"), next(is: "*") {
                // SQLite's comments do not nest.
                copy(2)
                depth += 1
            } else {
                copy(1)
            }
        }
        throw fault("a comment without its end", at: start)
    }

    /// Reads a dollar quote such as `$tag$ ... $tag$`.
    private mutating func dollar() throws(BadQuery) {
        let start = place
        guard dialect == .postgreSQL else { throw fault("a parameter without a name of ours; write :user", at: start) }
        var end = place + 1
        while end < bytes.count, Self.isNameByte(bytes[end]) { end += 1 }
        let tag = bytes[(start + 1)..<end]
        guard end < bytes.count, bytes[end] == UInt8(ascii: "$"), !(tag.first.map(Self.isDigit) ?? false) else {
            throw fault("a $ that does not begin a quoted string; write :user for a parameter", at: start)
        }
        let delimiter = bytes[start...end]
        copy(delimiter.count)
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "$"), bytes[place...].starts(with: delimiter) {
                copy(delimiter.count)
                return
            }
            copy(1)
        }
        throw fault("a string without its end", at: start)
    }

    /// Reads a cast, an assignment, or a parameter.
    private mutating func colon() throws(BadQuery) {
        let start = place
        if dialect == .postgreSQL, next(is: ":") || next(is: "=") {
            copy(2)
            return
        }
        var end = place + 1
        while end < bytes.count {
            let isHyphen =
                bytes[end] == UInt8(ascii: "-") && end > place + 1 && end + 1 < bytes.count
                && Self.isLetter(bytes[end + 1])
            guard Self.isNameByte(bytes[end]) || isHyphen else { break }
            end += 1
        }
        let name = String(decoding: bytes[(place + 1)..<end], as: UTF8.self)
        let isSubscript = name.utf8.allSatisfy(Self.isDigit)
        if dialect == .postgreSQL, isSubscript {
            // A part of an array, as in a[1:2].
            copy(end - place)
            return
        }
        let known = SQLParameter.allCases.first { $0.rawValue == name.replacing("_", with: "-") }
        guard let known else { throw fault("the unknown parameter :\(name)", at: start) }
        guard allowed.contains(known) else {
            throw fault("the parameter :\(name), which this query does not have", at: start)
        }
        // Without the blanks, two tokens could become one.
        if !parameters.contains(known) { parameters.append(known) }
        let number = (parameters.firstIndex(of: known) ?? 0) + 1
        output += Array(" \(dialect == .sqlite ? "?" : "$")\(number) ".utf8)
        place = end
    }

    // MARK: Bytes

    private mutating func copy(_ count: Int) {
        output += bytes[place..<(place + count)]
        place += count
    }

    private func next(is text: StaticString) -> Bool {
        place + 1 < bytes.count && "\(text)".utf8.first == bytes[place + 1]
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    private func fault(_ problem: String, at place: Int) -> BadQuery {
        let before = bytes[..<min(place, bytes.count)]
        let line = before.count { $0 == 0x0A } + 1
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
        return BadQuery(description: "has \(problem), at line \(line), column \(column)")
    }
}
