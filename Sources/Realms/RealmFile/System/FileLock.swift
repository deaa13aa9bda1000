// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// The lock for replacing a file.
///
/// At most one writer of all programs holds the lock at a time.
///
/// It is a flock(2) on `.NAME.lock` in the same folder. The lock file is never removed: if it were created again, two
/// writers could hold locks on two files of that name. The system releases the lock when the process that holds it
/// ends.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Waits for the lock.
    ///
    /// It blocks the calling thread for at most `timeLimit` nanoseconds.
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
