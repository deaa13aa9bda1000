// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import GRDB
internal import Glibc

/// What a program keeps in its state folder, in one SQLite file: users and lock-outs.
///
/// Any number of programs may have it open at the same time. A change is on the disk when the call that made it returns, and
/// is there as a whole or not at all, whenever whichever program is killed. It is for its owner only.
public final class GatehouseStore: Sendable {
    /// The file's name in the state folder.
    public static let fileName = "gatehouse.sqlite"

    /// The file; nil for a store that is kept in memory.
    public let path: String?
    /// Whether it can only be looked at.
    public let isReadOnly: Bool
    private let file: FileIdentity?
    private let database: any DatabaseWriter

    private init(_ database: any DatabaseWriter, path: String?, isReadOnly: Bool = false) throws {
        self.database = database
        self.path = path
        self.isReadOnly = isReadOnly
        file = path.flatMap(FileIdentity.init)
    }

    /// Which file it is, whatever its name.
    private struct FileIdentity: Equatable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    /// Throws if the file that was opened is no longer the one of that name.
    ///
    /// SQLite goes on with a file that was removed or replaced: what others change in the new one would not be seen, and what
    /// is changed here would be lost.
    private func checkFile() throws(StoreFault) {
        guard let path, FileIdentity(path) != file else { return }
        throw StoreFault(.unavailable, "\(path) was removed or replaced while it was in use; restart what uses it")
    }

    /// Opens the store of a state folder, making what is not there.
    ///
    /// - Parameter folder: The state folder.
    /// - Returns: The store, at this version's layout.
    /// - Throws: ``StoreFault``: `unavailable` when the folder or the file cannot be used, `tooNew`.
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
            // Two programs that find a store empty, or old, would both bring it up to date.
            lock = try StateFolder.Lock(state)
            // SQLite gives its other files the mode of this one.
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
                // What was acknowledged is there after a power cut too.
                try database.execute(sql: "PRAGMA synchronous = FULL")
            }
            return try GatehouseStore(migrated: try DatabasePool(path: path, configuration: configuration), path: path)
        } catch {
            throw StoreFault(error, path)
        }
    }

    /// Opens the store of a state folder as it is; an empty one in memory if there is none.
    ///
    /// For programs that only look: they make no files.
    ///
    /// - Parameter folder: The state folder.
    /// - Returns: The store.
    /// - Throws: ``StoreFault``: `unavailable`, `tooNew`.
    public static func openExisting(folder: String) throws(StoreFault) -> GatehouseStore {
        let path = "\(folder)/\(fileName)"
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            // One that may not be looked at is not taken for one that is not there.
            if errno == ENOENT { return try inMemory() }
            throw StoreFault(
                .unavailable,
                "the store \(path) cannot be looked at: \(unsafe String(cString: strerror(errno)))"
            )
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreFault(.unavailable, "the store cannot be opened: \(path) is no ordinary file")
        }
        do throws(StateFolder.Fault) {
            try StateFolder.checkClosed(folder)
        } catch {
            throw StoreFault(.unavailable, "the state folder cannot be used: \(error.reason)")
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
            // SQLite writes beside a store of this kind even to read it, unless a program has it open.
            throw StoreFault(.unavailable, "the store \(path) can be read by its owner only; run this as its owner")
        } catch {
            throw StoreFault(error, path)
        }
    }

    /// A store that is gone with this object.
    ///
    /// - Returns: An empty store.
    /// - Throws: ``StoreFault`` when SQLite cannot make one.
    public static func inMemory() throws(StoreFault) -> GatehouseStore {
        do {
            return try GatehouseStore(migrated: try DatabaseQueue(), path: nil)
        } catch {
            throw StoreFault(error, nil)
        }
    }

    private convenience init(migrated database: any DatabaseWriter, path: String?) throws {
        try Self.check(database, path: path)
        try Migrations.all.migrate(database)
        try self.init(database, path: path)
    }

    /// Whether this version knows the layout, or one before it.
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
            throw StoreFault(error, path)
        }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreFault) -> Value {
        try checkFile()
        do {
            return try await database.write(body)
        } catch {
            throw StoreFault(error, path)
        }
    }
}
