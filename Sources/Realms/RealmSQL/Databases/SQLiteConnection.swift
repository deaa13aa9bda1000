// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import Foundation
internal import GRDB
internal import Glibc
internal import ServerConnections
internal import Workers

/// A connection to an SQLite file, used by one thread at a time.
final class SQLiteConnection: DatabaseConnection {
    private let queue: DatabaseQueue
    private let path: String
    private let file: OwnedFile
    private let current: CurrentCall
    private let queryTimeout: Duration

    /// The identity of a file, independent of its name, with its owner, group and mode.
    private struct OwnedFile: Equatable {
        let identity: FileIdentity
        let user: uid_t
        let group: gid_t
        let mode: mode_t

        init?(_ path: String) {
            guard let status = try? FileStatus(of: path), status.isRegular else { return nil }
            identity = status.identity
            (user, group, mode) = (status.owner, status.group, status.mode)
        }
    }

    /// The call of the thread, for the callback of SQLite while the file is locked.
    private final class CurrentCall: @unchecked Sendable {
        // Set and read by the thread of the connection only; SQLite calls back on the thread of the query.
        var call: ServerCall?
        var end: UInt64 = 0
    }

    init(_ path: String, isReadOnly: Bool, queryTimeout: Duration) throws(ServerFault) {
        guard let file = OwnedFile(path) else { throw ServerFault(.unreachable, "there is no file \(path)") }
        // SQLite reads its log and its journal as parts of the database.
        for suffix in ["", "-wal", "-shm", "-journal"] {
            guard let finding = FileTrust.error(path + suffix, as: .users) else { continue }
            throw ServerFault(.failed, finding.text)
        }
        let current = CurrentCall()
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.label = "gatehouse.sql"
        configuration.busyMode = .callback { tries in
            guard let call = current.call, (try? call.check()) != nil, MonotonicTime.now < current.end else {
                return false
            }
            usleep(tries < 10 ? 1000 : 10_000)
            return true
        }
        queue = try Result { try DatabaseQueue(path: path, configuration: configuration) }
            .mapError { Self.fault($0, of: nil) }.get()
        self.path = path
        self.file = file
        self.current = current
        self.queryTimeout = queryTimeout
    }

    /// True if the file was neither removed nor replaced: SQLite would continue to use the old one.
    ///
    /// A new owner or mode is checked when the file is opened again.
    var isUsable: Bool { OwnedFile(path) == file }

    func close() {
        // Otherwise the file is closed when the object is released.
        try? queue.close()
    }

    func run(_ query: SQLQuery, values: SQLValues, call: ServerCall) throws(ServerFault) -> SQLRows {
        let values = try values.list(for: query)
        return try using(call, query: query) { database in
            let statement = try database.cachedStatement(sql: query.text)
            try statement.setArguments(StatementArguments(values))
            var rows = SQLRows(names: statement.columnNames)
            guard !query.isUpdate else {
                // A query that changes several rows is undone.
                try database.inTransaction {
                    try statement.execute()
                    rows.changed = database.changesCount
                    return rows.changed == 1 ? .commit : .rollback
                }
                return rows
            }
            let cursor = try Row.fetchCursor(statement)
            var bytesLeft = query.name == .list ? .max : SQLLimits.answerSize
            while let row = try cursor.next() {
                try call.check()
                var values: [String?] = []
                for column in 0..<row.count {
                    let value = try Self.text(row, column: column)
                    if value == nil, !row.hasNull(atIndex: column) {
                        rows.addUnreadable(column, query: query.name.rawValue)
                    }
                    values.append(value)
                }
                bytesLeft -= values.reduce(0) { $0 + 16 + ($1?.utf8.count ?? 0) }
                guard bytesLeft >= 0 else {
                    let fault = SQLLimits.tooLarge(query.name.rawValue)
                    guard query.name != .password else { throw fault }
                    return SQLRows(names: rows.names, problem: fault.log)
                }
                rows.rows.append(values)
            }
            return rows
        }
    }

    func check(_ query: SQLQuery, call: ServerCall) throws(ServerFault) {
        try using(call, query: query) { database in _ = try database.makeStatement(sql: query.text) }
    }

    /// Returns a value as text; nil for NULL, and for a text that is not UTF-8.
    private static func text(_ row: Row, column: Int) throws -> String? {
        switch (row[column] as DatabaseValue).storage {
        case .null: return nil
        case .int64(let number): return "\(number)"
        case .double(let number): return "\(number)"
        case .string, .blob:
            // GRDB ends a text at its first NUL, and replaces bytes that are not UTF-8.
            return try row.withUnsafeData(atIndex: column) { data in
                UTF8Text(validating: Array(data ?? Data()).span)?.string
            }
        }
    }

    private func using<Value>(
        _ call: ServerCall,
        query: SQLQuery,
        _ body: (Database) throws -> Value
    ) throws(ServerFault) -> Value {
        try call.check()
        current.end = call.end(within: queryTimeout)
        current.call = call
        defer { current.call = nil }
        var result: Result<Value, any Error>?
        // SQLite checks no time while it computes.
        try call.interrupting(at: current.end, by: { [queue] in queue.interrupt() }) { () throws(ServerFault) in
            result = Result { try queue.writeWithoutTransaction { try body($0) } }
        }
        guard let result else { throw ServerFault(.failed, "the query was not run") }
        do {
            return try result.get()
        } catch let fault as ServerFault {
            throw fault
        } catch {
            try call.check()
            throw Self.fault(error, of: query)
        }
    }

    /// Returns a fault for an error of a query; nil if the file could not be opened.
    private static func fault(_ error: any Error, of query: SQLQuery?) -> ServerFault {
        guard let error = error as? DatabaseError else { return ServerFault(.failed, "the database fails: \(error)") }
        // The whole description would contain the values of the query.
        let cause = error.message ?? "error \(error.extendedResultCode.rawValue)"
        switch error.resultCode.primaryResultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: return ServerFault(.timedOut, "the database is locked by another program")
        case .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_FULL, .SQLITE_PROTOCOL:
            let code = query == nil ? ServerFault.Code.unreachable : .unavailable
            return ServerFault(code, "the file cannot be read or written: \(cause)")
        case .SQLITE_READONLY: return ServerFault(.failed, "the file or its folder cannot be written: \(cause)")
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            return ServerFault(.failed, "the file is damaged, or not a database of SQLite: \(cause)")
        default: return ServerFault(.failed, (query.map { "\($0.name.rawValue): " } ?? "") + cause)
        }
    }
}
