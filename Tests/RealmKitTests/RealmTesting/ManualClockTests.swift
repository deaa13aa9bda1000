// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct ManualClockTests {
    @Test func `the clock moves only when advanced, and wakes the tasks that are due`() async throws {
        let clock = ManualClock(now: 5)
        #expect(clock.now == 5)
        try await clock.sleep(until: 5)
        let woken = CapturedValue<UInt64>()
        let early = Task {
            try await clock.sleep(until: 10)
            woken.set(clock.now)
        }
        let late = Task { try await clock.sleep(until: 20) }
        await clock.untilAsleep(2)
        clock.advance(by: .nanoseconds(4))
        #expect(clock.sleeperCount == 2)
        clock.advance(by: .nanoseconds(1))
        try await early.value
        #expect(woken.value == 10)
        #expect(clock.sleeperCount == 1)
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a cancelled task does not sleep`() async {
        let clock = ManualClock()
        let begin = RecordingConversation([.held(.silent)])
        let task = Task {
            _ = try await begin.answer([])
            try await clock.sleep(until: 10)
        }
        await begin.untilCalled()
        task.cancel()
        begin.release()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }
}
