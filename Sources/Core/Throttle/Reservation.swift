// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Synchronization

/// The failures that a login may add: those of its accounts and of its source.
struct Reservation: Sendable {
    /// The account of the user name in each realm that may be tried, each once.
    let accounts: [ThrottleKey]
    /// The source; nil if failures are not counted for it.
    let source: ClientNetwork?
    let sourceKey: ThrottleKey?
    /// The accounts and the source at which the login counts as a failure until it is settled; no account if none may
    /// succeed.
    var reserved: [ThrottleKey] = []
    /// The accounts at which the login must not succeed and is not counted, with the number of failures that gives the
    /// delay of the refusal.
    var denied: [ThrottleKey: Int] = [:]
    /// The failures that were counted while the login waited for its user.
    var counted: [ThrottleKey: FailureTable.CountedFailure] = [:]

    init(_ accounts: [Account], from source: ClientNetwork?) {
        var keys: [ThrottleKey] = []
        for account in accounts where !keys.contains(.account(account)) { keys.append(.account(account)) }
        self.accounts = keys
        self.source = source
        sourceKey = source.map { ThrottleKey.source($0) }
    }
}

/// A reserved login, settled exactly once: by ``settle(_:)``, or without a result when it is deinitialized.
final class ThrottleReservation: LoginReservation {
    private let throttle: FailureThrottle
    private let username: Username
    /// The beginning of the login, from which the delay of the answer is measured.
    private let begin: UInt64
    /// Nil after it was settled.
    private let unsettled: Mutex<Reservation?>

    init(_ reservation: Reservation, in throttle: FailureThrottle, by username: Username, begin: UInt64) {
        self.throttle = throttle
        self.username = username
        self.begin = begin
        unsettled = Mutex(reservation)
    }

    func mayGrant(_ account: Account) -> Bool {
        // An account without a reservation, passed by mistake, is not granted: a lock cannot be bypassed.
        unsettled.withLock { $0?.reserved.contains(.account(account)) == true }
    }

    func waitsForUser() {
        // The failures are recorded before the reservation can be settled, which may take them back.
        let effects: Settlement? = unsettled.withLock { unsettled in
            guard var reservation = unsettled, reservation.counted.isEmpty else { return nil }
            let effects = throttle.countOpen(&reservation)
            unsettled = reservation
            return effects
        }
        // The effects call other code, which must not run while the mutex is held.
        if let effects { throttle.apply(effects, by: username) }
    }

    func settle(_ attempts: [RealmAttempt]) async {
        guard let reservation = unsettled.withLock({ $0.take() }) else { return }
        let isAccepted = attempts.contains { $0.report.refusal == nil }
        var results: [(key: ThrottleKey, result: AttemptResult)] = []
        var failures = 0
        for part in attempts {
            let key = ThrottleKey.account(part.account)
            if let denied = reservation.denied[key] {
                failures = max(failures, denied)
                // A guess at a locked account counts for its source only.
                if !isAccepted { results.append((key, part.report.result)) }
            } else {
                results.append((key, isAccepted ? Self.resultOfAcceptedLogin(part) : part.report.result))
            }
        }
        failures = max(failures, throttle.settle(reservation, by: username, results: results))
        guard !isAccepted else { return }
        // An outage is not a failure. But its answer is delayed like a third failure, because 1,000 connections that retry
        // without a delay would keep a processor busy; at a locked account too, as the delay would reveal the lock.
        let outages = attempts.count { $0.report.outage != nil }
        if outages == attempts.count, outages > 0 { failures = 0 }
        await throttle.delay(failures: outages > 0 ? max(failures, Self.failuresOfOutage) : failures, since: begin)
    }

    /// The number of failures from which the delay after an outage is computed.
    private static let failuresOfOutage = 3

    /// Returns the result for an account of a login that its realm or a later one has accepted.
    private static func resultOfAcceptedLogin(_ part: RealmAttempt) -> AttemptResult {
        switch part.report.result {
        case .success: .success
        case .failure: part.guess.map(AttemptResult.acceptedElsewhere) ?? .notCounted
        case .acceptedElsewhere, .notCounted: .notCounted
        }
    }

    deinit {
        if let reservation = unsettled.withLock({ $0.take() }) {
            _ = throttle.settle(reservation, by: username, results: [])
        }
    }
}

/// The result of a login for one of its accounts.
enum AttemptResult: Sendable, Equatable {
    /// A success, which clears the failures of the account.
    case success
    /// A password that is wrong or may be wrong.
    case failure
    /// A wrong password in a login that another realm accepted.
    case acceptedElsewhere(PasswordFingerprint)
    /// The login shows nothing about a password.
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
