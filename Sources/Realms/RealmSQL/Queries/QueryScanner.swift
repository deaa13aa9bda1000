// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// Finds the parameters of a query, such as `:user`, and replaces them by numbers.
///
/// Strings, quoted names, comments, dollar quotes and casts are copied as the database itself reads them. The database finds
/// all mistakes in them, when it checks the query at load.
struct QueryScanner {
    private let bytes: [UInt8]
    private let name: SQLQuery.Name
    private let dialect: SQLDialect
    private let known: [SQLParameter]
    private var place = 0
    private var output: [UInt8] = []
    private var parameters: [SQLParameter] = []

    /// Translates a query with the parameters that it may have.
    static func translate(
        _ text: String,
        name: SQLQuery.Name,
        dialect: SQLDialect,
        parameters: [SQLParameter]
    ) throws(BadRealm) -> SQLQuery {
        var scanner = QueryScanner(bytes: Array(text.utf8), name: name, dialect: dialect, known: parameters)
        try scanner.scan()
        let translated = String(decoding: scanner.output, as: UTF8.self)
        return SQLQuery(name: name, text: translated, parameters: scanner.parameters)
    }

    private init(bytes: [UInt8], name: SQLQuery.Name, dialect: SQLDialect, known: [SQLParameter]) {
        (self.bytes, self.name, self.dialect, self.known) = (bytes, name, dialect, known)
    }

    private mutating func scan() throws(BadRealm) {
        // The libraries of the databases would cut the text there.
        if let nul = bytes.firstIndex(of: 0) { throw fault("a NUL byte", at: nul) }
        let isPostgreSQL = dialect == .postgreSQL
        var hasEnded = false
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x09...0x0D: copy(1)
            // A carriage return ends a comment of PostgreSQL, but not one of SQLite.
            case UInt8(ascii: "-") where follows("--"): copy { $0 == 0x0A || $0 == 0x0D && isPostgreSQL }
            case UInt8(ascii: "/") where follows("/*"): comment()
            case UInt8(ascii: ";") where !hasEnded:
                hasEnded = true
                place += 1
            case _ where hasEnded: throw fault("a second statement; a query is one statement", at: place)
            // A doubled quote is the end of one string and the beginning of another one.
            case UInt8(ascii: "'"), UInt8(ascii: "\""): copy(through: bytes[place])
            case UInt8(ascii: "`") where dialect == .sqlite: copy(through: UInt8(ascii: "`"))
            case UInt8(ascii: "[") where dialect == .sqlite: copy(through: UInt8(ascii: "]"))
            case UInt8(ascii: "?") where dialect == .sqlite, UInt8(ascii: "@") where dialect == .sqlite:
                throw fault("a parameter without a name of ours; write :user", at: place)
            case UInt8(ascii: "$"): try dollar()
            case UInt8(ascii: ":"): try colon()
            case let byte where Self.isNameByte(byte): word()
            default: copy(1)
            }
        }
    }

    // MARK: Tokens

    /// Copies a name, a keyword or a number, and a string with escapes after `E`.
    private mutating func word() {
        let start = place
        copy(prefix { Self.isNameByte($0) || $0 == UInt8(ascii: "$") })
        guard dialect == .postgreSQL, place == start + 1, bytes[start] | 0x20 == UInt8(ascii: "e"), follows("'") else {
            return
        }
        copy(1)
        // A doubled quote does not end the escapes.
        while place < bytes.count, bytes[place] != UInt8(ascii: "'") || follows("''") {
            copy(bytes[place] == UInt8(ascii: "\\") || follows("''") ? 2 : 1)
        }
        copy(1)
    }

    /// Copies a comment; those of PostgreSQL nest.
    private mutating func comment() {
        var depth = 0
        repeat {
            if follows("/*"), depth == 0 || dialect == .postgreSQL {
                copy(2)
                depth += 1
            } else if follows("*/") {
                copy(2)
                depth -= 1
            } else {
                copy(1)
            }
        } while depth > 0 && place < bytes.count
    }

    /// Copies a string such as `$tag$ ... $tag$`.
    private mutating func dollar() throws(BadRealm) {
        let start = place
        copy(1)
        let isNumber = bytes[place...].first.map(ASCII.isDigit) == true
        copy(prefix(while: Self.isNameByte))
        guard dialect == .postgreSQL, follows("$"), !isNumber else {
            throw fault("a $ that does not begin a quoted string; write :user for a parameter", at: start)
        }
        let delimiter = bytes[start...place]
        copy(1)
        while place < bytes.count, !bytes[place...].starts(with: delimiter) { copy(1) }
        copy(delimiter.count)
    }

    /// Copies a cast, an assignment or a part of an array as in `a[1:2]`, or replaces a parameter.
    private mutating func colon() throws(BadRealm) {
        let start = place
        if dialect == .postgreSQL, follows("::") || follows(":=") { return copy(2) }
        var end = place + 1
        while end < bytes.count {
            let isHyphen = bytes[end] == UInt8(ascii: "-") && bytes[end...].dropFirst().first.map(Self.isLetter) == true
            guard Self.isNameByte(bytes[end]) || isHyphen && end > place + 1 else { break }
            end += 1
        }
        let text = String(decoding: bytes[(place + 1)..<end], as: UTF8.self)
        if dialect == .postgreSQL, text.utf8.allSatisfy(ASCII.isDigit) { return copy(end - place) }
        guard let parameter = known.first(where: { $0.rawValue == text.replacing("_", with: "-") }) else {
            throw fault("the unknown parameter :\(text)", at: start)
        }
        if !parameters.contains(parameter) { parameters.append(parameter) }
        let number = (parameters.firstIndex(of: parameter) ?? 0) + 1
        // Without the blanks, two tokens could become one.
        output += Array(" \(dialect == .sqlite ? "?" : "$")\(number) ".utf8)
        place = end
    }

    // MARK: Bytes

    /// Copies at most so many bytes.
    private mutating func copy(_ count: Int) {
        output += bytes[place...].prefix(count)
        place = min(place + count, bytes.count)
    }

    /// Copies the first byte, and those up to the next one with a value.
    private mutating func copy(through last: UInt8) {
        copy(1)
        copy { $0 == last }
        copy(1)
    }

    private mutating func copy(until isEnd: (UInt8) -> Bool) { copy(prefix { !isEnd($0) }) }

    private func prefix(while isPart: (UInt8) -> Bool) -> Int { bytes[place...].prefix(while: isPart).count }

    private func follows(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    private func fault(_ problem: String, at place: Int) -> BadRealm {
        let before = bytes[..<place]
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
        let line = before.count { $0 == 0x0A } + 1
        return BadRealm("has \(problem), at line \(line), column \(column)", setting: name.rawValue)
    }
}
