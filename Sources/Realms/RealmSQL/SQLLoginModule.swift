// SPDX-License-Identifier: Apache-2.0

internal import Passwords
public import RealmKit
internal import ServerConnections
internal import Workers

/// Checks names and passwords against the database of an ``SQLRealm``.
///
/// Every login runs the same queries and computes one hash of each known cost, so that its time does not reveal the
/// reason of a refusal. The options are those of `FirstPass`.
public struct SQLLoginModule: PasswordLoginModule {
    /// `SQLLoginModule` and the names of GlassFish's module, oldest first.
    public static let moduleNames = [
        "SQLLoginModule", "com.sun.enterprise.security.auth.login.JDBCLoginModule",
        "com.sun.enterprise.security.ee.auth.login.JDBCLoginModule",
        "com.sun.enterprise.security.ee.authentication.glassfish.jdbc.JDBCLoginModule",
    ]

    /// The settings for sharing the password with the other modules of the stack.
    public let firstPass: FirstPass
    private let realm: SQLRealm

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose users are checked.
    ///   - options: The options of `FirstPass`.
    /// - Throws: ``BadModule`` if the options cannot be read.
    public init(realm: SQLRealm, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.realm = realm
    }

    /// Succeeds if the user exists and may sign in, and the password matches.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        let found = try await find(attempt)
        for note in found.notes { attempt.note(note) }
        let stored = stored(found, attempt: attempt)
        let isCorrect = try await check(password, against: stored, for: attempt)
        if found.isAmbiguous {
            let problem = "the database has several rows for one user, who is refused"
            attempt.note(problem)
            realm.outages.write("\(problem): \(attempt.username)", kind: "ambiguous")
            return .failed(.disabled)
        }
        if let problem = found.problem {
            attempt.note(problem)
            // A wrong password must not fill the log.
            if isCorrect || found.account?.stored == nil {
                realm.outages.write("\(problem); user \(attempt.username)", kind: "user")
            }
        }
        guard let account = found.account else { return .failed(.unknownUser) }
        guard isCorrect, !attempt.isLocked, let stored, let text = account.stored else {
            return .failed(.wrongCredentials)
        }
        let failure = account.state.failure(at: realm.clock.seconds)
        // An account that is locked or disabled is refused as every other one, whatever else cannot be read.
        if let problem = found.problem, failure == nil || failure == .credentialExpired { throw .unavailable(problem) }
        let user = try username(account)
        switch failure {
        case .credentialExpired where realm.settings.mayChangePassword && realm.settings.queries.updatePassword != nil:
            keep(attempt, account: account, old: text, password: password, isChange: true)
        case .some(let failure):
            if failure == .credentialExpired { attempt.note("the password has expired, and cannot be changed here") }
            return .failed(failure)
        case nil:
            let policy = realm.passwords.policy
            if realm.settings.rehashes, realm.settings.queries.updatePassword != nil,
                policy.needsRehash(of: stored.hash), policy.covers(password)
            {
                keep(attempt, account: account, old: text, password: password, isChange: false)
            } else if stored.hash.ignoresPart(of: password) {
                // Only the beginning of the password was checked, and the hash cannot be replaced by one of the whole one.
                return .failed(.unusableCredential)
            }
        }
        return attempt.commit(as: user, groups: found.groups, attributes: found.attributes)
    }

    private func find(_ attempt: LoginAttempt) async throws(LoginFault) -> FoundUser {
        do throws(ServerFault) {
            let source = ClientNetwork.source(attempt.peer)
            return try await realm.users.find(attempt.username, source: source, note: { attempt.note($0) })
        } catch {
            // The pool has logged the faults of its servers.
            if error.code == .failed || error.code == .full {
                realm.outages.write(error.log, kind: error.code.rawValue)
            }
            throw error.loginFault
        }
    }

    /// Reads the user's stored password; nil if there is none, or it cannot be read.
    private func stored(_ found: FoundUser, attempt: LoginAttempt) -> StoredPassword? {
        guard let text = found.account?.stored else { return nil }
        do throws(BadHash) {
            guard let stored = try realm.read(text) else { return nil }
            realm.learn(stored.hash)
            return stored
        } catch {
            realm.log("realm \(realm.name): the password of \(attempt.username) cannot be read: \(error)", .error)
            return nil
        }
    }

    private func check(
        _ password: Secret,
        against stored: StoredPassword?,
        for attempt: LoginAttempt
    ) async throws(LoginFault) -> Bool {
        let (encoded, isEncodable) = PasswordEncoding.encode(password, as: realm.settings.charset)
        let (service, decoys) = (realm.passwords, realm.costs.decoys)
        return try await service.check(encoded, against: stored, hashPerCost: decoys, for: attempt) && isEncodable
    }

    private func username(_ account: SQLAccount) throws(LoginFault) -> Username {
        try Result { () throws(BadUsername) in try Username(account.name) }
            .mapError { LoginFault.unavailable("the name in the database is not valid: \($0)") }.get()
    }

    // MARK: Commit

    /// Asks for a new password if it has expired, and stores it; or stores a stronger hash of the password.
    ///
    /// This is done in the commit phase, which runs only if the stack accepts the login. Otherwise the question, or the
    /// longer time of a rejected login, would reveal that the password was correct.
    ///
    /// If a weak hash cannot be replaced, the login still succeeds. If a new password cannot be stored, the login fails.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        let shared = attempt.shared
        firstPass.cleanUp(attempt)
        guard attempt.succeeded else { return .ignored }
        guard let query = realm.settings.queries.updatePassword, let user = shared.text(key("user")),
            let old = shared.text(key("old")), let password = shared.secret(key("password"))
        else { return .done }
        let isChange = shared.text(key("change")) != nil
        var new = password
        if isChange {
            let typed = try await attempt.newPassword(instead: password) { realm.rules.refusal(of: $0) }
            guard let typed else { throw LoginFault(.credentialExpired, log: "the password has expired") }
            new = typed
            // The user may have taken minutes for it.
            let failure = try await find(attempt).account?.state.failure(at: realm.clock.seconds) ?? .credentialExpired
            guard failure == .credentialExpired else { throw LoginFault(failure, log: "the account has changed") }
        }
        do throws(LoginFault) {
            try await store(new, of: user, instead: old, with: query, for: attempt, isChange: isChange)
        } catch {
            let what = isChange ? "new password" : "weak password hash"
            let end = isChange ? "stored" : "replaced"
            let text = "realm \(realm.name): the \(what) of \(attempt.username) was not \(end): \(error.log)"
            realm.log(text, isChange ? .error : .notice)
            if isChange { throw error }
        }
        return .done
    }

    /// Hashes a password, and stores it if the old hash is still the stored one.
    private func store(
        _ password: Secret,
        of user: String,
        instead old: String,
        with query: SQLQuery,
        for attempt: LoginAttempt,
        isChange: Bool
    ) async throws(LoginFault) {
        let hash = try await realm.passwords.hash(password)
        let owner = JobOwner(source: ClientNetwork.source(attempt.peer), account: attempt.username.caseFolded)
        do throws(ServerFault) {
            // Also before the change, whose answer may be lost.
            if isChange { try realm.users.replaced.add(old, of: user) }
            let count = try await realm.users.replace(old, by: hash, of: user, with: query, for: owner)
            guard count == 1 else {
                let problem =
                    count == 0
                    ? "no row; the stored hash may have changed meanwhile" : "\(count) rows, and not one"
                throw ServerFault(.failed, "update-password-query has changed \(problem)")
            }
            attempt.note("update-password-query: 1 row")
            if isChange { try realm.users.replaced.add(old, of: user) }
        } catch {
            throw error.loginFault
        }
    }

    private func keep(_ attempt: LoginAttempt, account: SQLAccount, old: String, password: Secret, isChange: Bool) {
        attempt.updateShared { shared in
            shared[key("user")] = .text(account.name)
            shared[key("old")] = .text(old)
            shared[key("password")] = .secret(password)
            shared[key("change")] = isChange ? .text("yes") : nil
        }
    }

    private func key(_ part: String) -> SharedState.Key { SharedState.Key("gatehouse.sql.\(realm.name).\(part)") }
}

extension SQLLoginModule: NonblockingLoginModule {}

/// The bytes of passwords in other character sets, for digests.
enum PasswordEncoding {
    /// Converts a password from UTF-8; one that cannot be written in the character set matches nothing, where Java
    /// would replace the character by a question mark.
    static func encode(_ password: Secret, as charset: SQLSettings.Charset) -> (Secret, isPossible: Bool) {
        guard charset != .utf8 else { return (password, true) }
        let highest: UInt32 = charset == .latin1 ? 0xFF : 0x7F
        var isPossible = true
        let encoded = password.withBytes { bytes in
            Secret(capacity: bytes.count) { output in
                var place = 0
                while place < bytes.count {
                    let byte = bytes[place]
                    let isPair = byte & 0xE0 == 0xC0 && place + 1 < bytes.count && bytes[place + 1] & 0xC0 == 0x80
                    let scalar = isPair ? UInt32(byte & 0x1F) << 6 | UInt32(bytes[place + 1] & 0x3F) : UInt32(byte)
                    if isPair ? scalar < 0x80 || scalar > highest : scalar >= 0x80 { isPossible = false }
                    output.append(UInt8(truncatingIfNeeded: scalar))
                    place += isPair ? 2 : 1
                }
            }
        }
        return (encoded, isPossible)
    }
}
