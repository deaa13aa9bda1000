// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Synchronization

/// The logins that wait for an answer of the user, by the digest of the browser.
///
/// A browser has at most one pending login. The number of logins from a source and in total is limited. If a source has
/// too many, its oldest login is cancelled; if there are too many in total, the oldest login of the source with the
/// most logins. So a client never cancels a login from another source, unless the table is full and no source has more
/// than one login (CVE-2026-77561). The logins of an account are not limited: other clients, who need not know the
/// password, would cancel the login of its user.
///
/// The table may be used from any thread.
final class PendingLogins<Outcome: Sendable>: Sendable {
    typealias Login = PendingLogin<Outcome>

    /// The result of taking a login out of the table.
    enum Taken: Sendable {
        /// The browser has no pending login.
        case none
        /// The pending login of the browser is not the expected login, and keeps its deadline.
        case another
        /// The login, which is no longer in the table.
        case taken(Login)
    }

    private struct Entry {
        let login: Login
        let number: UInt64
        let deadline: UInt64
    }

    private struct State {
        var entries: [Digest: Entry] = [:]
        /// The browsers of each source, in the order in which their logins were added.
        var sources: [ClientNetwork: [Digest]] = [:]
        var lastNumber: UInt64 = 0

        mutating func remove(_ browser: Digest) -> Entry? {
            guard let entry = entries.removeValue(forKey: browser) else { return nil }
            let source = entry.login.source
            sources[source]?.removeAll { $0 == browser }
            if sources[source]?.isEmpty == true { sources[source] = nil }
            return entry
        }

        /// The login to cancel if the table is full: the oldest one of the source with the most logins, or of all
        /// sources that have as many.
        var evictionCandidate: Digest? {
            let largest = sources.values.max { left, right in
                left.count != right.count ? left.count < right.count : age(left) > age(right)
            }
            return largest?.first
        }

        private func age(_ browsers: [Digest]) -> UInt64 { browsers.first.flatMap { entries[$0]?.number } ?? .max }
    }

    private let limit: Int
    private let perSource: Int
    private let lifetime: UInt64
    private let clock: any LoginClock
    private let state = Mutex(State())

    /// A table for at least one login; the lifetime is the time for an answer, in nanoseconds.
    ///
    /// The default for a source is the number of failures that lock it: each pending login holds one of these, so the
    /// clients of a source do not cancel one another's.
    init(limit: Int, perSource: Int = 100, lifetime: UInt64, clock: any LoginClock) {
        self.limit = max(limit, 1)
        self.perSource = max(perSource, 1)
        self.lifetime = lifetime
        self.clock = clock
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Adds a login, and cancels an earlier one of the browser.
    func put(_ login: Login) { put(login, replacing: true) }

    /// Puts a login that was taken, with a new question, back into the table; false if it was cancelled instead,
    /// because the browser has begun another login in the meantime.
    @discardableResult
    func putBack(_ login: Login) -> Bool { put(login, replacing: false) }

    /// Returns the login of a browser, and leaves it in the table.
    func peek(_ browser: Digest) -> Login? {
        let now = clock.now
        return state.withLock { state in state.entries[browser].flatMap { now < $0.deadline ? $0.login : nil } }
    }

    /// Removes and returns the login of a browser, which then no other request can answer.
    func take(_ browser: Digest) -> Login? {
        if case .taken(let login) = take(browser, if: { _ in true }) { login } else { nil }
    }

    /// Removes and returns the login of a browser, if it is the expected login; the closure must not call this table.
    func take(_ browser: Digest, if isExpected: (Login) -> Bool) -> Taken {
        let now = clock.now
        let (entry, isAnother) = state.withLock { state -> (Entry?, Bool) in
            guard let entry = state.entries[browser] else { return (nil, false) }
            if now < entry.deadline, !isExpected(entry.login) { return (nil, true) }
            return (state.remove(browser), false)
        }
        guard let entry else { return isAnother ? .another : .none }
        guard now < entry.deadline else {
            entry.login.interactive.cancel()
            return .none
        }
        return .taken(entry.login)
    }

    func sweep(_ now: UInt64) {
        let expired = state.withLock { state in
            state.entries.values.filter { $0.deadline <= now }.compactMap { state.remove($0.login.browser) }
        }
        Self.cancel(expired)
    }

    /// Cancels all logins before the server stops.
    func cancelAll() {
        let all = state.withLock { state in
            defer { state = State() }
            return Array(state.entries.values)
        }
        Self.cancel(all)
    }

    @discardableResult
    private func put(_ login: Login, replacing: Bool) -> Bool {
        let deadline = clock.now.addingReportingOverflow(lifetime)
        let (isAdded, removed) = state.withLock { state in
            var removed: [Entry] = []
            if !replacing, state.entries[login.browser] != nil { return (false, removed) }
            state.remove(login.browser).map { removed.append($0) }
            state.lastNumber += 1
            state.entries[login.browser] = Entry(
                login: login,
                number: state.lastNumber,
                deadline: deadline.overflow ? .max : deadline.partialValue
            )
            state.sources[login.source, default: []].append(login.browser)
            if let browsers = state.sources[login.source], browsers.count > perSource {
                state.remove(browsers[0]).map { removed.append($0) }
            }
            if state.entries.count > limit, let candidate = state.evictionCandidate {
                state.remove(candidate).map { removed.append($0) }
            }
            return (true, removed)
        }
        if !isAdded { login.interactive.cancel() }
        Self.cancel(removed)
        return isAdded
    }

    private static func cancel(_ entries: [Entry]) { entries.forEach { $0.login.interactive.cancel() } }
}

/// A login that has begun and may wait for the user's answer to a question.
struct PendingLogin<Outcome: Sendable>: Sendable {
    /// The state of users and configuration when the login began; its result may not take later changes into account.
    struct Start: Sendable {
        /// The revocation epoch of the sessions.
        let epoch: RevocationEpoch
        /// The number of reloads of the configuration before the login.
        let generation: Int
        /// The realms of that configuration.
        let authenticator: Authenticator
        /// The time at which the client certificate expires, in seconds since 1970; nil if there is no certificate.
        var certificateEnd: Int?
    }

    /// The callbacks that the user has to answer.
    struct Question: Sendable {
        let callbacks: [Callback]
        let number: Int
        /// The messages before the question, which need no answer of the user.
        var messages: [String] = []

        /// True if a one-time code is requested.
        var hasCode: Bool {
            callbacks.contains { if case .oneTimeCode = $0 { true } else { false } }
        }
    }

    let interactive: InteractiveLogin<Outcome>
    /// The user name as typed.
    let account: Username
    let source: ClientNetwork
    /// The digest that identifies the browser; see ``BrowserBinding``.
    let browser: Digest
    /// The place that the browser goes to after the sign-in.
    let destination: Destination
    /// The rule of the destination; nil if there is none.
    var rule: ProtectRule?
    let start: Start
    /// Begins the same login again; nil if it may not be repeated any more.
    var again: (@Sendable () -> PendingLogin)?
    /// The open question; nil before the first question.
    var question: Question?
    /// True if this login repeats a login whose one-time code was rejected.
    var hasRejectedCode = false

    /// Returns a new login with the same name and password if this login has failed after a one-time code, so that the
    /// user can correct it on the same page; nil after the third code.
    ///
    /// The throttle counts each of these logins.
    func repetition() -> PendingLogin? {
        guard question?.hasCode == true, var login = again?() else { return nil }
        login.hasRejectedCode = true
        return login
    }
}
