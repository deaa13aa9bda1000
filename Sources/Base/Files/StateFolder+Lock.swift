// SPDX-License-Identifier: Apache-2.0

internal import LibC

extension StateFolder {
    /// The lock of the folder, which one program holds at a time, until this object is released or the process ends.
    ///
    /// It does not stop programs that do not take the lock.
    package final class Lock: Sendable {
        /// The maximum wait, in hundredths of a second; a program usually holds the lock for a few milliseconds only.
        private static let timeLimit = 1000

        private let file: OpenFile

        /// Waits for the lock, for ten seconds at most; blocks the thread.
        package init(_ folder: StateFolder) throws(Fault) {
            // A file that only the owner may open: every user who may read the folder could lock the folder itself.
            file = try folder.openLock("store")
            try Self.wait(for: .exclusive, of: file, in: folder.path)
        }

        /// Takes the lock of a running server, which would not see the sessions and counters of a second one.
        package init(ofServerIn folder: StateFolder) throws(Fault) {
            file = try folder.openLock("server")
            // A program that asks whether a server runs holds the lock for an instant.
            guard try Self.take(.exclusive, of: file, in: folder.path, timeLimit: 20) else {
                throw Fault(reason: "another server uses \(folder.path)")
            }
        }

        package static func isServerRunning(in folder: String) -> Bool {
            // Without a lock file that this process may open, nothing says that a server runs.
            guard let file = try? OpenFile("\(folder)/.server.lock", .readingWithoutLink) else { return false }
            return (try? file.tryLock(.shared)) == false
        }

        /// Waits until no program holds the lock of a folder, for ten seconds at most; blocks the thread.
        ///
        /// It creates no file, and does not wait if the lock file does not exist, or if this process may not open it.
        package static func waitUntilReleased(in folder: String) throws(Fault) {
            guard let file = try? OpenFile("\(folder)/.store.lock", .readingWithoutLink) else { return }
            try wait(for: .shared, of: file, in: folder)
        }

        private static func wait(for kind: OpenFile.LockKind, of file: OpenFile, in folder: String) throws(Fault) {
            guard try take(kind, of: file, in: folder, timeLimit: timeLimit) else {
                throw Fault(reason: "another program has locked \(folder)")
            }
        }

        /// Returns false if another program holds the lock for the whole time, in hundredths of a second.
        private static func take(
            _ kind: OpenFile.LockKind,
            of file: OpenFile,
            in folder: String,
            timeLimit: Int
        ) throws(Fault) -> Bool {
            for _ in 0..<timeLimit {
                if try SystemError.mapping(file.tryLock(kind), to: { Fault("cannot lock \(folder)", $0) }) {
                    return true
                }
                usleep(10_000)
            }
            return false
        }
    }
}
