// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Replaces the contents of a file atomically and durably.
///
/// The new contents are written to a temporary file in the same folder, with the same owner and mode. After they are on
/// the disk, the temporary file is renamed to the old name. If the program is killed, the file has either its complete
/// old contents or its complete new contents. A temporary file that is left over is removed by the next writer.
///
/// The caller must hold the ``FileLock``.
enum FileReplacement {
    static func replace(_ old: FileSnapshot, with bytes: [UInt8]) throws(FileFault) {
        let (folder, name) = FileSnapshot.split(old.path)
        let path = "\(folder)/\(prefix(name))\(getpid())"
        removeLeftovers(of: name, in: folder)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0o600)
        guard descriptor >= 0 else { throw .system("nothing is changed: cannot create \(path)") }
        do throws(FileFault) {
            defer { close(descriptor) }
            try setPermissions(descriptor, path: path, to: old.permissions)
            try write(bytes, to: descriptor, path: path)
            guard fsync(descriptor) == 0 else { throw .system("nothing is changed: cannot write \(path)") }
            guard unsafe rename(path, old.path) == 0 else {
                let number = errno
                // A single file that is mounted into a container cannot be replaced.
                let hint = number == EBUSY ? "; mount its folder rather than the file" : ""
                throw FileFault("nothing is changed: cannot replace \(old.path)\(hint)", number: number)
            }
        } catch {
            unsafe unlink(path)
            throw error
        }
        try sync(folder)
    }

    /// Sets the owner and the mode of the new file.
    ///
    /// This is done before the contents are written, so that users who may not read the old file can never read the new
    /// file.
    private static func setPermissions(
        _ descriptor: Int32,
        path: String,
        to permissions: FilePermissions
    ) throws(FileFault) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .system("nothing is changed: cannot read the status of \(path)")
        }
        if status.st_uid != permissions.user || status.st_gid != permissions.group {
            guard fchown(descriptor, permissions.user, permissions.group) == 0 else {
                throw .system(
                    "nothing is changed: cannot change the owner of \(path) to user \(permissions.user), group \(permissions.group)"
                )
            }
        }
        guard fchmod(descriptor, permissions.mode) == 0 else {
            throw .system("nothing is changed: cannot set the mode of \(path)")
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(FileFault) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress.map { unsafe $0 + done }, $0.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system("nothing is changed: cannot write \(path)") }
            done += count
        }
    }

    /// Syncs the folder, so that the new name is on the disk.
    private static func sync(_ folder: String) throws(FileFault) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("changed, but not yet safe on the disk: cannot open \(folder)") }
        defer { close(descriptor) }
        // Some network file systems cannot sync folders, and need no sync.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw .system("changed, but not yet safe on the disk: cannot sync \(folder)")
        }
    }

    private static func prefix(_ name: String) -> String { ".\(name).new-" }

    /// Removes the temporary files of writers that were killed.
    ///
    /// The caller holds the lock, so no other writer is running.
    private static func removeLeftovers(of name: String, in folder: String) {
        guard let entries = unsafe opendir(folder) else { return }
        defer { unsafe closedir(entries) }
        let start = prefix(name)
        while let entry = unsafe readdir(entries) {
            let found = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard found.hasPrefix(start),
                found.utf8.dropFirst(start.utf8.count).allSatisfy({ (0x30...0x39).contains($0) })
            else { continue }
            unsafe unlink("\(folder)/\(found)")
        }
    }
}
