// SPDX-License-Identifier: Apache-2.0

internal import ServerConnections
internal import Workers

/// An open connection to a database of one kind.
protocol DatabaseConnection: AnyObject {
    /// True if the connection can be used again.
    var isUsable: Bool { get }
    func close()

    /// Runs a query; there are no rows if the database cannot compare a value with a column, such as a word with a number.
    func run(_ query: SQLQuery, values: SQLValues, call: ServerCall) throws(ServerFault) -> SQLRows

    /// Runs queries that change no row, in their order.
    func run(_ queries: [SQLQuery], values: SQLValues, call: ServerCall) throws(ServerFault) -> [SQLRows]

    /// Checks a query without changing a row, and throws a fault of code `failed` for a missing table, column or right.
    func check(_ query: SQLQuery, call: ServerCall) throws(ServerFault)
}

extension DatabaseConnection {
    func run(_ queries: [SQLQuery], values: SQLValues, call: ServerCall) throws(ServerFault) -> [SQLRows] {
        var received: [SQLRows] = []
        try runEach(queries, values: values, call: call, received: &received)
        return received
    }

    /// Runs queries one after the other, and adds the rows of each to `received`.
    func runEach(
        _ queries: [SQLQuery],
        values: SQLValues,
        call: ServerCall,
        received: inout [SQLRows]
    ) throws(ServerFault) {
        for query in queries {
            let start = MonotonicTime.now
            var rows = try run(query, values: values, call: call)
            rows.time = MonotonicTime.now &- start
            received.append(rows)
        }
    }
}

/// A connection of a pool to a database, with the name of the server for messages.
final class SQLConnection: ServerConnection {
    let database: any DatabaseConnection
    let server: String

    init(_ database: any DatabaseConnection, server: String) {
        self.database = database
        self.server = server
    }

    var isUsable: Bool { database.isUsable }
    func close() { database.close() }
}

/// The servers of a database, for reading and for changes.
struct SQLServers: Sendable {
    /// Opens connections that cannot change rows.
    let readers: Servers<SQLConnection>
    /// Opens connections that can; a server that cannot is unavailable.
    let writers: Servers<SQLConnection>
}

/// The maximum times to open a connection and of a query, and the maximum size of an answer.
struct SQLLimits: Sendable {
    let connect: Duration
    let query: Duration

    /// The maximum size of an answer, or of the answers to queries that were sent together, in bytes.
    ///
    /// The list of all users has no maximum. A query without a condition would otherwise make every login read the whole table into memory.
    static let answerSize = 16 << 20

    static func tooLarge(_ context: String) -> ServerFault {
        ServerFault(.failed, "\(context): the answer has more than \(answerSize >> 20) MiB")
    }
}

/// The blanks at the end with which PostgreSQL fills the values of CHAR columns.
enum CharPadding {
    static func removed(from text: String) -> String {
        guard text.utf8.last == 0x20 else { return text }
        let bytes = text.utf8
        let end = bytes.lastIndex { $0 != 0x20 }.map { bytes.index(after: $0) } ?? bytes.startIndex
        return String(text[..<end])
    }
}
