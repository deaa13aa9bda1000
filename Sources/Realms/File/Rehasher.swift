// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmKit
internal import Synchronization

/// Makes weak hashes anew after logins, one at a time.
///
/// A login never waits for it: while it is busy others go without, and have their turn at their next login. What it
/// cannot do is logged, each reason once in a row.
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

    init(_ files: UserFiles, _ passwords: PasswordService, _ log: RealmLog?) {
        self.files = files
        self.passwords = passwords
        self.log = log
    }

    deinit { state.withLock { $0.task?.cancel() } }

    /// Whether a hash should be made anew, and can be.
    func wants(_ hash: any PasswordHash) -> Bool {
        passwords.policy.wantsRehash(of: hash) && files.state.withLock { $0.version.isReplaceable }
    }

    /// Begins, unless it is busy.
    ///
    /// - Parameters:
    ///   - user: Whose hash.
    ///   - password: The password, which is the right one.
    ///   - stored: The hash it was held against: where there is another by now, that one stays.
    func begin(_ user: Username, _ password: Secret, replacing stored: String) {
        state.withLock { state in
            guard !state.isBusy else { return }
            state.isBusy = true
            state.task = Task { [files, passwords, weak self] in
                let fault = await Self.rehash(user, password, stored, files, passwords)
                self?.end(fault)
            }
        }
    }

    /// Waits until it has nothing to do.
    func rest() async {
        await state.withLock { $0.task }?.value
    }

    private func end(_ fault: String?) {
        let isNews = state.withLock { state in
            defer { (state.isBusy, state.lastFault) = (false, fault) }
            return state.lastFault != fault
        }
        guard let fault, isNews else { return }
        log?("a password could not be hashed anew: \(fault)", .notice)
    }

    private static func rehash(
        _ user: Username,
        _ password: Secret,
        _ stored: String,
        _ files: UserFiles,
        _ passwords: PasswordService
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
