// SPDX-License-Identifier: Apache-2.0

internal import ServerConnections

/// An open connection to a database of one kind.
protocol DatabaseConnection: AnyObject {
    /// True if the connection can be used again.
    var isUsable: Bool { get }
    func close()

    /// Runs a query.
    ///
    /// There are no rows if the database cannot compare a value with a column, such as a word with a number. After rows
    /// that are ``SQLRows/tooLarge(_:)`` the connection may be unusable.
    func run(_ query: SQLQuery, values: SQLValues, call: ServerCall) throws(ServerFault) -> SQLRows

    /// Checks a query without changing a row, and throws a fault of code `failed` for a missing table, column or right.
    func check(_ query: SQLQuery, call: ServerCall) throws(ServerFault)
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

/// The maximum times to open a connection and of a query.
struct SQLLimits: Sendable {
    let connect: Duration
    let query: Duration
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
