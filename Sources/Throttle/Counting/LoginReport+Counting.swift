// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// What an attempt counts as.
enum AttemptResult: Sendable {
    /// Somebody came in: what was counted on the account is forgotten.
    case success
    /// A guess that was wrong, or may have been.
    case failure
    /// Nothing that says anything about a password.
    case neither
}

extension LoginReport {
    /// What the login counts as for a throttle.
    var result: AttemptResult {
        guard let refusal else { return .success }
        switch refusal.failure {
        case .wrongCredentials, .unknownUser, .unusableCredential, .locked, .disabled, .accountExpired,
            .credentialExpired, .permissionDenied:
            return .failure
        case .unavailable, .internalError, .missingCredential:
            // Of two modules one may be down: the other has been asked all the same, and could be asked for ever.
            let wasGuess = steps.contains { $0.phase == .login && $0.outcome == .failure(.wrongCredentials) }
            return wasGuess ? .failure : .neither
        }
    }
}
