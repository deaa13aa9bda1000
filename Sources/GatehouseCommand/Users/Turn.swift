// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch
internal import Store

/// A command's turn to read something of a user and write what follows from it; other commands wait until this object goes.
///
/// It is a lock on the state folder, which all commands of a configuration have in common, wherever its realms keep their
/// users.
final class Turn: Sendable {
    private let lock: StateFolder.Lock

    /// Waits for the turn.
    ///
    /// - Parameter folder: The state folder; it is made if it is not there.
    /// - Throws: ``ActionFault`` when the folder cannot be used, or another command does not get done.
    init(_ folder: String) async throws(ActionFault) {
        // Waiting blocks, so it does not belong on the threads that tasks share.
        let locked: Result<StateFolder.Lock, StateFolder.Fault> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                do throws(StateFolder.Fault) {
                    continuation.resume(returning: .success(try StateFolder.Lock(try StateFolder(folder))))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        switch locked {
        case .success(let lock): self.lock = lock
        case .failure(let fault):
            throw ActionFault(.unavailable, "the state folder cannot be used: \(fault.reason)")
        }
    }
}
