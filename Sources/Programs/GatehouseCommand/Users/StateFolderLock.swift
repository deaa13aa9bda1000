// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Store

/// A lock for a command that reads a user, and then writes a change that depends on what it has read.
///
/// Other such commands wait until this object is released. All commands of a configuration use the same lock, because it
/// is on the state folder.
final class StateFolderLock: Sendable {
    private let lock: StateFolder.Lock

    /// Waits for the lock.
    ///
    /// - Parameter folder: The state folder; it is created if it is missing.
    /// - Throws: ``CommandError`` when the folder cannot be used, or another command holds the lock for too long.
    init(_ folder: String) async throws(CommandError) {
        // The wait blocks its thread. On a thread of the Swift tasks it would hold up other tasks.
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
