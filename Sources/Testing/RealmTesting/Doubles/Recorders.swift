// SPDX-License-Identifier: Apache-2.0

public import RealmKit
internal import Synchronization

/// A conversation with prepared replies that records the callbacks.
///
/// It may be used from any thread.
public final class RecordingConversation: Conversation {
    /// The reply to one call, for all its callbacks.
    public enum Reply: Sendable {
        /// The answers of this conversation.
        case prepared(PreparedConversation)
        /// These answers; their number and kinds may be wrong.
        case answers([Answer])
        /// A fault, such as the fault for a client that is gone.
        case fault(LoginFault)
        /// Waits until the task is cancelled, then throws a fault of kind `unavailable`.
        case never
        /// Waits for ``RecordingConversation/release()``, even after a cancellation, then gives the answers of this
        /// conversation.
        case held(PreparedConversation)
    }

    private let replies: [Reply]
    private let journal = Journal<[Callback]>()
    private let releases = Journal<Void>()

    /// Creates a conversation with a reply for each call.
    ///
    /// The last reply is repeated. If the list is empty, every callback gets `Answer.none`.
    public init(_ replies: [Reply] = []) { self.replies = replies }

    /// Creates a conversation that always gives the same answers; the certificate is in DER.
    public convenience init(
        name: String? = nil,
        password: String? = nil,
        code: String? = nil,
        certificate: [UInt8]? = nil
    ) {
        let (password, code) = (password.map { Secret(utf8: $0) }, code.map { Secret(utf8: $0) })
        self.init([
            .prepared(PreparedConversation(name: name, password: password, code: code, certificate: certificate))
        ])
    }

    /// The callbacks of each call so far, in order.
    public var questions: [[Callback]] { journal.entries }

    /// Waits until the conversation has been called at least a number of times.
    public func untilCalled(_ count: Int = 1) async { await journal.wait(for: count) }

    /// Ends the wait of all current and later ``Reply/held(_:)`` replies.
    public func release() { releases.add(()) }

    /// Returns or throws the prepared reply.
    public func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let number = journal.add(callbacks)
        switch number < replies.count ? replies[number] : replies.last ?? .prepared(.silent) {
        case .prepared(let conversation): return try await conversation.answer(callbacks)
        case .answers(let answers): return answers
        case .fault(let fault): throw fault
        case .held(let conversation):
            await releases.wait(for: 1)
            return try await conversation.answer(callbacks)
        case .never:
            try? await ManualClock().sleep(until: .max)
            throw .unavailable("the conversation was cancelled")
        }
    }
}

/// A throttle that locks no account and keeps every attempt for a test.
///
/// It may be used from any thread.
public final class RecordingThrottle: LoginThrottle {
    private struct Reservation: LoginReservation {
        let journal: Journal<RealmAttempt>

        func mayGrant(_ account: Account) -> Bool { true }

        func settle(_ attempts: [RealmAttempt]) async {
            for attempt in attempts { journal.add(attempt) }
        }
    }

    private let journal = Journal<RealmAttempt>()

    /// Creates a throttle without attempts.
    public init() {}

    /// The settled attempts so far, in order.
    public var attempts: [RealmAttempt] { journal.entries }

    /// The attempts so far that a throttle counts as failed guesses.
    ///
    /// A refused login does not count if an outage excludes every success, or if no secret was presented and the login
    /// was refused as locked, as unavailable, as an internal error or for a missing credential.
    public var countedFailures: [RealmAttempt] {
        attempts.filter { attempt in
            guard let refusal = attempt.report.refusal else { return false }
            if let outage = attempt.report.outage, outage.excludesSuccess { return false }
            switch refusal.failure {
            case .wrongCredentials, .unknownUser, .unusableCredential, .disabled, .accountExpired, .credentialExpired,
                .permissionDenied:
                return true
            case .locked, .unavailable, .overloaded, .internalError, .missingCredential:
                return attempt.report.presentedSecret
            }
        }
    }

    /// Reserves an attempt; it may always be granted.
    public func reserve(
        _ accounts: [Account],
        by username: Username,
        from peer: String?
    ) async -> any LoginReservation {
        Reservation(journal: journal)
    }
}

/// A log that keeps its lines for a test.
///
/// It may be used from any thread.
public final class RecordingLog: Sendable {
    private let kept = Mutex<[(level: RealmLog.Level, text: String)]>([])

    /// Creates an empty log.
    public init() {}

    /// The log to give to a realm.
    public var log: RealmLog { RealmLog { [self] level, text in kept.withLock { $0.append((level, text)) } } }

    /// The texts so far, in order.
    public var lines: [String] { kept.withLock { $0.map(\.text) } }

    /// The texts so far that are warnings or errors, in order.
    public var problems: [String] { kept.withLock { $0.filter { $0.level != .notice }.map(\.text) } }
}

/// A list of events, in order; a test can wait until it has a number of entries.
final class Journal<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var entries: [Entry] { state.withLock { $0.entries } }
    var count: Int { state.withLock { $0.entries.count } }

    /// Adds an entry and returns its index.
    @discardableResult
    func add(_ entry: Entry) -> Int {
        let (count, served) = state.withLock { state in
            state.entries.append(entry)
            let count = state.entries.count
            defer { state.waiting.removeAll { $0.count <= count } }
            return (count, state.waiting.filter { $0.count <= count })
        }
        served.forEach { $0.continuation.resume() }
        return count - 1
    }

    /// Suspends the task, even a cancelled one, until there are this many entries.
    func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.entries.count < count else { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
