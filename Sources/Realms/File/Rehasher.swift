// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmKit
internal import Synchronization

/// Replaces weak hashes after logins, one at a time.
///
/// A login never waits for it: while it is busy, other hashes stay until their user's next login. A failure is logged,
/// each reason once in a row.
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

    /// Returns whether a hash is weaker than the policy, and the file can be replaced.
    func shouldReplace(_ hash: any PasswordHash) -> Bool {
        passwords.policy.needsRehash(of: hash) && files.state.withLock { $0.version.isReplaceable }
    }

    /// Starts to replace a hash, unless it is busy.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - password: The password, which was found right.
    ///   - stored: The hash that matched the password: if the file has another one now, that one stays.
    func begin(_ user: Username, password: Secret, replacing stored: String) {
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
                self?.end(fault)
            }
        }
    }

    /// Waits until it is idle.
    func rest() async {
        await state.withLock { $0.task }?.value
    }

    private func end(_ fault: String?) {
        let isNews = state.withLock { state in
            defer { (state.isBusy, state.lastFault) = (false, fault) }
            return state.lastFault != fault
        }
        guard let fault, isNews else { return }
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
            try await files.make(.change(user, changes), isRehash: true)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
