// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// A time limit in real time; only a failing test reaches it.
struct RealTimeLimit: Sendable {
    let limit: Duration

    init(_ limit: Duration) {
        self.limit = limit
    }

    /// Waits until a condition holds; returns false if it does not hold in time.
    func wait(until condition: @Sendable () async -> Bool) async -> Bool {
        for _ in 0..<1000 {
            if await condition() { return true }
            await Task.yield()
        }
        let begin = ContinuousClock.now
        while begin.duration(to: .now) < limit {
            if await condition() { return true }
            do {
                try await Task.sleep(for: .milliseconds(1))
            } catch {
                return await condition()
            }
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
        do {
            try await ContinuousClock().sleep(until: begin.advanced(by: .nanoseconds(Int64(clamping: deadline))))
        } catch {
            throw CancellationError()
        }
    }
}
