// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestTools
import Testing
import Workers

struct CallSlotsTests {
    private final class Clock: Sendable {
        private let time = Mutex<UInt64>(0)
        var now: @Sendable () -> UInt64 { { self.time.withLock { $0 } } }
        func advance(seconds: UInt64) { time.withLock { $0 += seconds * 1_000_000_000 } }
    }

    /// Counts running calls.
    private final class Running: Sendable {
        private let state = Mutex((now: 0, most: 0))

        var most: Int { state.withLock { $0.most } }

        func begin() {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
        }

        func end() { state.withLock { $0.now -= 1 } }
    }

    private static func slots(
        _ count: Int,
        queue: Int,
        cancelsOldest: Bool = false,
        clock: Clock = Clock()
    ) -> CallSlots {
        CallSlots(
            count: count,
            queue: queue,
            wait: .seconds(5),
            cancelsOldest: cancelsOldest,
            unlimitedSource: "local",
            now: clock.now
        )
    }

    /// Starts a call, and returns its result: the source, or the refusal.
    private static func start(
        _ slots: CallSlots,
        _ source: String,
        account: String? = nil,
        until latch: Latch
    ) -> Task<String, Never> {
        Task {
            do throws(CallSlots.Refusal) {
                return try await slots.run(for: JobOwner(source: source, account: account)) {
                    await latch.pass()
                    return source
                }
            } catch {
                return "\(error)"
            }
        }
    }

    @Test func `no more calls run than there are slots`() async throws {
        let slots = Self.slots(3, queue: 1000)
        let running = Running()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    _ = try? await slots.run(for: JobOwner(source: "\(number % 7)", account: nil)) {
                        running.begin()
                        await Task.yield()
                        running.end()
                    }
                }
            }
        }
        #expect(running.most == 3)
        #expect(slots.waitingCalls == 0)
    }

    @Test(arguments: [false, true])
    func `a full queue refuses the new call or the oldest one`(cancelsOldest: Bool) async throws {
        let (slots, latch) = (Self.slots(1, queue: 1, cancelsOldest: cancelsOldest), Latch())
        let running = Self.start(slots, "a", until: latch)
        // The first call has the slot when the second call waits.
        try await Waiting.until { slots.freeSlots == 0 }
        let waiting = Self.start(slots, "b", until: latch)
        try await Waiting.until { slots.waitingCalls == 1 }
        let last = Self.start(slots, "b", until: latch)
        let refused = cancelsOldest ? waiting : last
        #expect(await refused.value == "full")
        latch.open()
        #expect(await running.value == "a")
        #expect(await (cancelsOldest ? last : waiting).value == "b")
    }

    @Test func `a cancelled call leaves the queue`() async throws {
        let (slots, latch) = (Self.slots(1, queue: 5), Latch())
        let running = Self.start(slots, "a", until: latch)
        try await Waiting.until { slots.freeSlots == 0 }
        let waiting = Self.start(slots, "b", until: latch)
        try await Waiting.until { slots.waitingCalls == 1 }
        waiting.cancel()
        #expect(await waiting.value == "cancelled")
        #expect(slots.waitingCalls == 0)
        latch.open()
        #expect(await running.value == "a")
        #expect(slots.freeSlots == 1)
    }

    @Test func `a call that has waited too long is rejected`() async throws {
        let clock = Clock()
        let (slots, latch) = (Self.slots(1, queue: 5, clock: clock), Latch())
        let running = Self.start(slots, "a", until: latch)
        try await Waiting.until { slots.freeSlots == 0 }
        let early = Self.start(slots, "b", until: latch)
        try await Waiting.until { slots.waitingCalls == 1 }
        clock.advance(seconds: 5)
        let late = Self.start(slots, "c", until: latch)
        #expect(await early.value == "timedOut")
        latch.open()
        #expect(await running.value == "a")
        #expect(await late.value == "c")
    }

    @Test func `a cancelled call lets those be rejected that have waited too long`() async throws {
        let clock = Clock()
        let (slots, latch) = (Self.slots(1, queue: 5, clock: clock), Latch())
        let running = Self.start(slots, "a", until: latch)
        try await Waiting.until { slots.freeSlots == 0 }
        let cancelled = Self.start(slots, "b", until: latch)
        try await Waiting.until { slots.waitingCalls == 1 }
        let late = Self.start(slots, "c", until: latch)
        try await Waiting.until { slots.waitingCalls == 2 }
        clock.advance(seconds: 5)
        cancelled.cancel()
        #expect(await cancelled.value == "cancelled")
        // The only slot is still held.
        try await Waiting.until { slots.waitingCalls == 0 }
        #expect(await late.value == "timedOut")
        latch.open()
        #expect(await running.value == "a")
    }

    @Test func `the end of a call lets all calls run that had to wait beside free slots`() async throws {
        let (slots, first, others) = (Self.slots(4, queue: 5), Latch(), Latch())
        let running = (0..<2).map { _ in Self.start(slots, "a", until: first) }
        try await Waiting.until { slots.freeSlots == 2 }
        let waiting = (0..<2).map { _ in Self.start(slots, "a", until: others) }
        try await Waiting.until { slots.waitingCalls == 2 }
        #expect(slots.freeSlots == 2)
        first.open()
        for call in running { #expect(await call.value == "a") }
        try await Waiting.until { slots.waitingCalls == 0 && slots.freeSlots == 2 }
        others.open()
        for call in waiting { #expect(await call.value == "a") }
        #expect(slots.freeSlots == 4)
    }

    @Test func `the end of a call, or of a wait, lets calls of the same client and of the same user run`() async throws
    {
        let (slots, first, others) = (Self.slots(2, queue: 5), Latch(), Latch())
        let running = Self.start(slots, "a", account: "ann", until: first)
        try await Waiting.until { slots.freeSlots == 1 }
        let waiting = [
            Self.start(slots, "a", account: "bob", until: others),
            Self.start(slots, "b", account: "ann", until: others),
        ]
        try await Waiting.until { slots.waitingCalls == 2 }
        first.open()
        #expect(await running.value == "a")
        try await Waiting.until { slots.waitingCalls == 0 && slots.freeSlots == 0 }
        others.open()
        #expect(await [waiting[0].value, waiting[1].value] == ["a", "b"])
        // A call that waits for its source holds the place of its user until it is cancelled.
        let last = Latch()
        let busy = Self.start(slots, "a", until: last)
        try await Waiting.until { slots.freeSlots == 1 }
        let cancelled = Self.start(slots, "a", account: "ann", until: last)
        try await Waiting.until { slots.waitingCalls == 1 }
        let next = Self.start(slots, "b", account: "ann", until: last)
        try await Waiting.until { slots.waitingCalls == 2 }
        cancelled.cancel()
        #expect(await cancelled.value == "cancelled")
        try await Waiting.until { slots.waitingCalls == 0 && slots.freeSlots == 0 }
        last.open()
        #expect(await [busy.value, next.value] == ["a", "b"])
    }

    @Test func `a shared call is made again after its callers have left`() async throws {
        let shared = SharedCalls<String, Int>()
        let latch = Latch()
        let running = Running()
        let call: @Sendable () async -> Int = {
            running.begin()
            await latch.pass()
            return Task.isCancelled ? -1 : 1
        }
        let first = Task { await shared.value(of: "a", call) }
        try await Waiting.until { running.most == 1 }
        first.cancel()
        #expect(await first.value == nil)
        let second = Task { await shared.value(of: "a", call) }
        try await Waiting.until { running.most == 2 }
        latch.open()
        #expect(await second.value == 1)
        #expect(shared.waitingCallers == 0)
    }
}
