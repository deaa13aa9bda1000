// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The folder of a program's own files, to which only the owner may write.
package struct StateFolder {
    package struct Fault: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }

        /// Appends the system's reason to what has failed, and what to do about `folder`.
        init(_ what: String, in folder: String = "") {
            let number = errno
            reason = "\(what): \(unsafe String(cString: strerror(number)))\(FileOwner.advice(number, folder))"
        }
    }

    package let path: String

    /// Opens the folder; creates missing folders of the path.
    package init(_ path: String) throws(Fault) {
        self.path = path
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/\(part)"
            guard unsafe mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            throw Fault("cannot create \(made)")
        }
        try Self.checkIsFolder(path)
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else { throw Fault("cannot use \(path)", in: path) }
        let owner = try Self.checkOnlyOwnerCanWrite(path)
        guard owner == geteuid() else { throw Fault(reason: FileOwner.fault(path, owner)) }
    }

    static func checkIsFolder(_ path: String) throws(Fault) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw Fault("cannot access \(path)") }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw Fault(reason: "\(path) is not a folder") }
    }

    /// Throws if other users may write to a folder, and could replace the key and the users; returns the owner.
    @discardableResult
    static func checkOnlyOwnerCanWrite(_ path: String) throws(Fault) -> uid_t {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw Fault("cannot access \(path)") }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw Fault(reason: "\(path): other users may write to it; chmod 700 \(path)")
        }
        return status.st_uid
    }

    /// Returns why a server of this user refuses an existing folder: it belongs to another user.
    package static func ownerFault(of path: String) -> String? { FileOwner.fault(of: path) }

    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file atomically, with its mode from the start, so that other users can never open a key.
    package func write(_ bytes: [UInt8], to name: String, mode: UInt32) throws(Fault) {
        let temporary = path(".\(name).\(getpid())")
        unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Fault("cannot create \(temporary)") }
        do throws(Fault) {
            defer { close(descriptor) }
            guard fchmod(descriptor, mode) == 0 else { throw Fault("cannot set the mode of \(temporary)") }
            try writeAll(bytes, to: descriptor, path: temporary)
            guard fsync(descriptor) == 0 else { throw Fault("cannot write \(temporary)") }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        guard unsafe rename(temporary, path(name)) == 0 else {
            let fault = Fault("cannot rename \(temporary)")
            unsafe unlink(temporary)
            throw fault
        }
    }

    /// Creates an empty file; if it exists, removes the permissions that the mode does not contain, as from a backup.
    ///
    /// An existing file is not opened: closing it would release the locks that SQLite holds on it in this process.
    package func createFile(_ name: String, mode: UInt32) throws(Fault) {
        let path = path(name)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor < 0 else {
            close(descriptor)
            return
        }
        guard errno == EEXIST else { throw Fault("cannot create \(path)") }
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw Fault("cannot access \(path)") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Fault(reason: "\(path) is not a regular file") }
        guard status.st_uid == geteuid() else { throw Fault(reason: FileOwner.fault(path, status.st_uid)) }
        guard status.st_mode & 0o777 & ~mode != 0 else { return }
        guard unsafe chmod(path, mode) == 0 else { throw Fault("cannot set the mode of \(path)") }
    }

    /// Opens a lock file that only the owner may open; creates it if it is missing.
    ///
    /// It is never removed: otherwise two programs could hold locks on two files of that name.
    func openLock(_ name: String) throws(Fault) -> Int32 {
        let path = path(".\(name).lock")
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Fault("cannot open \(path)") }
        return descriptor
    }

    private func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(Fault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Fault("cannot write \(path)") }
            rest = rest.dropFirst(written)
        }
    }
}
