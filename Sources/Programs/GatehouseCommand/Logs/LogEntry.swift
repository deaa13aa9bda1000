// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import SignIn

/// An entry of the log of Gatehouse, whose texts come from clients, and must be escaped before they are shown.
struct LogEntry: Sendable, Hashable {
    enum Kind: String, Sendable, Hashable {
        /// A request: a line of the access log.
        case request
        /// A sign-in on the page or through the session API that was refused.
        case signInRefused = "sign-in-refused"
        /// A login that was refused for a program that uses the realm API.
        case checkRefused = "check-refused"
        case sessionBegun = "session-begun"
        case sessionEnded = "session-ended"
        /// A session or the code of a hand-over that was presented in the wrong place.
        case presentedElsewhere = "presented-elsewhere"
        case locked
        case other

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

    let time: LogTime
    /// The level, such as `warning`; empty for `info`.
    private(set) var level = ""
    var kind: Kind
    private var fields: [LogField: UTF8Text] = [:]
    private(set) var method: UTF8Text?
    /// The path; nil if the request had an ambiguous path.
    private(set) var path: UTF8Text?
    private(set) var status: Int?
    /// The code of the reason why a login was refused, such as `wrong-credentials`.
    private(set) var reason: UTF8Text?
    /// The text of a fault, such as the reason why a back end is unavailable.
    private(set) var fault: UTF8Text?
    /// True for the second check of a proxy, which fetches the page for a check that was refused.
    private(set) var isPage = false
    /// The further words of the line.
    var remarks: [UTF8Text] = []
    /// The text of a line of the kind ``Kind/other``.
    var text: UTF8Text?

    init(_ kind: Kind, at time: LogTime) { (self.kind, self.time) = (kind, time) }

    subscript(field: LogField) -> UTF8Text? {
        get { fields[field] }
        set { fields[field] = newValue }
    }

    /// True if a login was refused, or if the user was not allowed.
    ///
    /// A request without credentials that gets 401, and a page that does not exist, are not failures. The page for a
    /// refused check is no second failure.
    var isFailure: Bool {
        switch kind {
        case .signInRefused, .checkRefused, .presentedElsewhere: return true
        case .sessionBegun, .sessionEnded, .locked, .other: return false
        case .request where isPage: return false
        case .request where reason != nil: return true
        case .request:
            guard let status, status >= 400, status != 404 else { return false }
            return status != 401 || self[.user] != nil
        }
    }
}

extension LogEntry {
    /// Reads a line after its time; nil if it is not a line of Gatehouse, or if a line of the access log is cut off.
    init?(_ rest: ByteCursor, at time: LogTime) {
        var cursor = rest
        guard cursor.skip(" ") else { return nil }
        self.init(.other, at: time)
        level = ["trace", "debug", "notice", "warning", "error", "critical"].first { cursor.skip($0 + " ") } ?? ""
        guard cursor.skip("access: ") ? readRequest(cursor) : readEvent(cursor) else { return nil }
    }

    /// Reads a line of the access log after its source; false if it is cut off.
    private mutating func readRequest(_ rest: ByteCursor) -> Bool {
        var cursor = rest
        kind = .request
        guard let address = cursor.word() else { return false }
        self[.address] = Self.text(address)
        if !cursor.skip("- ") {
            guard let user = cursor.quoted(), cursor.skip("@"), let realm = cursor.quoted(), cursor.skip(" ") else {
                return false
            }
            (self[.user], self[.realm]) = (user, realm)
        }
        method = cursor.quoted()
        guard method != nil, cursor.skip(" ") else { return false }
        if !cursor.skip("(ambiguous path)") {
            path = cursor.quoted()
            guard path != nil else { return false }
        }
        guard cursor.skip(" ") else { return false }
        status = Self.number(cursor.word())
        // The number of bytes and the duration are not shown.
        guard status != nil, Self.number(cursor.word()) != nil, cursor.word()?.last == UInt8(ascii: "s") else {
            return false
        }
        return readFields(cursor)
    }

    private mutating func readEvent(_ rest: ByteCursor) -> Bool {
        var cursor = rest
        guard let source = cursor.word(), source.last == UInt8(ascii: ":") else { return false }
        guard let event = LoggedEvent.allCases.first(where: { cursor.skip($0.rawValue, before: ASCII.space) }) else {
            text = Self.text(cursor.bytes[cursor.index...])
            return true
        }
        kind = Kind(event)
        return readFields(cursor)
    }

    /// Reads words, texts in quotes, and fields such as `rule="..."`; false if a text in quotes is malformed or cut off.
    private mutating func readFields(_ rest: ByteCursor) -> Bool {
        var cursor = rest
        while let next = cursor.next {
            if next == ASCII.space {
                _ = cursor.skip(" ")
            } else if next == UInt8(ascii: "\"") {
                guard let text = cursor.quoted() else { return false }
                if reason != nil, fault == nil { fault = text } else { remarks.append(text) }
            } else {
                let word = cursor.skip { $0 != ASCII.space && $0 != UInt8(ascii: "\"") }
                guard let equals = word.firstIndex(of: UInt8(ascii: "=")) else {
                    readWord(Self.text(word))
                    continue
                }
                let isQuoted = cursor.next == UInt8(ascii: "\"") && equals == word.endIndex - 1
                guard let value = isQuoted ? cursor.quoted() : Self.text(word[(equals + 1)...]) else { return false }
                readField(Self.text(word[..<equals]), value, isQuoted: isQuoted)
            }
        }
        return true
    }

    /// Takes a word without quotes, which is one of the server.
    private mutating func readWord(_ word: UTF8Text) {
        if word == "page", kind == .request, !isPage { return isPage = true }
        if reason == nil, RefusalCode.explanations[word] != nil { reason = word } else { remarks.append(word) }
    }

    /// Takes a field; the names of users and realms are always in quotes, and are not trusted without them.
    private mutating func readField(_ name: UTF8Text, _ value: UTF8Text, isQuoted: Bool) {
        switch LogField(rawValue: name.string) {
        case .locked where isQuoted && self[.user] == nil: readAccount(value)
        case .locked where self[.address] == nil: self[.address] = value
        case let field? where field != .locked && self[field] == nil && field.quoting.allows(quoted: isQuoted):
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
        guard let word, word.count <= 18, word.allSatisfy(ASCII.isDigit) else { return nil }
        return Int(String(decoding: word, as: UTF8.self))
    }
}
