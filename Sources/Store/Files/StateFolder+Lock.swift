// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

extension StateFolder {
    /// The lock of the folder, held by one program at a time and released with this object.
    ///
    /// The system releases it when the process ends. It protects only from programs that take the lock.
    package final class Lock: Sendable {
        /// The longest wait, in hundredths of a second; the work under the lock takes some milliseconds.
        private static let timeLimit = 1000

        private let descriptor: Int32

        /// Waits for the lock; it blocks the thread.
        ///
        /// - Parameter folder: The folder.
        /// - Throws: ``Fault`` if the folder cannot be locked, or another program holds the lock for ten seconds.
        package init(_ folder: StateFolder) throws(Fault) {
            // A separate file that only the owner may open: a lock on the folder could be held by every user who may
            // read it.
            descriptor = try folder.openLock("store")
            for _ in 0..<Self.timeLimit {
                if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
                guard errno == EWOULDBLOCK || errno == EINTR else { throw Fault("cannot lock \(folder.path)") }
                usleep(10_000)
            }
            throw Fault(reason: "another program has \(folder.path) locked")
        }

        deinit { close(descriptor) }
    }
}
