// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

extension StateFolder {
    /// The lock of the folder.
    ///
    /// Only one program holds it at a time.
    ///
    /// It is released with this object, or by the system when the process ends. It does not stop programs that do not
    /// take the lock.
    package final class Lock: Sendable {
        /// The maximum wait, in hundredths of a second.
        ///
        /// The work under the lock takes a few milliseconds.
        private static let timeLimit = 1000

        private let descriptor: Int32

        /// Waits for the lock.
        ///
        /// It blocks the thread.
        ///
        /// - Parameter folder: The folder.
        /// - Throws: ``Fault`` if the folder cannot be locked, or another program holds the lock for ten seconds.
        package init(_ folder: StateFolder) throws(Fault) {
            // The lock is a separate file that only the owner may open. A lock on the folder could be taken by every
            // user who may read the folder.
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
