// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The result of an attempt on one account.
enum AttemptResult: Sendable, Equatable {
    /// A success, which clears the account's failures.
    case success
    /// A wrong password, or one that may be wrong.
    case failure
    /// A wrong password, in a login that another realm has accepted.
    case uncounted(PasswordFingerprint)
    /// No information about a password.
    case neither
}

extension LoginReport {
    /// The result of the login for a throttle.
    ///
    /// It depends on the presented secret, and on outages during which no user could have logged in; never on the findings
    /// of a module, or on which module rejected last.
    var result: AttemptResult {
        guard let refusal else { return .success }
        if let outage, outage.excludesSuccess { return .neither }
        switch refusal.failure {
        case .wrongCredentials, .unknownUser, .unusableCredential, .locked, .disabled, .accountExpired,
            .credentialExpired, .permissionDenied:
            return .failure
        // A missing code or an outage behind the password must not confirm that the password is right.
        case .unavailable, .internalError, .missingCredential:
            return presentedSecret ? .failure : .neither
        }
    }
}
