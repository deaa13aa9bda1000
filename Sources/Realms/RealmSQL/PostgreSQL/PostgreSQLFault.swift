// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
internal import ServerConnections

/// The meaning of the codes of errors of PostgreSQL (SQLSTATE, appendix A of its manual).
enum PostgreSQLFault {
    static func query(_ state: String, message: String, context: String) -> ServerFault {
        ServerFault(code(state), "\(context): \(text(state, message: message))")
    }

    /// Returns the fault for a connection that was not opened, by the message of libpq, which has the SQLSTATE if it is
    /// from the server.
    static func connection(_ message: String) -> ServerFault {
        let line = oneLine(message)
        guard let state = state(in: line) else {
            let hint = "; in a network that is trusted, sslmode=disable in database allows connections without TLS"
            let hasNoTLS = line.utf8.firstRange(of: "does not support SSL".utf8) != nil
            return ServerFault(.unreachable, line + (hasNoTLS ? hint : ""))
        }
        switch state.prefix(2) {
        case "28", "3D", "42": return ServerFault(.failed, text(state, message: line))
        case "53": return ServerFault(.overloaded, text(state, message: line))
        default: return ServerFault(.unreachable, line)
        }
    }

    /// True for a value that a column cannot have, so that no row can match: a word for a number, for example.
    static func isUnusableValue(_ state: String) -> Bool {
        ["22P02", "22P05", "22021", "22003", "22007", "22008"].contains(state)
    }

    private static func code(_ state: String) -> ServerFault.Code {
        switch state {
        case "57014": return .timedOut
        // A statement is not prepared any more, or its table has changed: a new connection prepares it again.
        case "26000", "0A000", "42P05": return .lost
        case "25006": return .unavailable
        default: break
        }
        switch state.prefix(2) {
        case "40": return .lost
        case "53": return .overloaded
        case "08", "57", "58", "XX": return .unavailable
        default: return .failed
        }
    }

    private static func text(_ state: String, message: String) -> String {
        let meaning = meaning(state).map { "\($0); " } ?? ""
        // The messages of other classes can contain values, and those of triggers anything.
        let isPlain = ["08", "25", "28", "3D", "3F", "42", "53", "55", "57", "58"].contains(state.prefix(2))
        return isPlain ? "\(meaning)\(oneLine(message)) (SQLSTATE \(state))" : "\(meaning)SQLSTATE \(state)"
    }

    private static func meaning(_ state: String) -> String? {
        switch state {
        case "42P01": "a table is missing, or not in the search path of the user"
        case "42703": "a column is missing"
        case "42501": "the database's user has no right for it"
        case "42883": "a function or an operator is missing for these types"
        case "42601": "the query has a syntax error"
        case "42P18": "the type of a parameter is not known; write a cast such as :user::text"
        case "28000", "28P01": "the server rejects the user or the password of this program"
        case "3D000": "there is no such database"
        case "3F000": "there is no such schema"
        case "25006": "the server is a standby, or read-only"
        case "53300": "the server has too many connections"
        case "57P01", "57P02": "the server is being stopped"
        case "57P03": "the server is starting or stopping"
        case "57014": "the query has taken too long"
        case "55P03": "a row is locked"
        case "23505": "a value exists already"
        case "22001": "a value is too long for its column"
        default: nil
        }
    }

    /// Finds the code in a verbose message, such as `FATAL:  28P01: password authentication failed`.
    private static func state(in line: String) -> String? {
        let words = line.split(separator: " ")
        for (place, word) in words.enumerated() where place > 0 {
            let isCode =
                word.utf8.count == 6 && word.utf8.last == UInt8(ascii: ":")
                && word.utf8.dropLast().allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
            // `FATAL:` has the same form, but no digit.
            if isCode, word.utf8.contains(where: { (0x30...0x39).contains($0) }),
                words[place - 1].utf8.last == UInt8(ascii: ":")
            {
                return String(word.dropLast())
            }
        }
        return nil
    }

    /// Returns a message in one line, without the place in the source of the server.
    static func oneLine(_ message: String) -> String {
        let lines = message.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("LOCATION:") }
        let text = lines.map { $0.split(separator: " ").joined(separator: " ") }.joined(separator: "; ")
        return text.utf8.count > 500 ? String(text.prefix(400)) + " ..." : text
    }
}
#endif
