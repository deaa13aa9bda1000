// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestTools
import Testing
import Workers

struct FairSlotsTests {
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
    ) -> FairSlots {
        FairSlots(
            count: count,
            queue: queue,
            wait: 5_000_000_000,
            cancelsOldest: cancelsOldest,
            unlimitedSource: "local",
            now: clock.now
        )
    }

    /// Starts a call, and returns its result: the source, or the refusal.
    private static func start(
        _ slots: FairSlots,
        _ source: String,
        account: String? = nil,
        until latch: Latch
    ) -> Task<String, Never> {
        Task {
            do throws(FairSlots.Refusal) {
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
        #expect(slots.load.waiting == 0)
    }

    @Test(arguments: [false, true])
    func `a full queue refuses the new call or the oldest one`(cancelsOldest: Bool) async throws {
        let (slots, latch) = (Self.slots(1, queue: 1, cancelsOldest: cancelsOldest), Latch())
        let running = Self.start(slots, "a", until: latch)
        // The first call has the slot when the second call waits.
        try await Waiting.until { slots.load.held == 1 }
        let waiting = Self.start(slots, "b", until: latch)
        try await Waiting.until { slots.load.waiting == 1 }
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
        try await Waiting.until { slots.load.held == 1 }
        let waiting = Self.start(slots, "b", until: latch)
        try await Waiting.until { slots.load.waiting == 1 }
        waiting.cancel()
        #expect(await waiting.value == "cancelled")
        #expect(slots.load.waiting == 0)
        latch.open()
        #expect(await running.value == "a")
        #expect(slots.load.held == 0)
    }

    @Test func `a call that has waited too long is rejected`() async throws {
        let clock = Clock()
        let (slots, latch) = (Self.slots(1, queue: 5, clock: clock), Latch())
        let running = Self.start(slots, "a", until: latch)
        try await Waiting.until { slots.load.held == 1 }
        let early = Self.start(slots, "b", until: latch)
        try await Waiting.until { slots.load.waiting == 1 }
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
        try await Waiting.until { slots.load.held == 1 }
        let cancelled = Self.start(slots, "b", until: latch)
        try await Waiting.until { slots.load.waiting == 1 }
        let late = Self.start(slots, "c", until: latch)
        try await Waiting.until { slots.load.waiting == 2 }
        clock.advance(seconds: 5)
        cancelled.cancel()
        #expect(await cancelled.value == "cancelled")
        // The only slot is still held.
        try await Waiting.until { slots.load.waiting == 0 }
        #expect(await late.value == "timedOut")
        latch.open()
        #expect(await running.value == "a")
    }

    @Test func `the end of a call lets all calls run that had to wait beside free slots`() async throws {
        let (slots, first, others) = (Self.slots(4, queue: 5), Latch(), Latch())
        let running = (0..<2).map { _ in Self.start(slots, "a", until: first) }
        try await Waiting.until { slots.load.held == 2 }
        let waiting = (0..<2).map { _ in Self.start(slots, "a", until: others) }
        try await Waiting.until { slots.load.waiting == 2 }
        #expect(slots.load.held == 2)
        first.open()
        for call in running { #expect(await call.value == "a") }
        try await Waiting.until { slots.load.waiting == 0 && slots.load.held == 2 }
        others.open()
        for call in waiting { #expect(await call.value == "a") }
        #expect(slots.load.held == 0)
    }

    @Test func `the end of a call lets calls of the same client and of the same user run`() async throws {
        let (slots, first, others) = (Self.slots(2, queue: 5), Latch(), Latch())
        let running = Self.start(slots, "a", account: "ann", until: first)
        try await Waiting.until { slots.load.held == 1 }
        let waiting = [
            Self.start(slots, "a", account: "bob", until: others),
            Self.start(slots, "b", account: "ann", until: others),
        ]
        try await Waiting.until { slots.load.waiting == 2 }
        first.open()
        #expect(await running.value == "a")
        try await Waiting.until { slots.load.waiting == 0 && slots.load.held == 2 }
        others.open()
        #expect(await [waiting[0].value, waiting[1].value] == ["a", "b"])
    }

    /// The answers to requests, by the names of these.
    private final class Answers: Sendable {
        private let state = Mutex<[String: Result<FairSlots.Slot, FairSlots.Refusal>]>([:])

        func request(
            _ name: String,
            of slots: FairSlots,
            source: String? = nil,
            account: String? = nil,
            weight: Int = 0
        ) -> UInt64 {
            let owner = JobOwner(source: source ?? name, account: account)
            return slots.request(for: owner, weight: weight) { answer in self.state.withLock { $0[name] = answer } }
        }

        func slot(_ name: String) -> FairSlots.Slot? { state.withLock { try? $0[name]?.get() } }

        func refusal(_ name: String) -> FairSlots.Refusal? {
            guard case .failure(let refusal) = state.withLock({ $0[name] }) else { return nil }
            return refusal
        }
    }

    @Test func `a call that waits for its client does not keep the calls of its user from elsewhere`() throws {
        let (slots, answers) = (Self.slots(2, queue: 5), Answers())
        _ = answers.request("busy", of: slots)
        let first = answers.request("first", of: slots, source: "busy", account: "ann")
        _ = answers.request("second", of: slots, account: "ann")
        #expect(answers.slot("busy") != nil && answers.slot("first") == nil && answers.slot("second") != nil)
        slots.cancel(first)
        #expect(answers.refusal("first") == .cancelled)
        slots.release(try #require(answers.slot("busy")))
        slots.release(try #require(answers.slot("second")))
        #expect(slots.load == (0, 0, 0))
    }

    @Test(arguments: [true, false])
    func `a heavy call is not passed by light ones before it is cancelled, or late`(isCancelled: Bool) throws {
        let clock = Clock()
        let slots = FairSlots(
            count: 9,
            queue: 9,
            wait: 5_000_000_000,
            cancelsOldest: false,
            unlimitedSource: nil,
            capacity: 10,
            now: clock.now
        )
        let answers = Answers()
        _ = answers.request("running", of: slots, weight: 6)
        let heavy = answers.request("heavy", of: slots, weight: 5)
        clock.advance(seconds: 3)
        for number in 1...3 { _ = answers.request("light\(number)", of: slots, source: "light", weight: 2) }
        #expect(slots.load == (1, 4, 6))
        if isCancelled {
            slots.cancel(heavy)
        } else {
            clock.advance(seconds: 2)
            slots.rejectLate()
        }
        #expect(answers.refusal("heavy") == (isCancelled ? .cancelled : .timedOut))
        #expect(answers.slot("light1") != nil && answers.slot("light2") != nil && answers.slot("light3") == nil)
        #expect(slots.load == (3, 1, 10))
        slots.release(try #require(answers.slot("running")))
        #expect(slots.load == (3, 0, 6))
    }

    @Test func `a call that has ended before its slot is free lets others wait, of the same client and user`() throws {
        let (slots, answers) = (Self.slots(2, queue: 0), Answers())
        _ = answers.request("1", of: slots, source: "a", account: "ann")
        _ = answers.request("2", of: slots, source: "a", account: "ann")
        #expect(answers.refusal("2") == .full)
        slots.finish(try #require(answers.slot("1")))
        _ = answers.request("3", of: slots, source: "a", account: "ann")
        #expect(answers.slot("3") != nil)
        _ = answers.request("4", of: slots)
        #expect(slots.load.held == 2 && slots.load.waiting == 1)
        _ = answers.request("5", of: slots)
        #expect(answers.refusal("5") == .full)
        slots.free()
        #expect(answers.slot("4") != nil && slots.load.held == 2)
    }

    @Test(.timeLimit(.minutes(1)))
    func `every call has an answer, and no slot is lost, whatever is cancelled`() async throws {
        let slots = Self.slots(3, queue: 20)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    let owner = JobOwner(source: "\(number % 7)", account: "user\(number % 5)")
                    _ = try? await slots.run(for: owner) { await Task.yield() }
                }
                if number % 40 == 0 { await group.next() }
            }
            group.cancelAll()
        }
        #expect(slots.load == (0, 0, 0))
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
