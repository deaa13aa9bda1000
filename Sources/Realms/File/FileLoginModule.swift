// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
public import RealmKit

/// Checks name and password of a ``FileRealm``'s users.
///
/// Unknown, disabled and unusable users cost what any user costs: one check of every kind of hash in the file. An empty
/// password is refused, after the same work. Once the whole stack has accepted a login, a hash that is weaker than the
/// policy wants is made anew in the background. Options: those of `FirstPass`.
public struct FileLoginModule: PasswordLoginModule {
    /// `FileLoginModule` and the name of the one in GlassFish.
    public static let moduleNames = ["FileLoginModule", "com.sun.enterprise.security.auth.login.FileLoginModule"]

    /// How this module shares a password with its neighbours.
    public let firstPass: FirstPass
    private let realm: FileRealm
    private let passwords: PasswordService
    private let rehashPassword: SharedState.Key
    private let rehashStored: SharedState.Key

    /// Makes the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose users are checked.
    ///   - options: Those of `FirstPass`.
    /// - Throws: ``BadModule`` when the program has no `PasswordService`.
    public init(realm: FileRealm, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.realm = realm
        guard let passwords = realm.passwords else {
            throw BadModule("this program has no service that checks passwords")
        }
        self.passwords = passwords
        rehashPassword = SharedState.Key("gatehouse.file.\(options.realmName).password")
        rehashStored = SharedState.Key("gatehouse.file.\(options.realmName).stored")
    }

    /// Yes if the password is the one whose hash the file holds.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        await realm.files.look()
        let table = realm.files.table
        let user = table[attempt.username]
        let isRight: Bool
        do throws(LoginFault) {
            isRight = try await passwords.check(password, against: user?.usablePassword, costs: table.costs, attempt)
        } catch {
            // That this user's format cannot take this password must not be seen from outside.
            guard error.kind == .unusableCredential else { throw error }
            return .failed(.unusableCredential)
        }
        guard let user else { return .failed(.unknownUser) }
        guard let stored = user.usablePassword else { return .failed(.disabled) }
        guard isRight, !password.isEmpty else { return .failed(.wrongCredentials) }
        if let rehasher = realm.rehasher, rehasher.wants(stored.hash) {
            attempt.updateShared { shared in
                shared[rehashPassword] = .secret(password)
                shared[rehashStored] = .text(stored.text)
            }
        }
        return attempt.commit(as: user.name, groups: user.groups)
    }

    /// Done if this module succeeded; has the hash made anew if it should be.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        let (password, stored) = cleanUp(attempt)
        guard attempt.succeeded else { return .ignored }
        if let password, let stored, let rehasher = realm.rehasher {
            rehasher.begin(attempt.username, password, replacing: stored)
        }
        return .done
    }

    /// Done if this module succeeded.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        _ = cleanUp(attempt)
        return attempt.succeeded ? .done : .ignored
    }

    /// Takes out what was kept for the end of the login, and what `clearPass` says.
    private func cleanUp(_ attempt: LoginAttempt) -> (password: Secret?, stored: String?) {
        firstPass.cleanUp(attempt)
        return attempt.updateShared { shared in
            defer { (shared[rehashPassword], shared[rehashStored]) = (nil, nil) }
            return (shared.secret(rehashPassword), shared.text(rehashStored))
        }
    }
}
