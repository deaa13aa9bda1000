// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch
internal import Store

/// A lock for a command that reads a user and writes a change that depends on it.
///
/// Other commands wait until this object is released. The lock is on the state folder: all commands of a configuration
/// share it, wherever its realms keep their users.
final class StateFolderLock: Sendable {
    private let lock: StateFolder.Lock

    /// Waits for the lock.
    ///
    /// - Parameter folder: The state folder; it is created if it is missing.
    /// - Throws: ``CommandError`` when the folder cannot be used, or another command holds the lock for too long.
    init(_ folder: String) async throws(CommandError) {
        // Waiting blocks, so it must not run on the threads that tasks share.
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
            throw CommandError(.unavailable, "the state folder cannot be used: \(fault.reason)")
        }
    }
}
