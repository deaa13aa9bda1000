// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import GRDB
internal import Glibc

/// The store in the state folder of a program: an SQLite file with users, locks and sessions.
///
/// Several programs may open it at the same time. A change is on the disk when its call returns. If a program is killed
/// during a change, the change is stored either completely or not at all. Only the owner of the file may use it.
package final class GatehouseStore: Sendable {
    /// The file's name in the state folder.
    package static let fileName = "gatehouse.sqlite"

    /// The path of the file; nil for a store in memory.
    package let path: String?
    /// The state folder; nil for a store in memory.
    package var folder: String? { path.map { String($0.dropLast(Self.fileName.utf8.count + 1)) } }
    package let isReadOnly: Bool
    /// The ended sessions that could not be removed from the database; nil for a store in memory.
    let endedSessions: EndedSessionFile?
    private let file: FileIdentity?
    private let database: any DatabaseWriter

    private init(_ database: any DatabaseWriter, path: String?, isReadOnly: Bool = false) throws {
        self.database = database
        self.path = path
        self.isReadOnly = isReadOnly
        file = path.flatMap(Self.identity)
        endedSessions = path.map {
            EndedSessionFile("\($0.dropLast(Self.fileName.utf8.count))\(EndedSessionFile.fileName)")
        }
    }

    private static func identity(of path: String) -> FileIdentity? { (try? FileStatus(of: path))?.identity }

    /// Throws if the opened file was removed or replaced.
    ///
    /// SQLite would go on using the old file, without the changes of other programs, and own ones would be lost.
    private func checkFileIsNotReplaced() throws(StoreFault) {
        guard let path, Self.identity(of: path) != file else { return }
        throw StoreFault(
            .unavailable,
            "\(path) was removed or replaced while it was in use; restart the programs that use it"
        )
    }

    /// Opens the store of a state folder; creates the folder and the file if they are missing.
    ///
    /// - Returns: The store, migrated to the layout of this version.
    /// - Throws: ``StoreFault``: `unavailable` if the folder or the file cannot be used; `tooNew` if a newer version
    ///   has written the file.
    package static func open(folder: String) throws(StoreFault) -> GatehouseStore {
        let state = try reporting("the state folder cannot be used") { () throws(StateFolder.Fault) in
            try StateFolder(folder)
        }
        let path = state.path(fileName)
        let lock = try reporting("the store cannot be opened") { () throws(StateFolder.Fault) in
            // Without a lock two programs could migrate an empty or old store at the same time.
            let lock = try StateFolder.Lock(state)
            // SQLite creates its other files with the mode of the database file.
            try state.createFile(fileName, mode: 0o600)
            return lock
        }
        defer { withExtendedLifetime(lock) {} }
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            configuration.foreignKeysEnabled = true
            configuration.label = "gatehouse.store"
            configuration.prepareDatabase { database in
                // A committed change must survive a power cut.
                try database.execute(sql: "PRAGMA synchronous = FULL")
            }
            return try GatehouseStore(migrated: try DatabasePool(path: path, configuration: configuration), path: path)
        } catch {
            throw StoreFault(error, path: path)
        }
    }

    /// Opens an existing store for reading; nil if the file does not exist, and SQLite is not used.
    ///
    /// It is for programs that only read. It creates neither the folder nor the database file.
    ///
    /// - Throws: ``StoreFault``: `unavailable` or `tooNew`, as in ``open(folder:)``; `tooOld`.
    static func openIfPresent(folder: String) throws(StoreFault) -> GatehouseStore? {
        let path = "\(folder)/\(fileName)"
        if (try? FileStatus(of: folder)) != nil {
            try reporting("the state folder cannot be used") { () throws(StateFolder.Fault) in
                try StateFolder.checkIsFolder(folder)
                try StateFolder.checkOnlyOwnerCanWrite(folder)
            }
        }
        let status: FileStatus
        do throws(SystemError) {
            status = try FileStatus(ofLink: path)
        } catch {
            // A file that is not accessible must not be treated as a missing file: an empty store has no locks.
            if error.number == ENOENT {
                guard let link = StateFolder.brokenLink(in: folder) else { return nil }
                throw StoreFault(.unavailable, "the state folder cannot be used: \(link) is a link that leads nowhere")
            }
            let advice = FileOwner.advice(error.number, folder)
            throw StoreFault(.unavailable, "the store \(path) cannot be accessed: \(error)\(advice)")
        }
        guard status.isRegular else {
            throw StoreFault(.unavailable, "the store cannot be opened: \(path) is not a regular file")
        }
        guard unsafe access(path, R_OK) == 0 else {
            throw StoreFault(.unavailable, "the store \(path) cannot be read\(FileOwner.advice(EACCES, path))")
        }
        do throws(StoreFault) {
            return try openReadOnly(path)
        } catch {
            // Another program may be creating or migrating the store; it takes the lock before it creates the file.
            try reporting("the store cannot be opened") { () throws(StateFolder.Fault) in
                try StateFolder.Lock.waitUntilReleased(in: folder)
            }
            return try openReadOnly(path)
        }
    }

    private static func reporting<Value>(
        _ problem: String,
        of body: () throws(StateFolder.Fault) -> Value
    ) throws(StoreFault) -> Value {
        try Result(catching: body).mapError { StoreFault(.unavailable, "\(problem): \($0.reason)") }.get()
    }

    /// Returns nil if a program was killed before it made the tables of a new store.
    private static func openReadOnly(_ path: String) throws(StoreFault) -> GatehouseStore? {
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(10)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try Self.check(queue, path: path)
            let tables = "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'grdb%' AND name NOT LIKE 'sqlite%'"
            guard try queue.read({ try Int.fetchOne($0, sql: tables) }) != 0 else { return nil }
            guard try queue.read(Migrations.all.hasCompletedMigrations) else {
                throw StoreFault(
                    .tooOld,
                    "the store \(path) is of an older version; gatehouse serve and the commands that change users bring it up to date"
                )
            }
            return try GatehouseStore(queue, path: path, isReadOnly: true)
        } catch let error as DatabaseError where [.SQLITE_READONLY, .SQLITE_CANTOPEN].contains(error.resultCode) {
            // Even for reading, SQLite has to create files in the folder, unless another program has the store open.
            throw StoreFault(
                .unavailable,
                "the store \(path) can be read by its owner only\(FileOwner.advice(EACCES, path))"
            )
        } catch {
            throw StoreFault(error, path: path)
        }
    }

    /// Creates an empty store in memory, which is deleted with this object.
    package static func inMemory() throws(StoreFault) -> GatehouseStore {
        try Result { try GatehouseStore(migrated: try DatabaseQueue(), path: nil) }
            .mapError { StoreFault($0, path: nil) }.get()
    }

    private convenience init(migrated database: any DatabaseWriter, path: String?) throws {
        try Self.check(database, path: path)
        try Migrations.all.migrate(database)
        try self.init(database, path: path)
    }

    private static func check(_ database: any DatabaseReader, path: String?) throws {
        guard try database.read(Migrations.all.hasBeenSuperseded) else { return }
        throw StoreFault(.tooNew, "\(path ?? "the store") was written by a newer version of this program")
    }

    // MARK: Transactions

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreFault) -> Value {
        try checkFileIsNotReplaced()
        do {
            return try await database.read(body)
        } catch {
            throw StoreFault(error, path: path)
        }
    }

    /// Returns the first damage that SQLite finds in the whole file; nil if there is none.
    package func damage() async throws(StoreFault) -> String? {
        let found = try await read { database in try String.fetchOne(database, sql: "PRAGMA quick_check(1)") }
        return found == "ok" ? nil : found
    }

    /// Blocks the thread of the caller.
    func readBlocking<Value>(_ body: (Database) throws -> Value) throws(StoreFault) -> Value {
        try checkFileIsNotReplaced()
        return try Result { try database.read(body) }.mapError { StoreFault($0, path: path) }.get()
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreFault) -> Value {
        try checkFileIsNotReplaced()
        do {
            return try await database.write(body)
        } catch {
            throw StoreFault(error, path: path)
        }
    }
}

extension Database {
    /// Runs a statement, which is compiled once.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Returns the rows of a query, which is compiled once.
    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns the values of rows, by the bytes of their first column.
    func grouped<Value>(
        _ sql: String,
        _ arguments: StatementArguments = [],
        _ value: (Row) -> Value
    ) throws -> [UTF8Text: [Value]] {
        var groups: [UTF8Text: [Value]] = [:]
        let rows = try Row.fetchCursor(self, sql: sql, arguments: arguments)
        while let row = try rows.next() { groups[UTF8Text(row[0]), default: []].append(value(row)) }
        return groups
    }

    /// Removes all rows but the last ones of a list whose rows are numbered, after one was added.
    func keepLast(_ count: Int, of table: String) throws {
        try run("DELETE FROM \(table) WHERE number <= ?", [lastInsertedRowID - Int64(count)])
    }

    /// Returns the last number of a table, which may be empty: numbers are never reused.
    func lastNumber(of table: String) throws -> Int {
        try rows("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]).first?[0] ?? 0
    }
}
