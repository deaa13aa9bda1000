// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
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
    private struct State {
        var now: UInt64
        var lastID = 0
        var sleepers: [Int: (deadline: UInt64, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Mutex<State>

    /// Creates a clock that shows a time in nanoseconds.
    public init(now: UInt64 = 0) { state = Mutex(State(now: now)) }

    /// The time it shows, in nanoseconds.
    public var now: UInt64 { state.withLock { $0.now } }

    /// The number of tasks that sleep on this clock.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Advances the clock and wakes the tasks that are due, the earliest first; fractions of a nanosecond are dropped.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now += Self.nanoseconds(duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        }
        for (_, sleeper) in woken { sleeper.continuation.resume(returning: true) }
    }

    /// Waits until at least a number of tasks sleep on this clock.
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

    /// Waits until the clock has been advanced to a time; returns at once if it has already passed.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: UInt64) async throws(CancellationError) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let isWoken = await withTaskCancellationHandler {
            await withCheckedContinuation { addSleeper(id, until: deadline, $0) }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(returning: false)
        }
        guard isWoken else { throw CancellationError() }
    }

    private func addSleeper(_ id: Int, until deadline: UInt64, _ continuation: CheckedContinuation<Bool, Never>) {
        let (answer, watchers): (Bool?, [CheckedContinuation<Void, Never>]) = state.withLock { state in
            if Task.isCancelled { return (false, []) }
            if deadline <= state.now { return (true, []) }
            state.sleepers[id] = (deadline, continuation)
            let count = state.sleepers.count
            let served = state.watchers.filter { $0.count <= count }
            state.watchers.removeAll { $0.count <= count }
            return (nil, served.map(\.continuation))
        }
        if let answer { continuation.resume(returning: answer) }
        watchers.forEach { $0.resume() }
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
    var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    func sleep(until deadline: UInt64) async throws(CancellationError) {
        let rest = Duration.nanoseconds(Int64(clamping: deadline) - Int64(clamping: now))
        guard (try? await Task.sleep(for: rest)) != nil else { throw CancellationError() }
    }
}
