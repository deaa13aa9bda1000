// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import LibC
internal import Synchronization

/// The lock that one writer of all programs holds at a time: a flock(2) on a file for it, until this object is released.
///
/// The lock file is never removed: if it were created again, two writers could hold locks on two files of that name.
/// The system releases the lock when the process that holds it ends.
package final class FileLock: Sendable {
    package enum Fault: Error {
        case cannotOpen(SystemError)
        case cannotLock(SystemError)
        /// The program that has the lock, for a message.
        case isHeld(by: String)
    }

    private let file: OpenFile

    /// Waits for the lock; blocks the thread for at most `timeLimit` nanoseconds.
    ///
    /// The owner, if one is given, gets the lock file that root creates, and can then open it.
    package init(_ path: String, owner: (user: uid_t, group: gid_t)?, timeLimit: Int) throws(Fault) {
        let deadline = DispatchTime.now() + .nanoseconds(timeLimit)
        while true {
            let file = try SystemError.mapping(OpenFile(path, .own), to: Fault.cannotOpen)
            // Without it the owner gets an error that says why.
            if let owner, geteuid() == 0, owner.user != 0 { try? file.setOwner(owner.user, group: owner.group) }
            let isLocked = try SystemError.mapping(file.lock(until: deadline), to: Fault.cannotLock)
            guard isLocked else { throw .isHeld(by: Self.holder(path)) }
            // The lock file may have been removed by hand during the wait.
            if let mine = try? file.status(), let there = try? FileStatus(of: path), mine.identity == there.identity {
                self.file = file
                writeProcessID()
                return
            }
        }
    }

    /// Writes the process ID into the lock file, for the message of other writers, which can do without it.
    private func writeProcessID() {
        try? file.truncate(to: 0)
        try? file.write(Array("\(getpid())\n".utf8), at: 0)
    }

    private static func holder(_ path: String) -> String {
        let text = (try? OpenFile(path, .readingWithoutLink).part(ofAtMost: 16, at: 0)) ?? []
        let digits = text.prefix { (0x30...0x39).contains($0) }
        return digits.isEmpty ? "another program" : "process \(String(decoding: digits, as: UTF8.self))"
    }
}

extension OpenFile {
    package enum LockKind: Sendable {
        case shared, exclusive
    }

    /// Takes the lock of the file without waiting; false if another process has it.
    package func tryLock(_ kind: LockKind) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try SystemError.check { flock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) }
            return true
        } catch {
            guard error.number == EWOULDBLOCK else { throw error }
            return false
        }
    }

    /// Waits for the exclusive lock; false after the deadline, and the caller then releases the file.
    ///
    /// Processes that wait in flock(2) get the lock in order; one that polls might never get it if others write all the
    /// time. flock(2) has no timeout, so a separate thread waits. It keeps the file open, and so a lock that it gets
    /// after the deadline ends with it.
    fileprivate func lock(until deadline: DispatchTime) throws(SystemError) -> Bool {
        if try tryLock(.exclusive) { return true }
        let wait = LockWait()
        DispatchQueue(label: "file lock").async { [self] in
            let result = Result { () throws(SystemError) in
                _ = try SystemError.check { flock(descriptor, LOCK_EX) }
            }
            wait.result.withLock { $0 = result }
            wait.ended.signal()
        }
        _ = wait.ended.wait(timeout: deadline)
        guard let result = wait.result.withLock({ $0 }) else { return false }
        try result.get()
        return true
    }
}

private final class LockWait: Sendable {
    let result = Mutex(Result<Void, SystemError>?.none)
    let ended = DispatchSemaphore(value: 0)
}
