// SPDX-License-Identifier: Apache-2.0

package import LibC

/// The folder of a program's own files, to which only the owner may write.
package struct StateFolder {
    package struct Fault: Error, CustomStringConvertible {
        package let reason: String
        package var description: String { reason }

        package init(reason: String) { self.reason = reason }

        /// Appends the system's reason to what has failed, and what to do about `folder`.
        init(_ what: String, _ error: SystemError, in folder: String = "") {
            reason = "\(what): \(error)\(FileOwner.advice(error.number, folder))"
        }
    }

    package let path: String

    /// Opens the folder; creates missing folders of the path.
    package init(_ path: String) throws(Fault) {
        self.path = path
        for folder in FilePath.parts(path) {
            _ = try SystemError.mapping(FilePath.makeFolder(folder, mode: 0o700)) {
                Fault("cannot create \(folder)", $0)
            }
        }
        try Self.checkIsFolder(path)
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else { throw Fault("cannot use \(path)", .last, in: path) }
        let owner = try Self.checkOnlyOwnerCanWrite(path)
        guard owner == geteuid() else { throw Fault(reason: FileOwner.fault(path, owner)) }
    }

    package static func checkIsFolder(_ path: String) throws(Fault) {
        guard try status(of: path).isFolder else { throw Fault(reason: "\(path) is not a folder") }
    }

    /// Throws if other users may write to a folder, and could replace the key and the users; returns the owner.
    @discardableResult
    package static func checkOnlyOwnerCanWrite(_ path: String) throws(Fault) -> UInt32 {
        let status = try status(of: path)
        guard status.mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw Fault(reason: "\(path): other users may write to it; chmod 700 \(path)")
        }
        return status.owner
    }

    private static func status(of path: String) throws(Fault) -> FileStatus {
        try SystemError.mapping(FileStatus(of: path)) { Fault("cannot access \(path)", $0) }
    }

    /// Returns why a server of this user refuses an existing folder: it belongs to another user.
    package static func ownerFault(of path: String) -> String? { FileOwner.fault(of: path) }

    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file atomically, with its mode from the start, so that other users can never open a key.
    package func write(_ bytes: [UInt8], to name: String, mode: mode_t) throws(Fault) {
        let temporary = path(".\(name).\(getpid())")
        unsafe unlink(temporary)
        do throws(FileReplacement.Fault) {
            try FileReplacement.replace(
                path(name),
                with: bytes,
                through: temporary,
                owner: nil,
                mode: mode,
                folderSync: .none
            )
        } catch {
            throw Fault("cannot \(error.step.rawValue) \(temporary)", error.error)
        }
    }

    /// Creates an empty file; if it exists, removes the permissions that the mode does not contain, as from a backup.
    ///
    /// An existing file is not opened: closing it would release the locks that SQLite holds on it in this process.
    package func createFile(_ name: String, mode: mode_t) throws(Fault) {
        let path = path(name)
        let created = Result { () throws(SystemError) in try OpenFile(path, .new(mode)) }
        guard case .failure(let error) = created else { return }
        guard error.number == EEXIST else { throw Fault("cannot create \(path)", error) }
        let status = try SystemError.mapping(FileStatus(ofLink: path)) { Fault("cannot access \(path)", $0) }
        guard status.isRegular else { throw Fault(reason: "\(path) is not a regular file") }
        guard status.owner == geteuid() else { throw Fault(reason: FileOwner.fault(path, status.owner)) }
        guard status.mode & 0o777 & ~mode != 0 else { return }
        guard unsafe chmod(path, mode) == 0 else { throw Fault("cannot set the mode of \(path)", .last) }
    }

    /// Opens a lock file that only the owner may open; creates it if it is missing.
    ///
    /// It is never removed: otherwise two programs could hold locks on two files of that name.
    func openLock(_ name: String) throws(Fault) -> OpenFile {
        let path = path(".\(name).lock")
        return try SystemError.mapping(OpenFile(path, .own)) { Fault("cannot open \(path)", $0) }
    }
}
