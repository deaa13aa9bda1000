// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import Glibc
internal import RealmConfiguration

/// The file: `$XDG_CONFIG_HOME/gatehouse/known_servers`, or `~/.config/gatehouse/known_servers`.
extension KnownServers {
    /// The path of the file; nil if neither variable is set to an absolute path.
    static var standardPath: String? {
        let variable = ConfigurationFiles.system.environment
        if let folder = variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return "\(folder)/gatehouse/known_servers"
        }
        if let home = variable("HOME"), home.hasPrefix("/") { return "\(home)/.config/gatehouse/known_servers" }
        return nil
    }

    /// Reads the file, if no other user may have changed it; a missing file has no servers.
    init(file path: String) throws(Fault) {
        let bytes: [UInt8]
        do throws(UnreadableFile) {
            // A user who can change the file could replace the key of a server.
            bytes = try FileContents(path, as: .ownFile, limit: 1 << 20, mayGrow: true).bytes
        } catch {
            guard error == .system(SystemError(number: ENOENT)) else { throw Fault(reason: error.reason) }
            bytes = []
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Fault(reason: "it is not UTF-8") }
        self.init(text, path: path)
    }

    /// Adds an entry to the file, or replaces the entry of the same server; after an error the file is unchanged.
    ///
    /// The file is read again under a lock, so that the entries of other runs of the command are kept.
    static func remember(_ server: KnownServer, in path: String) throws(Fault) {
        let (folder, name) = FilePath.split(path)
        for folder in FilePath.parts(folder) {
            _ = try SystemError.mapping(FilePath.makeFolder(folder, mode: 0o700)) { Fault(reason: "\($0)") }
        }
        // Other runs hold the lock only while they read and write the file.
        let lock = try Result { () throws(FileLock.Fault) in
            try FileLock("\(folder)/.\(name).lock", owner: nil, timeLimit: 10_000_000_000)
        }.mapError(Fault.init).get()
        defer { withExtendedLifetime(lock) {} }
        var servers = try KnownServers(file: path)
        servers.remember(server)
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
}

extension KnownServers.Fault {
    fileprivate init(_ fault: FileLock.Fault) {
        switch fault {
        case .cannotOpen(let error): reason = "its lock file cannot be opened: \(error)"
        case .cannotLock(let error): reason = "\(error)"
        case .isHeld: reason = "another program has locked it"
        }
    }
}
