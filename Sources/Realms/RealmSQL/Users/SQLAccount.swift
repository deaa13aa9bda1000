// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit
internal import ServerConnections

/// The state of an account in its columns.
struct SQLState: Sendable, Hashable {
    var isEnabled = true
    var isLocked = false
    /// Of the account.
    var expiry = SQLTime.never
    var passwordExpiry = SQLTime.never
    var mustChangePassword = false
    /// The reason why a value cannot be read; nil if all can.
    ///
    /// A login is then not decided. It is found out after the password, because it would reveal that the user exists.
    var problem: String?

    static let columns = ["enabled", "locked", "expires", "password_expires", "must_change"]

    /// Returns the failure of a user whose password is right; nil if the user may sign in.
    func failure(at now: Int) -> LoginFailure? {
        if !isEnabled { return .disabled }
        if isLocked { return .locked }
        if expiry.isReached(at: now) { return .accountExpired }
        return mustChangePassword || passwordExpiry.isReached(at: now) ? .credentialExpired : nil
    }

    /// The time at which the account expires, in seconds since 1970; nil for never.
    var expirySeconds: Int? {
        if case .at(let time) = expiry { time } else { nil }
    }

    /// Sets the value of a column; a column that has no meaning is a fault of code `failed`.
    ///
    /// NULL means: not enabled, not locked, never, no change of the password. A value that cannot be read sets
    /// ``problem``.
    mutating func set(_ column: String, to text: String?, query: SQLQuery) throws(ServerFault) {
        switch column {
        case "enabled": isEnabled = flag(text, column: column, query: query) ?? true
        case "locked": isLocked = flag(text, column: column, query: query) ?? false
        case "must_change": mustChangePassword = flag(text, column: column, query: query) ?? false
        case "expires": expiry = time(text, column: column, query: query)
        case "password_expires": passwordExpiry = time(text, column: column, query: query)
        default:
            let known = (["username", "password"] + Self.columns).joined(separator: ", ")
            let problem = "returns the column \(column), which has no meaning; the columns are \(known)"
            throw ServerFault(.failed, "\(query.name.rawValue) \(problem)")
        }
    }

    /// Returns nil for a value that cannot be read, which ``problem`` then says.
    private mutating func flag(_ text: String?, column: String, query: SQLQuery) -> Bool? {
        switch text?.lowercased() {
        case nil: return false
        case "t", "true", "y", "yes", "on", "1": return true
        case "f", "false", "n", "no", "off", "0": return false
        default:
            problem = "\(query.name.rawValue): a value of the column \(column) is not true or false"
            return nil
        }
    }

    private mutating func time(_ text: String?, column: String, query: SQLQuery) -> SQLTime {
        guard let text else { return .never }
        guard let time = SQLTime(text) else {
            problem =
                "\(query.name.rawValue): a value of the column \(column) is neither seconds since 1970 nor a time such as "
                + "2026-12-31 18:00:00+00"
            return .never
        }
        return time
    }
}

struct SQLAccount: Sendable {
    /// The name as the database spells it.
    let name: String
    let stored: String?
    var state = SQLState()

    /// Reads a row of the password query or of the list of users; values that cannot be read, except the name, are
    /// passed over.
    init(_ number: Int, of rows: SQLRows, query: SQLQuery) throws(ServerFault) {
        let (row, unreadable) = (rows.rows[number], rows.unreadable[number] ?? [])
        var (name, stored): (String?, String?) = (nil, nil)
        var state = SQLState()
        for (place, column) in rows.columns.enumerated() where !unreadable.contains(place) {
            let value = row[place]
            switch column {
            case "username": name = value
            case "password": stored = value
            default: try state.set(column, to: value, query: query)
            }
        }
        guard let name else { throw ServerFault(.failed, "\(query.name.rawValue) returns a user without a name") }
        self.name = name
        self.stored = stored
        self.state = state
    }

    /// Checks the names of the columns, also if there is no row.
    static func check(_ columns: [String], query: SQLQuery) throws(ServerFault) {
        let required = query.name == .password ? ["username", "password"] : query.name == .list ? ["username"] : []
        for column in required where !columns.contains(column) {
            let hint =
                column == "username"
                ? ", with which the name is compared; write: SELECT name AS username, hash AS password ..." : ""
            throw ServerFault(.failed, "\(query.name.rawValue) returns no column \(column)\(hint)")
        }
        for (place, column) in columns.enumerated() {
            guard !columns[..<place].contains(column) else {
                throw ServerFault(.failed, "\(query.name.rawValue) returns the column \(column) twice")
            }
            if column == "username" || column == "password" {
                if query.name == .state {
                    throw ServerFault(.failed, "\(query.name.rawValue) must not return the column \(column)")
                }
                continue
            }
            var state = SQLState()
            try state.set(column, to: nil, query: query)
        }
    }

    /// Checks that the query for the state returns no column that the password query has, too: it might say the opposite.
    static func checkApart(_ columns: [String], from others: [String], query: SQLQuery) throws(ServerFault) {
        for column in columns where others.contains(column) {
            let problem = "both return the column \(column); one of them must not"
            throw ServerFault(.failed, "\(query.name.rawValue) and password-query \(problem)")
        }
    }
}

/// A time in a column: seconds since 1970, a date, or a date with a time in UTC or with an offset.
enum SQLTime: Sendable, Hashable {
    case never
    case at(Int)

    func isReached(at now: Int) -> Bool {
        if case .at(let time) = self { time <= now } else { false }
    }

    /// Reads a time; nil for a text that is none.
    init?(_ text: String) {
        let text = CharPadding.removed(from: text)
        switch text.lowercased() {
        case "infinity":
            self = .never
            return
        case "-infinity":
            self = .at(.min)
            return
        default: break
        }
        if let number = Int(text) {
            // A longer number is probably of milliseconds: as seconds, the time would never come.
            guard (-99_999_999_999...99_999_999_999).contains(number) else { return nil }
            self = .at(number)
            return
        }
        var reader = UTCTimeReader(Array(text.utf8))
        guard let day = reader.day() else { return nil }
        var (second, offset) = (0, 0)
        if reader.skip("T") || reader.skip(" ") {
            guard let time = reader.timeOfDay(lastSecond: 60) else { return nil }
            second = time
            if reader.hasSeconds, reader.skip(".") { guard reader.fraction() != nil else { return nil } }
            guard let found = Self.offset(&reader) else { return nil }
            offset = found
        }
        guard reader.isAtEnd else { return nil }
        self = .at(day + second - offset)
    }

    /// Reads `Z`, `+01`, `+01:30`, `-0800` or nothing, and returns the seconds.
    private static func offset(_ reader: inout UTCTimeReader) -> Int? {
        if reader.isAtEnd || reader.skip("Z") { return 0 }
        let sign = reader.skip("+") ? 1 : reader.skip("-") ? -1 : 0
        guard sign != 0, let hours = reader.number(2) else { return nil }
        guard !reader.isAtEnd else { return sign * hours * 3600 }
        _ = reader.skip(":")
        guard let minutes = reader.number(2) else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
