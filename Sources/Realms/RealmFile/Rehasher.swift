// SPDX-License-Identifier: Apache-2.0

internal import Passwords
internal import RealmKit
internal import Synchronization

/// Replaces weak password hashes after logins, one at a time.
///
/// Logins do not wait for a replacement. If a user signs in while another hash is being replaced, the user's own hash
/// is replaced at a later login. A failure is logged only if its reason differs from the reason of the previous
/// failure.
final class Rehasher: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isBusy = false
        var lastFault: String?
    }

    private let files: UserFiles
    private let passwords: PasswordService
    private let log: RealmLog?
    private let state = Mutex(State())

    init(_ files: UserFiles, passwords: PasswordService, log: RealmLog?) {
        self.files = files
        self.passwords = passwords
        self.log = log
    }

    deinit { state.withLock { $0.task?.cancel() } }

    /// Returns whether a hash is weaker than the policy, and can be replaced by one of the whole password.
    func shouldReplace(_ hash: any PasswordHash, password: Secret) -> Bool {
        passwords.policy.needsRehash(of: hash) && passwords.policy.covers(password)
            && files.state.withLock { $0.version.isReplaceable }
    }

    /// Starts the replacement of a hash; does nothing while another hash is being replaced.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - password: The user's correct password.
    ///   - stored: The hash that the password matched. If the file now contains another hash, that hash is not
    ///     replaced.
    func start(_ user: Username, password: Secret, replacing stored: String) {
        state.withLock { state in
            guard !state.isBusy else { return }
            state.isBusy = true
            state.task = Task { [files, passwords, weak self] in
                let fault = await Self.rehash(
                    user,
                    password: password,
                    replacing: stored,
                    files: files,
                    passwords: passwords
                )
                self?.finish(fault)
            }
        }
    }

    /// Waits until no hash is being replaced.
    func waitUntilIdle() async {
        await state.withLock { $0.task }?.value
    }

    private func finish(_ fault: String?) {
        let isNew = state.withLock { state in
            defer { (state.isBusy, state.lastFault) = (false, fault) }
            return state.lastFault != fault
        }
        guard let fault, isNew else { return }
        log?("a weak password hash could not be replaced: \(fault)", .notice)
    }

    private static func rehash(
        _ user: Username,
        password: Secret,
        replacing stored: String,
        files: UserFiles,
        passwords: PasswordService
    ) async -> String? {
        do {
            var changes = UserChanges()
            changes.hash = try await passwords.hash(password)
            changes.replacing = stored
            try await files.apply(.change(user, changes), isRehash: true)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
