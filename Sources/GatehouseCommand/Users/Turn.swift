// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch
internal import Glibc
internal import Store

/// A command's turn to read something of a user and write what follows from it; the others wait.
///
/// It is a lock on the state folder, which all commands of a configuration have in common, wherever its realms keep their
/// users. The system gives it back when the process ends, however it ends.
final class Turn: Sendable {
    private let descriptor: Int32

    /// Waits for the turn.
    ///
    /// - Parameter folder: The state folder; it is made if it is not there.
    /// - Throws: ``ActionFault`` when the folder cannot be used.
    init(_ folder: String) async throws(ActionFault) {
        do throws(StateFolder.Fault) {
            descriptor = try StateFolder(folder).open()
        } catch {
            throw ActionFault(.unavailable, "the state folder cannot be used: \(error.reason)")
        }
        let descriptor = descriptor
        // Waiting blocks, so it does not belong on the threads that tasks share.
        let number: Int32 = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                while flock(descriptor, LOCK_EX) != 0 {
                    if errno != EINTR { return continuation.resume(returning: errno) }
                }
                continuation.resume(returning: 0)
            }
        }
        guard number == 0 else {
            throw ActionFault(.unavailable, "\(folder) cannot be locked: \(unsafe String(cString: strerror(number)))")
        }
    }

    deinit { close(descriptor) }
}
