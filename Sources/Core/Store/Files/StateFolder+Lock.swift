// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension StateFolder {
    /// The lock of the folder, which one program holds at a time, until this object is released or the process ends.
    ///
    /// It does not stop programs that do not take the lock.
    package final class Lock: Sendable {
        /// The maximum wait, in hundredths of a second; a program usually holds the lock for a few milliseconds only.
        private static let timeLimit = 1000

        private let descriptor: Int32

        /// Waits for the lock, for ten seconds at most; blocks the thread.
        package init(_ folder: StateFolder) throws(Fault) {
            // A file that only the owner may open: every user who may read the folder could lock the folder itself.
            descriptor = try folder.openLock("store")
            try Self.wait(for: LOCK_EX, of: descriptor, in: folder.path)
        }

        /// Takes the lock of a running server, which would not see the sessions and counters of a second one.
        package init(ofServerIn folder: StateFolder) throws(Fault) {
            descriptor = try folder.openLock("server")
            // A program that asks whether a server runs holds the lock for an instant.
            guard try Self.take(LOCK_EX, of: descriptor, in: folder.path, timeLimit: 20) else {
                throw Fault(reason: "another server uses \(folder.path)")
            }
        }

        package static func isServerRunning(in folder: String) -> Bool {
            let descriptor = unsafe open("\(folder)/.server.lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
        }

        deinit { close(descriptor) }

        /// Waits until no program holds the lock of a folder, for ten seconds at most; blocks the thread.
        ///
        /// It creates no file, and does not wait if the lock file does not exist, or if this process may not open it.
        package static func waitUntilReleased(in folder: String) throws(Fault) {
            let descriptor = unsafe open("\(folder)/.store.lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            try wait(for: LOCK_SH, of: descriptor, in: folder)
        }

        private static func wait(for kind: Int32, of descriptor: Int32, in folder: String) throws(Fault) {
            guard try take(kind, of: descriptor, in: folder, timeLimit: timeLimit) else {
                throw Fault(reason: "another program has locked \(folder)")
            }
        }

        /// Returns false if another program holds the lock for the whole time, in hundredths of a second.
        private static func take(
            _ kind: Int32,
            of descriptor: Int32,
            in folder: String,
            timeLimit: Int
        ) throws(Fault) -> Bool {
            for _ in 0..<timeLimit {
                if flock(descriptor, kind | LOCK_NB) == 0 { return true }
                guard errno == EWOULDBLOCK || errno == EINTR else { throw Fault("cannot lock \(folder)") }
                usleep(10_000)
            }
            return false
        }
    }
}
