// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import RealmKit
internal import Synchronization

/// The logins that wait for the user's answer, each under the digest of its browser's token.
///
/// There is one login per browser, and a bounded number per account, per source and in total. If there are too many,
/// the oldest login of the source that has most is cancelled, so that an attacker with many logins cannot evict those
/// of others (CVE-2026-77561). The table may be used from any thread.
final class PendingLogins<Outcome: Sendable>: Sendable {
    typealias Login = PendingLogin<Outcome>

    /// The result of taking a login out of the table.
    enum Taken: Sendable {
        /// No login of the browser waits.
        case none
        /// The login of the browser is not the one that is meant; it continues to wait, with the same deadline.
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
        /// The browsers of each source, the oldest entry first.
        var sources: [ClientNetwork: [Digest]] = [:]
        var lastNumber: UInt64 = 0

        mutating func remove(_ browser: Digest) -> Entry? {
            guard let entry = entries.removeValue(forKey: browser) else { return nil }
            let source = entry.login.source
            sources[source]?.removeAll { $0 == browser }
            if sources[source]?.isEmpty == true { sources[source] = nil }
            return entry
        }

        /// The oldest login of the source that has most; of several such sources, the oldest of all their logins.
        var next: Digest? {
            let crowd = sources.values.max { left, right in
                left.count != right.count ? left.count < right.count : age(left) > age(right)
            }
            return crowd?.first
        }

        /// Returns the number of logins of an account, and the oldest login of the source that has most of them.
        func next(of account: Username) -> (count: Int, next: Digest?) {
            let all = entries.values.filter { $0.login.account == account }
            let crowd = Dictionary(grouping: all, by: \.login.source).values.max { left, right in
                left.count != right.count ? left.count < right.count : oldest(left) > oldest(right)
            }
            return (all.count, crowd?.min { $0.number < $1.number }?.login.browser)
        }

        private func oldest(_ entries: [Entry]) -> UInt64 { entries.map(\.number).min() ?? .max }

        private func age(_ browsers: [Digest]) -> UInt64 { browsers.first.flatMap { entries[$0]?.number } ?? .max }
    }

    private let limit: Int
    private let perSource: Int
    /// The number of logins that may wait for one account: each holds a place that other attempts at it need.
    private static var perAccount: Int { 3 }
    private let time: UInt64
    private let clock: any LoginClock
    private let state = Mutex(State())

    /// An empty table.
    ///
    /// - Parameters:
    ///   - limit: The number of logins that may wait in total; 1 or more.
    ///   - perSource: The number of logins that may wait from one source; 1 or more.
    ///   - time: The nanoseconds that a user may take to answer.
    ///   - clock: The clock of the deadlines.
    init(limit: Int, perSource: Int = 20, time: UInt64, clock: any LoginClock) {
        self.limit = max(limit, 1)
        self.perSource = max(perSource, 1)
        self.time = time
        self.clock = clock
    }

    /// The number of waiting logins.
    var count: Int { state.withLock { $0.entries.count } }

    /// Adds a login that begins to wait; an earlier login of the browser is cancelled.
    ///
    /// - Parameter login: The login.
    func put(_ login: Login) { put(login, replacing: true) }

    /// Puts a login with another question back, unless the browser has begun another login meanwhile.
    ///
    /// - Parameter login: The result of ``take(_:)``.
    /// - Returns: True if the login waits now; false if it has been cancelled.
    @discardableResult
    func putBack(_ login: Login) -> Bool { put(login, replacing: false) }

    /// Returns the login of a browser, which continues to wait.
    ///
    /// - Parameter browser: The digest of the browser's token.
    /// - Returns: The login; nil if none waits or it has expired.
    func peek(_ browser: Digest) -> Login? {
        let now = clock.now
        return state.withLock { state in state.entries[browser].flatMap { now < $0.deadline ? $0.login : nil } }
    }

    /// Takes the login of a browser out, so that no other request can answer it.
    ///
    /// - Parameter browser: The digest of the browser's token.
    /// - Returns: The login; nil if none waits or it has expired.
    func take(_ browser: Digest) -> Login? {
        if case .taken(let login) = take(browser, if: { _ in true }) { login } else { nil }
    }

    /// Takes the login of a browser out if it is the one that is meant.
    ///
    /// - Parameters:
    ///   - browser: The digest of the browser's token.
    ///   - isMeant: Returns true for the login that is meant; it must not call back into this table.
    /// - Returns: The login, or the reason why it was not taken out.
    func take(_ browser: Digest, if isMeant: (Login) -> Bool) -> Taken {
        let now = clock.now
        let (entry, isAnother) = state.withLock { state -> (Entry?, Bool) in
            guard let entry = state.entries[browser] else { return (nil, false) }
            if now < entry.deadline, !isMeant(entry.login) { return (nil, true) }
            return (state.remove(browser), false)
        }
        guard let entry else { return isAnother ? .another : .none }
        guard now < entry.deadline else {
            entry.login.interactive.cancel()
            return .none
        }
        return .taken(entry.login)
    }

    /// Cancels the logins that have expired.
    ///
    /// - Parameter now: The current time of the clock.
    func sweep(_ now: UInt64) {
        let late = state.withLock { state in
            state.entries.values.filter { $0.deadline <= now }.compactMap { state.remove($0.login.browser) }
        }
        Self.cancel(late)
    }

    /// Cancels all logins, as when the server stops.
    func cancelAll() {
        let all = state.withLock { state in
            defer { state = State() }
            return Array(state.entries.values)
        }
        Self.cancel(all)
    }

    @discardableResult
    private func put(_ login: Login, replacing: Bool) -> Bool {
        let deadline = clock.now.addingReportingOverflow(time)
        let (isIn, gone) = state.withLock { state in
            var gone: [Entry] = []
            if !replacing, state.entries[login.browser] != nil { return (false, gone) }
            state.remove(login.browser).map { gone.append($0) }
            state.lastNumber += 1
            state.entries[login.browser] = Entry(
                login: login,
                number: state.lastNumber,
                deadline: deadline.overflow ? .max : deadline.partialValue
            )
            state.sources[login.source, default: []].append(login.browser)
            let (count, oldest) = state.next(of: login.account)
            if count > Self.perAccount, let oldest { state.remove(oldest).map { gone.append($0) } }
            if let crowd = state.sources[login.source], crowd.count > perSource {
                state.remove(crowd[0]).map { gone.append($0) }
            }
            if state.entries.count > limit, let next = state.next { state.remove(next).map { gone.append($0) } }
            return (true, gone)
        }
        if !isIn { login.interactive.cancel() }
        Self.cancel(gone)
        return isIn
    }

    private static func cancel(_ entries: [Entry]) { entries.forEach { $0.login.interactive.cancel() } }
}
