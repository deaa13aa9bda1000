// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import SignIn

extension LogEntry {
    /// Reads a line after its time; nil if it is not a line of Gatehouse, or if a line of the access log is cut off.
    init?(_ rest: ByteCursor, at time: LogTime) {
        var cursor = rest
        guard cursor.skip(" ") else { return nil }
        var level = ""
        for name in ["trace", "debug", "notice", "warning", "error", "critical"] {
            var ahead = cursor
            guard ahead.skip(name), ahead.skip(" ") else { continue }
            level = name
            cursor = ahead
            break
        }
        let entry = cursor.skip("access: ") ? Self.request(cursor, at: time) : Self.event(cursor, at: time)
        guard var entry else { return nil }
        entry.level = level
        self = entry
    }

    /// Reads a line of the access log after its source.
    private static func request(_ rest: ByteCursor, at time: LogTime) -> LogEntry? {
        var cursor = rest
        var entry = LogEntry(.request, at: time)
        guard let address = cursor.word() else { return nil }
        entry[.address] = text(address)
        if !cursor.skip("- ") {
            guard let user = cursor.quoted(), cursor.skip("@"), let realm = cursor.quoted(), cursor.skip(" ") else {
                return nil
            }
            (entry[.user], entry[.realm]) = (user, realm)
        }
        guard let method = cursor.quoted(), cursor.skip(" ") else { return nil }
        entry.method = method
        if !cursor.skip("(ambiguous path)") {
            guard let path = cursor.quoted() else { return nil }
            entry.path = path
        }
        guard cursor.skip(" "), let status = number(cursor.word()), number(cursor.word()) != nil,
            let duration = cursor.word(), duration.last == UInt8(ascii: "s")
        else { return nil }
        entry.status = status
        guard entry.readFields(cursor) else { return nil }
        return entry
    }

    private static func event(_ rest: ByteCursor, at time: LogTime) -> LogEntry? {
        var cursor = rest
        guard let source = cursor.word(), source.last == UInt8(ascii: ":") else { return nil }
        for event in LoggedEvent.allCases {
            var ahead = cursor
            guard ahead.skip(event.rawValue), ahead.next == ASCII.space else { continue }
            var entry = LogEntry(Kind(event), at: time)
            guard entry.readFields(ahead) else { return nil }
            return entry
        }
        var entry = LogEntry(.other, at: time)
        entry.text = UTF8Text(repairing: cursor.bytes.span.extracting(cursor.index..<cursor.bytes.count))
        return entry
    }

    /// Reads words, texts in quotes, and fields such as `rule="..."`; false if a text in quotes is malformed or cut off.
    private mutating func readFields(_ rest: ByteCursor) -> Bool {
        var cursor = rest
        while !cursor.isAtEnd {
            if cursor.skip(" ") { continue }
            if cursor.next == UInt8(ascii: "\"") {
                guard let text = cursor.quoted() else { return false }
                if reason != nil, fault == nil { fault = text } else { remarks.append(text) }
                continue
            }
            let start = cursor.index
            var end = start
            while end < cursor.bytes.count, cursor.bytes[end] != ASCII.space, cursor.bytes[end] != UInt8(ascii: "\"") {
                end += 1
            }
            let word = cursor.bytes[start..<end]
            cursor = ByteCursor(cursor.bytes, from: end)
            guard let equals = word.firstIndex(of: UInt8(ascii: "=")) else {
                readWord(word)
                continue
            }
            let value: UTF8Text
            let isQuoted = cursor.next == UInt8(ascii: "\"") && equals == end - 1
            if isQuoted {
                guard let quoted = cursor.quoted() else { return false }
                value = quoted
            } else {
                value = Self.text(word[(equals + 1)...])
            }
            readField(Self.text(word[..<equals]), value, isQuoted: isQuoted)
        }
        return true
    }

    private mutating func readWord(_ word: ArraySlice<UInt8>) {
        let text = Self.text(word)
        // Words without quotes are of the server.
        if text == "page", kind == .request, !isPage { return isPage = true }
        if reason == nil, RefusalCode.explanations[text] != nil { reason = text } else { remarks.append(text) }
    }

    /// Takes a field; the names of users and realms are always in quotes, and are not trusted without them.
    private mutating func readField(_ name: UTF8Text, _ value: UTF8Text, isQuoted: Bool) {
        switch LogField(rawValue: name.string) {
        case .phase: break
        case .locked where isQuoted && self[.user] == nil: readAccount(value)
        case .locked where self[.address] == nil: self[.address] = value
        case let field? where field != .locked && self[field] == nil && isQuoted == field.isQuoted ?? isQuoted:
            self[field] = value
        case _: remarks.append(UTF8Text("\(name.string)=\(value.string)"))
        }
    }

    /// Takes an account such as `ann@people`.
    private mutating func readAccount(_ account: UTF8Text) {
        let bytes = Array(account.string.utf8)
        guard let sign = bytes.lastIndex(of: UInt8(ascii: "@")) else { return self[.user] = account }
        (self[.user], self[.realm]) = (Self.text(bytes[..<sign]), Self.text(bytes[(sign + 1)...]))
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> UTF8Text { UTF8Text(repairing: bytes.span) }

    private static func number(_ word: ArraySlice<UInt8>?) -> Int? {
        guard let word, (1...18).contains(word.count), word.allSatisfy(ASCII.isDigit) else { return nil }
        return word.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}

extension LogEntry.Kind {
    fileprivate init(_ event: LoggedEvent) {
        switch event {
        case .sessionBegun: self = .sessionBegun
        case .sessionEnded: self = .sessionEnded
        case .sessionElsewhere, .handOverElsewhere: self = .presentedElsewhere
        case .signInRefused: self = .signInRefused
        case .checkRefused: self = .checkRefused
        case .locked: self = .locked
        }
    }
}
