// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The result of an attempt for one of its accounts.
enum AttemptResult: Sendable, Equatable {
    /// A success. It clears the failures of the account.
    case success
    /// A password that is wrong or may be wrong.
    case failure
    /// A wrong password in a login that another realm accepted.
    case acceptedElsewhere(PasswordFingerprint)
    /// The attempt shows nothing about a password.
    case notCounted
}

extension LoginReport {
    /// The result of the login for the throttle.
    ///
    /// It depends on whether a secret was presented and accepted, and on whether an outage prevented all users from
    /// logging in. It does not depend on why a module rejected the login, or on which module rejected it last.
    var result: AttemptResult {
        guard let refusal else { return .success }
        // A client that ends its request after some time without an acceptance has made a guess.
        if wasCancelled { return presentedSecret ? .failure : .notCounted }
        if let outage, outage.excludesSuccess { return .notCounted }
        switch refusal.failure {
        case .wrongCredentials, .unknownUser, .unusableCredential, .disabled, .accountExpired, .credentialExpired,
            .permissionDenied:
            return .failure
        // During a lock, the answer to a certificate or to a form without a password yet is `locked` too. After a module has accepted the password, a code may be missing or another module may be unavailable. If such
        // a login did not count, an attacker would learn that the password is right.
        case .locked, .unavailable, .overloaded, .internalError, .missingCredential:
            return presentedSecret ? .failure : .notCounted
        }
    }
}
