// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A limit for failed logins: it reserves an attempt before a stack is evaluated, and receives the result.
///
/// An ``Authenticator`` with a throttle passes every login through it. The contract of an implementation:
///
/// - A reserved attempt counts as a failure until it is settled, and the reservation decides whether a login may be
///   granted. A client therefore gets no more guesses in parallel than in sequence.
/// - An attempt for several accounts is reserved for all of them in one step; while it waits, it holds none of them.
///   Two attempts therefore cannot wait for each other.
/// - It never prevents the evaluation of a login: an attempt that cannot succeed costs the same work as any other.
/// - Its calls return even if the task is cancelled.
/// - It may be used from any thread.
public protocol LoginThrottle: Sendable {
    /// Reserves an attempt, after a wait if too many are in progress.
    ///
    /// There is at least one account, one for each realm that may be used; the users need not exist. The user name is as it
    /// was typed, and `peer` is the network address of the client, if the login came over a network.
    func reserve(_ accounts: [Account], by username: Username, from peer: String?) async -> any LoginReservation
}

/// An attempt that a ``LoginThrottle`` has reserved.
public protocol LoginReservation: Sendable {
    /// Returns whether the login may be granted in the realm of one of the reserved accounts.
    ///
    /// If not, the stack is still evaluated, and the login refused as locked.
    func mayGrant(_ account: Account) -> Bool

    /// Tells the throttle that the login waits for a person, who may take any time or never answer.
    ///
    /// It may be called several times, also after the attempt is settled, and must not block. What a throttle does must
    /// not depend on what the modules have returned so far. The default does nothing.
    func waitsForUser()

    /// Records the result of the attempt, once, then waits for the delay of the response, unless the task is cancelled.
    ///
    /// There is a result for each realm that was used, in order. Only the last result can be a success.
    func settle(_ attempts: [RealmAttempt]) async
}

extension LoginReservation {
    /// Does nothing.
    public func waitsForUser() {}
}

/// The result of an attempt in one realm.
public struct RealmAttempt: Sendable {
    /// The account in the realm.
    public let account: Account
    /// The result of the login.
    public let report: LoginReport
    /// The fingerprint of the secrets that the realm received; nil if the realm received no secret, or if the login was
    /// for one realm only.
    public let guess: PasswordFingerprint?

    /// Creates the result of an attempt in one realm.
    public init(_ account: Account, report: LoginReport, guess: PasswordFingerprint? = nil) {
        self.account = account
        self.report = report
        self.guess = guess
    }
}

/// A keyed checksum of the secrets that a client presented; it shows only whether two guesses were the same.
///
/// The key is generated at the start of the process: fingerprints of two processes cannot be compared, and a password
/// cannot be tested against one of another process.
public struct PasswordFingerprint: Sendable, Hashable {
    // The sum of the hashes of all secrets, so that the order of the secrets does not matter.
    private var sum = 0

    /// Creates the fingerprint of secrets.
    public init(_ secrets: [Secret]) {
        for secret in secrets { add(secret) }
    }

    mutating func add(_ secret: Secret) {
        // SipHash with the key of the process.
        var hasher = Hasher()
        secret.withBytes { bytes in
            hasher.combine(bytes.count)
            for index in bytes.indices { hasher.combine(bytes[index]) }
        }
        sum &+= hasher.finalize()
    }
}

/// A conversation that computes the fingerprint of the secrets that it passes to modules.
final class FingerprintingConversation: Conversation {
    private let conversation: any Conversation
    private let state = Mutex<PasswordFingerprint?>(nil)

    init(_ conversation: any Conversation) { self.conversation = conversation }

    /// Nil if there were no secrets so far.
    var fingerprint: PasswordFingerprint? { state.withLock { $0 } }

    var presentsSecret: Bool { conversation.presentsSecret }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let answers = try await conversation.answer(callbacks)
        for case .secret(let secret) in answers {
            state.withLock { state in
                if state == nil { state = PasswordFingerprint([]) }
                state?.add(secret)
            }
        }
        return answers
    }
}
