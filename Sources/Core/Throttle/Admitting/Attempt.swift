// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// A login attempt: the accounts and the source whose failures it may add to.
struct Attempt: Sendable {
    /// The account of the user name in each realm that may be tried, each once.
    let accounts: [ThrottleKey]
    /// The source; nil if failures are not counted for it.
    let source: ClientNetwork?
    let sourceKey: ThrottleKey?

    init(_ accounts: [Account], from source: ClientNetwork?) {
        var keys: [ThrottleKey] = []
        for account in accounts where !keys.contains(.account(account)) { keys.append(.account(account)) }
        self.accounts = keys
        self.source = source
        sourceKey = source.map { ThrottleKey.source($0) }
    }
}

/// The decision on an attempt.
struct Admission: Sendable {
    /// The accounts and the source at which the attempt counts as a failure until it is settled; no account if none may
    /// succeed.
    let reserved: [ThrottleKey]
    /// The accounts at which the attempt must not succeed and is not counted, with the number of failures that gives the
    /// delay of the refusal.
    let denied: [ThrottleKey: Int]
}

/// An attempt that waits until another attempt is settled.
struct WaitingAttempt: Sendable {
    let attempt: Attempt
    let continuation: CheckedContinuation<Admission, Never>
    /// The account or source at which the attempt waits, because its failures and running attempts have reached the limit.
    var key: ThrottleKey
}

/// The end of an attempt's wait; the attempt is resumed after the mutex of the throttle is released.
struct EndedWait: Sendable {
    let continuation: CheckedContinuation<Admission, Never>
    let admission: Admission

    func resume() { continuation.resume(returning: admission) }
}

/// The result of an attempt for one of its accounts.
enum AttemptResult: Sendable, Equatable {
    /// A success, which clears the failures of the account.
    case success
    /// A password that is wrong or may be wrong.
    case failure
    /// A wrong password in a login that another realm accepted.
    case acceptedElsewhere(PasswordFingerprint)
    /// The attempt shows nothing about a password.
    case notCounted
}

extension LoginReport {
    /// The result of the login for the throttle: it depends on whether a secret was presented and accepted, and whether an
    /// outage prevented all logins, but not on why or by which module the login was rejected.
    var result: AttemptResult {
        guard let refusal else { return .success }
        // A client that ends its request after some time without an acceptance has made a guess.
        if wasCancelled { return presentedSecret ? .failure : .notCounted }
        if let outage, outage.excludesSuccess { return .notCounted }
        switch refusal.failure {
        case .wrongCredentials, .unknownUser, .unusableCredential, .disabled, .accountExpired, .credentialExpired,
            .permissionDenied:
            return .failure
        // During a lock, the answer to a certificate or to a form without a password yet is `locked` too. After a module has
        // accepted the password, a code may be missing or another module unavailable: if such a login did not count, an
        // attacker would learn that the password is right.
        case .locked, .unavailable, .overloaded, .internalError, .missingCredential:
            return presentedSecret ? .failure : .notCounted
        }
    }
}
