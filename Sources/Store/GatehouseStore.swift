// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import GRDB
internal import Glibc

/// The store in the state folder of a program, one SQLite file with users, lock-outs and sessions.
///
/// Several programs may have it open at the same time. A change is on the disk when its call returns, and is complete
/// or absent if a program is killed. Only its owner may use it.
public final class GatehouseStore: Sendable {
    /// The file's name in the state folder.
    public static let fileName = "gatehouse.sqlite"

    /// The file; nil for a store in memory.
    public let path: String?
    /// True if it is read-only.
    public let isReadOnly: Bool
    /// The file for ends of sessions that could not be written to the database; nil for a store in memory.
    let endedSessions: EndedSessions?
    private let file: FileIdentity?
    private let database: any DatabaseWriter

    private init(_ database: any DatabaseWriter, path: String?, isReadOnly: Bool = false) throws {
        self.database = database
        self.path = path
        self.isReadOnly = isReadOnly
        file = path.flatMap(FileIdentity.init)
        endedSessions = path.map { EndedSessions("\($0.dropLast(Self.fileName.utf8.count))\(EndedSessions.fileName)") }
    }

    /// The identity of a file, independent of its name.
    private struct FileIdentity: Equatable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    /// Throws if another file has replaced the one that was opened.
    ///
    /// SQLite continues with a file that was removed or replaced: changes of other programs in the new file would not
    /// be seen, and changes here would be lost.
    private func checkFile() throws(StoreFault) {
        guard let path, FileIdentity(path) != file else { return }
        throw StoreFault(
            .unavailable,
            "\(path) was removed or replaced while it was in use; restart the programs that use it"
        )
    }

    /// Opens the store of a state folder; creates folder and file if they are missing.
    ///
    /// - Parameter folder: The state folder.
    /// - Returns: The store, in this version's layout.
    /// - Throws: ``StoreFault``: `unavailable` if the folder or the file cannot be used, `tooNew`.
    public static func open(folder: String) throws(StoreFault) -> GatehouseStore {
        let state: StateFolder
        do throws(StateFolder.Fault) {
            state = try StateFolder(folder)
        } catch {
            throw StoreFault(.unavailable, "the state folder cannot be used: \(error.reason)")
        }
        let path = state.path(fileName)
        let lock: StateFolder.Lock
        do throws(StateFolder.Fault) {
            // Without a lock two programs could both migrate an empty or old store.
            lock = try StateFolder.Lock(state)
            // SQLite creates its other files with the mode of the database file.
            try state.makeFile(fileName, mode: 0o600)
        } catch {
            throw StoreFault(.unavailable, "the store cannot be opened: \(error.reason)")
        }
        defer { withExtendedLifetime(lock) {} }
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            configuration.foreignKeysEnabled = true
            configuration.label = "gatehouse.store"
            configuration.prepareDatabase { database in
                // A change that was confirmed survives a power cut.
                try database.execute(sql: "PRAGMA synchronous = FULL")
            }
            return try GatehouseStore(migrated: try DatabasePool(path: path, configuration: configuration), path: path)
        } catch {
            throw StoreFault(error, path: path)
        }
    }

    /// Opens an existing store for reading; if there is none, creates an empty store in memory.
    ///
    /// For programs that only read: it creates no files.
    ///
    /// - Parameter folder: The state folder.
    /// - Returns: The store.
    /// - Throws: ``StoreFault``: `unavailable`, `tooNew`.
    public static func openExisting(folder: String) throws(StoreFault) -> GatehouseStore {
        let path = "\(folder)/\(fileName)"
        var status = stat()
        if unsafe stat(folder, &status) == 0 {
            do throws(StateFolder.Fault) {
                try StateFolder.checkIsFolder(folder)
                try StateFolder.checkClosed(folder)
            } catch {
                throw StoreFault(.unavailable, "the state folder cannot be used: \(error.reason)")
            }
        }
        guard unsafe lstat(path, &status) == 0 else {
            // An inaccessible file must not be treated as a missing one.
            if errno == ENOENT { return try inMemory() }
            throw StoreFault(
                .unavailable,
                "the store \(path) cannot be accessed: \(unsafe String(cString: strerror(errno)))"
            )
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreFault(.unavailable, "the store cannot be opened: \(path) is not a regular file")
        }
        guard unsafe access(path, R_OK) == 0 else {
            throw StoreFault(.unavailable, "the store \(path) cannot be read")
        }
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(10)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try Self.check(queue, path: path)
            guard try queue.read(Migrations.all.hasCompletedMigrations) else {
                throw StoreFault(
                    .unavailable,
                    "the store \(path) is of an older version; gatehouse serve and the commands that change users bring it up to date"
                )
            }
            return try GatehouseStore(queue, path: path, isReadOnly: true)
        } catch let error as DatabaseError where [.SQLITE_READONLY, .SQLITE_CANTOPEN].contains(error.resultCode) {
            // SQLite writes files in the same folder even for reading, unless a program has the store open.
            throw StoreFault(.unavailable, "the store \(path) can be read by its owner only; run this as its owner")
        } catch {
            throw StoreFault(error, path: path)
        }
    }

    /// Creates a store in memory, which ends with this object.
    ///
    /// - Returns: An empty store.
    /// - Throws: ``StoreFault`` if SQLite cannot create one.
    public static func inMemory() throws(StoreFault) -> GatehouseStore {
        do {
            return try GatehouseStore(migrated: try DatabaseQueue(), path: nil)
        } catch {
            throw StoreFault(error, path: nil)
        }
    }

    private convenience init(migrated database: any DatabaseWriter, path: String?) throws {
        try Self.check(database, path: path)
        try Migrations.all.migrate(database)
        try self.init(database, path: path)
    }

    /// Checks that the layout is not newer than this version.
    private static func check(_ database: any DatabaseReader, path: String?) throws {
        guard try database.read(Migrations.all.hasBeenSuperseded) else { return }
        throw StoreFault(.tooNew, "\(path ?? "the store") was written by a newer version of this program")
    }

    // MARK: For the tables

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreFault) -> Value {
        try checkFile()
        do {
            return try await database.read(body)
        } catch {
            throw StoreFault(error, path: path)
        }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreFault) -> Value {
        try checkFile()
        do {
            return try await database.write(body)
        } catch {
            throw StoreFault(error, path: path)
        }
    }
}
