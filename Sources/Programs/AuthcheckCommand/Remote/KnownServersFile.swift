// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import Glibc
internal import RealmConfiguration

/// The file of known servers: `$XDG_CONFIG_HOME/gatehouse/known_servers`, or `~/.config/gatehouse/known_servers`.
enum KnownServersFile {
    struct Fault: Error {
        let reason: String
    }

    /// The path of the file; nil if neither variable is set to an absolute path.
    static var path: String? {
        let variable = ConfigurationFiles.system.environment
        if let folder = variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return "\(folder)/gatehouse/known_servers"
        }
        if let home = variable("HOME"), home.hasPrefix("/") { return "\(home)/.config/gatehouse/known_servers" }
        return nil
    }

    /// Reads the file, if no other user may have changed it; a missing file has no servers.
    static func read(_ path: String) throws(Fault) -> KnownServers {
        let text: String?
        do throws(UnreadableFile) {
            // A user who can change the file could replace the key of a server.
            let file = try FileContents(path, as: .ownFile, limit: 1 << 20, mayGrow: true)
            text = String(validating: file.bytes, as: UTF8.self)
        } catch {
            if error == .system(SystemError(number: ENOENT)) { return KnownServers("", path: path) }
            if case .tooLong(let limit) = error { throw Fault(reason: "it is longer than \(limit) bytes") }
            throw Fault(reason: error.reason)
        }
        guard let text else { throw Fault(reason: "it is not UTF-8") }
        return KnownServers(text, path: path)
    }

    /// Adds an entry to the file, or replaces the entry of the same server; after an error the file is unchanged.
    ///
    /// The file is read again under a lock, so that the entries of other runs of the command are kept.
    static func remember(_ server: KnownServer, in path: String) throws(Fault) {
        try makeFolder(of: path)
        let lock = try lock(path)
        defer { withExtendedLifetime(lock) {} }
        var servers = try read(path)
        servers.remember(server)
        try write(servers)
    }

    /// Waits for the lock of the file, of `.known_servers.lock` in the same folder.
    private static func lock(_ path: String) throws(Fault) -> FileLock {
        let (folder, name) = FilePath.split(path)
        do throws(FileLock.Fault) {
            // Other runs hold the lock only while they read and write the file.
            return try FileLock("\(folder)/.\(name).lock", owner: nil, timeLimit: 10_000_000_000)
        } catch {
            switch error {
            case .cannotOpen(let error): throw Fault(reason: "its lock file cannot be opened: \(error)")
            case .cannotLock(let error): throw Fault(reason: "\(error)")
            case .isHeld: throw Fault(reason: "another program has locked it")
            }
        }
    }

    /// Replaces the file in one step by one that only the user may read; after an error it is unchanged.
    static func write(_ servers: KnownServers) throws(Fault) {
        let path = servers.path
        try makeFolder(of: path)
        try Result { () throws(FileReplacement.Fault) in
            try FileReplacement.replace(
                path,
                with: Array(servers.text.utf8),
                through: "\(path).\(getpid()).\(UInt64.random(in: 0 ... .max))",
                owner: nil,
                mode: 0o600,
                folderSync: .attempted
            )
        }.mapError { Fault(reason: "\($0.error)") }.get()
    }

    private static func makeFolder(of path: String) throws(Fault) {
        for folder in FilePath.parts(FilePath.split(path).folder) {
            _ = try SystemError.mapping(FilePath.makeFolder(folder, mode: 0o700)) { Fault(reason: "\($0)") }
        }
    }
}
