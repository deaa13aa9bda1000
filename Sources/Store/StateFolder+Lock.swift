// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

extension StateFolder {
    /// The right to do something in the folder that only one program may do at a time; given back when this object goes.
    ///
    /// The system gives it back when the process ends, however it ends. It is no protection from programs that do not ask.
    package final class Lock: Sendable {
        /// How long the others may take, in hundredths of a second: what is done under the lock takes some milliseconds.
        private static let patience = 1000

        private let descriptor: Int32

        /// Waits for the lock; it blocks the thread meanwhile.
        ///
        /// - Parameter folder: The folder.
        /// - Throws: ``Fault`` when the folder cannot be locked, or another program has it locked for ten seconds.
        package init(_ folder: StateFolder) throws(Fault) {
            // A file of its own that nobody else may open: whoever may read the folder could hold a lock on that.
            descriptor = try folder.openLock("store")
            for _ in 0..<Self.patience {
                if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
                guard errno == EWOULDBLOCK || errno == EINTR else { throw Fault("cannot lock \(folder.path)") }
                usleep(10_000)
            }
            throw Fault(reason: "another program has \(folder.path) locked")
        }

        deinit { close(descriptor) }
    }
}
