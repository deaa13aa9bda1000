// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
internal import CPostgres
internal import Glibc
internal import RealmKit
internal import ServerConnections
internal import Synchronization

/// A result of libpq.
@safe
struct PostgreSQLResult: ~Copyable {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { unsafe self.result = result }

    deinit { unsafe PQclear(result) }

    /// True for rows, which may be none in number.
    var hasRows: Bool { unsafe PQresultStatus(result) == PGRES_TUPLES_OK }

    /// True for the mark after the answers to queries that were sent together.
    var endsPipeline: Bool { unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC }

    /// Returns the rows, or throws the error of the server, and records what that reveals about the server.
    ///
    /// If all values have more bytes than the maximum, the rows have a `problem` and no values.
    func rows(context: String, state: PostgreSQLPoolState, maximum: Int) throws(ServerFault) -> SQLRows {
        switch unsafe PQresultStatus(result) {
        case PGRES_TUPLES_OK: return tuples(context: context, maximum: maximum)
        case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            var rows = SQLRows(names: [])
            if let text = unsafe PQcmdTuples(result) { rows.changed = unsafe Int(String(cString: text)) ?? 0 }
            return rows
        default: break
        }
        let code = unsafe Self.text(gatehouse_postgres_sqlstate(result))
        let text = unsafe Self.text(gatehouse_postgres_primary_message(result))
        if PostgreSQLFault.isUnusableValue(code), context != SQLQuery.Name.updatePassword.rawValue {
            var rows = SQLRows(names: [])
            rows.isIncomparable = true
            return rows
        }
        if code == "26000" || code == "42P05" { state.isUnprepared.store(true, ordering: .relaxed) }
        guard !code.isEmpty else {
            let text = unsafe Self.text(PQresultErrorMessage(result))
            throw ServerFault(.lost, "\(context): \(PostgreSQLFault.oneLine(text))")
        }
        throw PostgreSQLFault.query(code, message: text, context: context)
    }

    private static func text(_ text: UnsafePointer<CChar>?) -> String {
        unsafe text.map { unsafe String(cString: $0) } ?? ""
    }

    private func tuples(context: String, maximum: Int) -> SQLRows {
        let columns = unsafe PQnfields(result)
        var rows = SQLRows(
            names: (0..<columns).map { column in
                unsafe PQfname(result, column).map { unsafe String(cString: $0) } ?? ""
            }
        )
        let count = unsafe PQntuples(result)
        var bytesLeft = maximum
        rows.rows.reserveCapacity(Int(count))
        for row in 0..<count {
            var values: [String?] = []
            values.reserveCapacity(Int(columns))
            for column in 0..<columns {
                bytesLeft -= Int(unsafe PQgetlength(result, row, column))
                guard bytesLeft >= 0 else { return SQLRows(problem: SQLLimits.tooLarge(context).log) }
                let value = value(row, column: column)
                if value == nil, unsafe PQgetisnull(result, row, column) == 0 {
                    rows.addUnreadable(Int(column), query: context)
                }
                values.append(value)
            }
            rows.rows.append(values)
        }
        return rows
    }

    /// Returns a value as text; nil for NULL, and for a text that is not UTF-8.
    private func value(_ row: Int32, column: Int32) -> String? {
        guard unsafe PQgetisnull(result, row, column) == 0 else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column),
            count: Int(PQgetlength(result, row, column))
        )
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else { return nil }
        // The server fills the values of CHAR columns with blanks, which have no meaning.
        return unsafe PQftype(result, column) == Self.paddedType ? CharPadding.removed(from: text) : text
    }

    /// The number of the type CHAR (`bpchar`) in the catalogue of every server.
    private static let paddedType: Oid = 1042
}

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

/// The number of bytes that arrive at a TCP socket, which libpq reads and does not count.
///
/// An answer over a Unix socket is refused when it is complete.
struct InputSize {
    /// The maximum number of bytes; `Int.max` for none.
    let maximum: Int
    private let socket: Int32
    /// The number of bytes that the socket had received before; nil if there is no maximum, or the system does not count.
    private let start: UInt64?
    private(set) var isTooLarge = false

    /// Counts the bytes from now; the maximum is nil for none.
    init(_ socket: Int32 = -1, maximum: Int? = nil) {
        self.socket = socket
        self.maximum = maximum ?? .max
        start = maximum == nil ? nil : Self.received(socket)
    }

    /// Counts what has arrived.
    mutating func update() {
        guard let start, let now = Self.received(socket) else { return }
        isTooLarge = Int(clamping: now &- start) > maximum
    }

    /// The number of all bytes that a TCP socket has received; nil if the system does not count them.
    private static func received(_ socket: Int32) -> UInt64? {
        // The C library does not have this field of the kernel's structure (tcpi_bytes_received in linux/tcp.h).
        let offset = 128
        let size = offset + MemoryLayout<UInt64>.size
        return unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            var length = socklen_t(size)
            guard unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, buffer.baseAddress, &length) == 0,
                length == socklen_t(size)
            else { return nil }
            return unsafe buffer.load(fromByteOffset: offset, as: UInt64.self)
        }
    }
}

/// Texts as C strings; they are wiped at the end.
@safe
struct CStrings: ~Copyable {
    private let pointers: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>

    /// Copies texts without NUL, and optionally a secret after them.
    init(_ texts: [String], last secret: Secret? = nil) {
        let count = texts.count + (secret == nil ? 0 : 1)
        unsafe pointers = .allocate(capacity: count + 1)
        unsafe pointers.initialize(repeating: nil)
        for (place, text) in texts.enumerated() {
            unsafe pointers[place] = text.utf8Span.span.withUnsafeBufferPointer { unsafe Self.copy($0) }
        }
        if let secret {
            unsafe pointers[count - 1] = secret.withBytes { bytes in
                unsafe bytes.withUnsafeBufferPointer { unsafe Self.copy($0) }
            }
        }
    }

    deinit {
        for place in unsafe pointers.indices {
            guard let text = unsafe pointers[place] else { continue }
            let bytes = unsafe UnsafeMutablePointer(mutating: text)
            unsafe explicit_bzero(bytes, strlen(bytes))
            unsafe bytes.deallocate()
        }
        unsafe pointers.deallocate()
    }

    private static func copy(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar> {
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for place in bytes.indices { unsafe copy[place] = CChar(bitPattern: bytes[place]) }
        unsafe copy[bytes.count] = 0
        return unsafe UnsafePointer(copy)
    }

    /// Calls a function with the strings, with nil after the last one.
    func withPointers<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
        unsafe body(UnsafePointer(pointers.baseAddress))
    }
}
#endif
