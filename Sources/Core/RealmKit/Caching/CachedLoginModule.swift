// SPDX-License-Identifier: Apache-2.0

/// Accepts a user because of an entry in the cache.
///
/// A stack of this module alone is evaluated in place of the realm's stack. The login thus passes through the engine
/// and has an ordinary report.
struct CachedLoginModule: ImmediateLoginModule {
    static let moduleNames = ["cache"]

    private let login: CachedLogin
    private let note: String

    init(_ login: CachedLogin, note: String) {
        self.login = login
        self.note = note
    }

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        throw BadModule("is not a module of login.conf")
    }

    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        attempt.note(note)
        return attempt.commit(as: login.username, others: login.principals, attributes: login.attributes)
    }
}
