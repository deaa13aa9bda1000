// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

/// Replaces the contents of a file, completely and durably.
///
/// The new contents are written to a file beside the old one, with the same owner and mode, and are on the disk before
/// that file is renamed to the old name. A program that dies meanwhile leaves the old file or the new one, and at most
/// a temporary file, which the next writer removes. Only the holder of the ``FileLock`` may call this.
enum FileReplacement {
    static func replace(_ old: FileSnapshot, with bytes: [UInt8]) throws(FileFault) {
        let (folder, name) = FileSnapshot.split(old.path)
        let path = "\(folder)/\(prefix(name))\(getpid())"
        removeLeftovers(of: name, in: folder)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0o600)
        guard descriptor >= 0 else { throw .system("nothing is changed: cannot create \(path)") }
        do throws(FileFault) {
            defer { close(descriptor) }
            try give(descriptor, path: path, to: old.owner)
            try write(bytes, to: descriptor, path: path)
            guard fsync(descriptor) == 0 else { throw .system("nothing is changed: cannot write \(path)") }
            guard unsafe rename(path, old.path) == 0 else {
                let number = errno
                // A single file mounted into a container cannot be replaced.
                let hint = number == EBUSY ? "; mount its folder rather than the file" : ""
                throw FileFault("nothing is changed: cannot replace \(old.path)\(hint)", number: number)
            }
        } catch {
            unsafe unlink(path)
            throw error
        }
        try sync(folder)
    }

    /// Owner and mode are set before the contents are written, so that no user who may not read the old file can read
    /// the new one.
    private static func give(_ descriptor: Int32, path: String, to owner: FileOwner) throws(FileFault) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system("nothing is changed: \(path)") }
        if status.st_uid != owner.user || status.st_gid != owner.group {
            guard fchown(descriptor, owner.user, owner.group) == 0 else {
                throw .system("nothing is changed: cannot give \(path) to user \(owner.user), group \(owner.group)")
            }
        }
        guard fchmod(descriptor, owner.mode) == 0 else {
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

    /// The new name is durable once the folder is on the disk.
    private static func sync(_ folder: String) throws(FileFault) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("changed, but not yet safe on the disk: \(folder)") }
        defer { close(descriptor) }
        // Some network file systems cannot sync folders, and need no sync.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw .system("changed, but not yet safe on the disk: \(folder)")
        }
    }

    private static func prefix(_ name: String) -> String { ".\(name).new-" }

    /// The holder of the lock is the only running writer, so every temporary file is of a dead one.
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
