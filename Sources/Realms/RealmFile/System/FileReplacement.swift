// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// Replaces the contents of a file atomically and durably; the caller must hold the ``FileLock``.
///
/// The new contents are written to a temporary file in the same folder, with the same owner and mode, which is renamed
/// when they are on the disk. If the program is killed, the file has either its complete old or its complete new
/// contents. The next writer removes a temporary file that is left over.
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

    /// Sets owner and mode before the contents are written: who may not read the old file can never read the new one.
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

    /// Removes the temporary files of writers that were killed; the caller holds the lock, so no other writer runs.
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

/// The lock for replacing a file, which one writer of all programs holds at a time: a flock(2) on `.NAME.lock`.
///
/// The lock file is never removed: if it were created again, two writers could hold locks on two files of that name.
/// The system releases the lock when the process that holds it ends.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Waits for the lock; blocks the calling thread for at most `timeLimit` nanoseconds.
    init(of name: String, timeLimit: Int) throws(FileFault) {
        let file = try FilePermissions.locate(name)
        let (folder, name) = FileSnapshot.split(file.path)
        let path = "\(folder)/.\(name).lock"
        let deadline = DispatchTime.now() + .nanoseconds(timeLimit)
        while true {
            let descriptor = try Self.open(path, for: file.permissions)
            switch FileLockWait(descriptor).wait(until: deadline) {
            case nil:
                let holder = Self.holder(path)
                throw FileFault("\(file.path) is locked by \(holder), which is changing it (\(path))")
            case 0?: break
            case let number?:
                close(descriptor)
                throw FileFault("cannot lock \(path)", number: number)
            }
            // The lock file may have been removed by hand during the wait.
            if Self.isStillThere(descriptor, path: path) {
                self.descriptor = descriptor
                writeProcessID()
                return
            }
            close(descriptor)
        }
    }

    deinit { close(descriptor) }

    private static func open(_ path: String, for permissions: FilePermissions) throws(FileFault) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
        let descriptor = unsafe Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw .system("cannot open the lock file \(path)") }
        // The owner of the file must be able to open a lock file that root has created.
        if geteuid() == 0, permissions.user != 0 { _ = fchown(descriptor, permissions.user, permissions.group) }
        return descriptor
    }

    private static func isStillThere(_ descriptor: Int32, path: String) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, let there = FileStamp(of: path) else { return false }
        let mine = FileStamp(status)
        return mine.device == there.device && mine.inode == there.inode
    }

    /// Writes the process ID into the lock file, for the error message of other writers.
    private func writeProcessID() {
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0 else { return }
        _ = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    private static func holder(_ path: String) -> String {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return "another program" }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 16)
        let count = unsafe text.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        let digits = text.prefix(max(0, count)).prefix { (0x30...0x39).contains($0) }
        return digits.isEmpty ? "another program" : "process \(String(decoding: digits, as: UTF8.self))"
    }
}

/// A wait for a flock(2) with a deadline.
///
/// Processes that wait in flock(2) get the lock in order; one that polls might never get it if others write all the
/// time. flock(2) has no timeout, so a separate thread waits, and releases a lock that it gets after the deadline.
final class FileLockWait: Sendable {
    private struct State {
        /// The error number of flock(2), 0 for success; nil until it returns.
        var result: Int32?
        var hasTimedOut = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Returns 0 or the error number; nil after the deadline, and the waiting thread then closes the descriptor.
    func wait(until deadline: DispatchTime) -> Int32? {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return 0 }
        let number = errno
        guard number == EWOULDBLOCK || number == EINTR else { return number }
        DispatchQueue(label: "file realm: lock").async { [self] in waitForLock() }
        guard ended.wait(timeout: deadline) == .timedOut else { return state.withLock { $0.result } }
        return state.withLock { state in
            state.hasTimedOut = state.result == nil
            return state.result
        }
    }

    private func waitForLock() {
        var number: Int32 = 0
        while flock(descriptor, LOCK_EX) != 0 {
            number = errno
            guard number == EINTR else { break }
            number = 0
        }
        state.withLock { state in
            state.result = number
            if state.hasTimedOut { close(descriptor) }
        }
        ended.signal()
    }
}
