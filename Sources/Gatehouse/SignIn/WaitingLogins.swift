// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import RealmKit
internal import Synchronization

/// The logins that wait for a person to answer, each under the digest of its browser's token.
///
/// There is one for a browser, and a bounded number for an account, for a source and in all. Where there are too many, the
/// oldest of the source that has most is cancelled, so that whoever begins many cannot throw others out
/// (CVE-2026-77561). It may be used from any thread.
final class WaitingLogins<Outcome: Sendable, Context: Sendable>: Sendable {
    /// One that has been taken out.
    struct Waiting: Sendable {
        /// The login.
        let dialogue: LoginDialogue<Outcome>
        /// What was put in with it.
        let context: Context
        /// Where it came from.
        let source: Source
        /// Whose account it is about, as it was typed.
        let account: Username
        /// The digest of the browser's token.
        let browser: Digest
    }

    /// What became of taking one out.
    enum Taken: Sendable {
        /// None waits for the browser.
        case none
        /// One waits that is not the one meant; it goes on waiting, for no longer than before.
        case another
        /// It is nobody else's now.
        case taken(Waiting)
    }

    private struct Entry {
        let waiting: Waiting
        let number: UInt64
        let deadline: UInt64
    }

    private struct State {
        var entries: [Digest: Entry] = [:]
        /// The browsers of each source, the oldest entry first.
        var sources: [Source: [Digest]] = [:]
        var lastNumber: UInt64 = 0

        mutating func remove(_ browser: Digest) -> Entry? {
            guard let entry = entries.removeValue(forKey: browser) else { return nil }
            let source = entry.waiting.source
            sources[source]?.removeAll { $0 == browser }
            if sources[source]?.isEmpty == true { sources[source] = nil }
            return entry
        }

        /// The oldest of the source that has most; of several such sources, the oldest of all of theirs.
        var next: Digest? {
            let crowd = sources.values.max { left, right in
                left.count != right.count ? left.count < right.count : age(left) > age(right)
            }
            return crowd?.first
        }

        /// Of the logins of an account, the oldest of the source that has most of them.
        func next(of account: Username) -> (count: Int, next: Digest?) {
            let all = entries.values.filter { $0.waiting.account == account }
            let crowd = Dictionary(grouping: all, by: \.waiting.source).values.max { left, right in
                left.count != right.count ? left.count < right.count : oldest(left) > oldest(right)
            }
            return (all.count, crowd?.min { $0.number < $1.number }?.waiting.browser)
        }

        private func oldest(_ entries: [Entry]) -> UInt64 { entries.map(\.number).min() ?? .max }

        private func age(_ browsers: [Digest]) -> UInt64 { browsers.first.flatMap { entries[$0]?.number } ?? .max }
    }

    private let limit: Int
    private let perSource: Int
    /// How many may wait for one account: each holds a place that other attempts at it need.
    private static var perAccount: Int { 3 }
    private let time: UInt64
    private let clock: any LoginClock
    private let state = Mutex(State())

    /// An empty table.
    ///
    /// - Parameters:
    ///   - limit: How many may wait in all; 1 or more.
    ///   - perSource: How many may wait from one source; 1 or more.
    ///   - time: How many nanoseconds a person may take.
    ///   - clock: The clock of the deadlines.
    init(limit: Int, perSource: Int = 20, time: UInt64, clock: any LoginClock) {
        self.limit = max(limit, 1)
        self.perSource = max(perSource, 1)
        self.time = time
        self.clock = clock
    }

    /// How many wait.
    var count: Int { state.withLock { $0.entries.count } }

    /// Puts a login in that begins to wait; whatever the browser had waiting is cancelled.
    ///
    /// - Parameter waiting: The login.
    func put(_ waiting: Waiting) { put(waiting, replacing: true) }

    /// Puts a login back that has asked another question, unless the browser has begun another one meanwhile.
    ///
    /// - Parameter waiting: What ``take(_:)`` gave.
    /// - Returns: Whether it waits now; if not, it has been cancelled.
    @discardableResult
    func putBack(_ waiting: Waiting) -> Bool { put(waiting, replacing: false) }

    /// The login of a browser, which goes on waiting.
    ///
    /// - Parameter browser: Whose.
    /// - Returns: Nil if none waits, or its time is over.
    func look(_ browser: Digest) -> Waiting? {
        let now = clock.now
        return state.withLock { state in state.entries[browser].flatMap { now < $0.deadline ? $0.waiting : nil } }
    }

    /// Takes the login of a browser out, so that nobody else can answer it.
    ///
    /// - Parameter browser: The digest of the browser's token.
    /// - Returns: The login; nil if none waits or its time is over.
    func take(_ browser: Digest) -> Waiting? {
        if case .taken(let waiting) = take(browser, if: { _ in true }) { waiting } else { nil }
    }

    /// Takes the login of a browser out if it is the one that is meant.
    ///
    /// - Parameters:
    ///   - browser: The digest of the browser's token.
    ///   - isMeant: Whether it is, by its context; it must not call back into this table.
    /// - Returns: The login, or why not.
    func take(_ browser: Digest, if isMeant: (Context) -> Bool) -> Taken {
        let now = clock.now
        let (entry, isAnother) = state.withLock { state -> (Entry?, Bool) in
            guard let entry = state.entries[browser] else { return (nil, false) }
            if now < entry.deadline, !isMeant(entry.waiting.context) { return (nil, true) }
            return (state.remove(browser), false)
        }
        guard let entry else { return isAnother ? .another : .none }
        guard now < entry.deadline else {
            entry.waiting.dialogue.cancel()
            return .none
        }
        return .taken(entry.waiting)
    }

    /// Cancels those whose time is over.
    ///
    /// - Parameter now: The moment.
    func sweep(_ now: UInt64) {
        let late = state.withLock { state in
            state.entries.values.filter { $0.deadline <= now }.compactMap { state.remove($0.waiting.browser) }
        }
        Self.cancel(late)
    }

    /// Cancels all of them, as at the end of the server.
    func cancelAll() {
        let all = state.withLock { state in
            defer { state = State() }
            return Array(state.entries.values)
        }
        Self.cancel(all)
    }

    @discardableResult
    private func put(_ waiting: Waiting, replacing: Bool) -> Bool {
        let deadline = clock.now.addingReportingOverflow(time)
        let (isIn, gone) = state.withLock { state in
            var gone: [Entry] = []
            if !replacing, state.entries[waiting.browser] != nil { return (false, gone) }
            state.remove(waiting.browser).map { gone.append($0) }
            state.lastNumber += 1
            state.entries[waiting.browser] = Entry(
                waiting: waiting,
                number: state.lastNumber,
                deadline: deadline.overflow ? .max : deadline.partialValue
            )
            state.sources[waiting.source, default: []].append(waiting.browser)
            let (count, oldest) = state.next(of: waiting.account)
            if count > Self.perAccount, let oldest { state.remove(oldest).map { gone.append($0) } }
            if let crowd = state.sources[waiting.source], crowd.count > perSource {
                state.remove(crowd[0]).map { gone.append($0) }
            }
            if state.entries.count > limit, let next = state.next { state.remove(next).map { gone.append($0) } }
            return (true, gone)
        }
        if !isIn { waiting.dialogue.cancel() }
        Self.cancel(gone)
        return isIn
    }

    private static func cancel(_ entries: [Entry]) { entries.forEach { $0.waiting.dialogue.cancel() } }
}
