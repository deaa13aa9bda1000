// SPDX-License-Identifier: Apache-2.0

internal import Passwords
package import RealmKit
internal import Synchronization

/// Checks the names and passwords of a ``FileRealm``'s users.
///
/// Every login computes one check for each cost among the hashes in the file, even if the user is unknown or disabled
/// or has no usable hash. An empty password is rejected after the same work.
///
/// If the stack accepts the login, a hash that is weaker than the policy is replaced in the background. The options are
/// those of `FirstPass`.
package struct FileLoginModule: PasswordLoginModule {
    package static let moduleNames = ["FileLoginModule", "com.sun.enterprise.security.auth.login.FileLoginModule"]

    package let firstPass: FirstPass
    private let realm: FileRealm
    private let passwords: PasswordService
    private let rehashPassword: SharedState.Key
    private let rehashStored: SharedState.Key

    package init(realm: FileRealm, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.realm = realm
        guard let passwords = realm.passwords else {
            throw BadModule("this program has no service that checks passwords")
        }
        self.passwords = passwords
        rehashPassword = SharedState.Key("gatehouse.file.\(options.realmName).password")
        rehashStored = SharedState.Key("gatehouse.file.\(options.realmName).stored")
    }

    /// Succeeds if the password matches the hash in the file.
    package func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        await realm.files.reload()
        let table = realm.files.table
        let user = table[attempt.username]
        let isCorrect: Bool
        do throws(LoginFault) {
            isCorrect = try await passwords.check(
                password,
                against: user?.usablePassword,
                hashPerCost: table.hashPerCost,
                for: attempt
            )
        } catch {
            // The login fails as with a wrong password: an error would reveal that the hash's format rejects it.
            guard error.kind == .unusableCredential else { throw error }
            return .failed(.unusableCredential)
        }
        guard let user else { return .failed(.unknownUser) }
        guard let stored = user.usablePassword else { return .failed(.disabled) }
        guard isCorrect, !password.isEmpty else { return .failed(.wrongCredentials) }
        if let rehasher = realm.rehasher, rehasher.shouldReplace(stored.hash, password: password) {
            attempt.updateShared { shared in
                shared[rehashPassword] = .secret(password)
                shared[rehashStored] = .text(stored.text)
            }
        } else if stored.hash.ignoresPart(of: password) {
            // Only the beginning of the password was checked, and no hash of the whole password can replace the hash.
            return .failed(.unusableCredential)
        }
        return attempt.commit(as: user.name, groups: user.groups, attributes: user.attributes)
    }

    /// Starts the replacement of a weak hash; `done` if this module succeeded.
    package func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        let (password, stored) = cleanUp(attempt)
        guard attempt.succeeded else { return .ignored }
        if let password, let stored, let rehasher = realm.rehasher {
            rehasher.start(attempt.username, password: password, replacing: stored)
        }
        return .done
    }

    /// Removes the shared values; `done` if this module succeeded.
    package func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        _ = cleanUp(attempt)
        return attempt.succeeded ? .done : .ignored
    }

    /// Takes the values for the replacement of the hash; removes the shared password if `clearPass` is set.
    private func cleanUp(_ attempt: LoginAttempt) -> (password: Secret?, stored: String?) {
        firstPass.cleanUp(attempt)
        return attempt.updateShared { shared in
            defer { (shared[rehashPassword], shared[rehashStored]) = (nil, nil) }
            return (shared.secret(rehashPassword), shared.text(rehashStored))
        }
    }
}

/// Replaces weak password hashes after logins, one at a time.
///
/// Logins do not wait: if a user signs in while another hash is being replaced, the user's own hash is replaced at a
/// later login. A failure is logged only if its reason differs from that of the previous failure.
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
    func shouldReplace(_ hash: PasswordHash, password: Secret) -> Bool {
        passwords.policy.needsRehash(of: hash) && passwords.policy.covers(password)
            && files.state.withLock { $0.version.files.allSatisfy(\.isReplaceable) }
    }

    /// Starts the replacement of `stored`, which the password matched, unless one is running or the file has another.
    func start(_ user: Username, password: Secret, replacing stored: String) {
        state.withLock { state in
            guard !state.isBusy else { return }
            state.isBusy = true
            state.task = Task { [files, passwords, weak self] in
                do {
                    var changes = UserChanges()
                    changes.hash = try await passwords.hash(password)
                    changes.replacing = stored
                    try await files.apply(.change(user, changes), isRehash: true)
                    self?.finish(nil)
                } catch {
                    self?.finish("\(error)")
                }
            }
        }
    }

    func waitUntilIdle() async { await state.withLock { $0.task }?.value }

    private func finish(_ fault: String?) {
        let isNew = state.withLock { state in
            defer { (state.isBusy, state.lastFault) = (false, fault) }
            return state.lastFault != fault
        }
        guard let fault, isNew else { return }
        log?("a weak password hash could not be replaced: \(fault)", .notice)
    }
}
