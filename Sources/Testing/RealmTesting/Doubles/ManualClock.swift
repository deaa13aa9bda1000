// SPDX-License-Identifier: Apache-2.0

public import RealmKit
internal import Synchronization

/// A clock that only ``advance(by:)`` moves, so that a test of a deadline takes no real time.
///
/// ```swift
/// let clock = ManualClock()
/// async let report = stack.login(request, asking: conversation)
/// await clock.untilAsleep(1)
/// clock.advance(by: .seconds(30))
/// ```
///
/// It may be used from any thread.
public final class ManualClock: LoginClock {
    private struct Sleeper {
        let id: Int
        let deadline: UInt64
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now: UInt64
        var lastID = 0
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Mutex<State>

    /// Creates a clock that does not move by itself.
    ///
    /// - Parameter now: The time it shows, in nanoseconds.
    public init(now: UInt64 = 0) { state = Mutex(State(now: now)) }

    /// The time it shows, in nanoseconds.
    public var now: UInt64 { state.withLock { $0.now } }

    /// The number of tasks that sleep on this clock.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Advances the clock and wakes the tasks that are due, the earliest first.
    ///
    /// - Parameter duration: The time to advance by; fractions of a nanosecond are dropped.
    public func advance(by duration: Duration) {
        let woken: [Sleeper] = state.withLock { state in
            state.now += Self.nanoseconds(duration)
            let now = state.now
            let woken = state.sleepers.filter { $0.deadline <= now }
            state.sleepers.removeAll { $0.deadline <= now }
            return woken.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        }
        woken.forEach { $0.continuation.resume(returning: true) }
    }

    /// Waits until a number of tasks sleep on this clock.
    ///
    /// - Parameter count: The minimum number of tasks.
    public func untilAsleep(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let areAsleep = state.withLock { state in
                guard state.sleepers.count < count else { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if areAsleep { continuation.resume() }
        }
    }

    /// Waits until the clock has been advanced to a time.
    ///
    /// - Parameter deadline: The time. If it has already passed, the call returns at once.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: UInt64) async throws(CancellationError) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let isWoken = await withTaskCancellationHandler {
            await withCheckedContinuation { addSleeper(Sleeper(id: id, deadline: deadline, continuation: $0)) }
        } onCancel: {
            cancel(id)
        }
        state.withLock { _ = $0.cancelled.remove(id) }
        guard isWoken else { throw CancellationError() }
    }

    private func addSleeper(_ sleeper: Sleeper) {
        let (answer, watchers): (Bool?, [CheckedContinuation<Void, Never>]) = state.withLock { state in
            if state.cancelled.contains(sleeper.id) { return (false, []) }
            if sleeper.deadline <= state.now { return (true, []) }
            state.sleepers.append(sleeper)
            let count = state.sleepers.count
            let served = state.watchers.filter { $0.count <= count }
            state.watchers.removeAll { $0.count <= count }
            return (nil, served.map(\.continuation))
        }
        if let answer { sleeper.continuation.resume(returning: answer) }
        watchers.forEach { $0.resume() }
    }

    private func cancel(_ id: Int) {
        let sleeper: Sleeper? = state.withLock { state in
            guard let place = state.sleepers.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.sleepers.remove(at: place)
        }
        sleeper?.continuation.resume(returning: false)
    }

    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        precondition(seconds >= 0 && attoseconds >= 0, "a clock never runs backwards")
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}

/// A time limit in real time; only a failing test reaches it.
struct RealTimeLimit: Sendable {
    let limit: Duration

    init(_ limit: Duration) { self.limit = limit }

    /// Waits until a condition holds; returns false if it does not hold in time.
    func wait(until condition: @Sendable () async -> Bool) async -> Bool {
        for _ in 0..<1000 {
            if await condition() { return true }
            await Task.yield()
        }
        let begin = ContinuousClock.now
        while begin.duration(to: .now) < limit {
            if await condition() { return true }
            guard (try? await Task.sleep(for: .milliseconds(1))) != nil else { break }
        }
        return await condition()
    }
}

/// A clock of real time, for modules that work in real time.
struct RealClock: LoginClock {
    private let begin = ContinuousClock.now

    var now: UInt64 {
        let (seconds, attoseconds) = begin.duration(to: .now).components
        return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    }

    func sleep(until deadline: UInt64) async throws(CancellationError) {
        let end = begin.advanced(by: .nanoseconds(Int64(clamping: deadline)))
        guard (try? await ContinuousClock().sleep(until: end)) != nil else { throw CancellationError() }
    }
}
