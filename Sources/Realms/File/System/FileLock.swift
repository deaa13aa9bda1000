// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The right to replace a file, held by one writer at a time, whichever program it belongs to.
///
/// It is a flock(2) on `.NAME.lock` beside the file. That file stays: one that came and went could be locked twice. The
/// system lets go of the lock when its holder dies, however that happens.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Waits for the right to replace a file.
    ///
    /// It blocks the thread it is called on, for `patience` nanoseconds at most.
    init(of name: String, patience: Int) throws(FileFault) {
        let file = try FileOwner.locate(name)
        let (folder, name) = FileSnapshot.split(file.path)
        let path = "\(folder)/.\(name).lock"
        let deadline = DispatchTime.now() + .nanoseconds(patience)
        while true {
            let descriptor = try Self.open(path, for: file.owner)
            switch FileLockWait(descriptor).end(by: deadline) {
            case nil:
                let holder = Self.holder(path)
                throw FileFault("\(file.path) is being changed by \(holder) and stays locked (\(path))")
            case 0?: break
            case let number?:
                close(descriptor)
                throw FileFault("cannot lock \(path)", number)
            }
            // Somebody may have removed the file of the lock by hand while we waited for it.
            if Self.isStillThere(descriptor, path) {
                self.descriptor = descriptor
                note()
                return
            }
            close(descriptor)
        }
    }

    deinit { close(descriptor) }

    private static func open(_ path: String, for owner: FileOwner) throws(FileFault) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
        let descriptor = unsafe Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw .system("cannot lock with \(path)") }
        // What the superuser has made is of use to the file's owner too.
        if geteuid() == 0, owner.user != 0 { _ = fchown(descriptor, owner.user, owner.group) }
        return descriptor
    }

    private static func isStillThere(_ descriptor: Int32, _ path: String) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, let there = FileStamp(of: path) else { return false }
        let mine = FileStamp(status)
        return mine.device == there.device && mine.inode == there.inode
    }

    /// Writes down who holds the lock, for those who wait in vain.
    private func note() {
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
