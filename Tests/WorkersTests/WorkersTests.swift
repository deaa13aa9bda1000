// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestTools
import Testing

@testable import Workers

struct WorkersTests {
    /// Counts the resources of threads.
    private final class Resources: Sendable {
        private let state = Mutex((made: 0, closed: 0))
        var made: Int { state.withLock { $0.made } }
        var open: Int { state.withLock { $0.made - $0.closed } }

        func make() -> Int {
            state.withLock { state in
                state.made += 1
                return state.made
            }
        }

        func close() { state.withLock { $0.closed += 1 } }
    }

    private let resources = Resources()

    private func workers(idleTime: UInt64? = nil, niceness: Int = 0) -> Workers<Int> {
        Workers(niceness: niceness, idleTime: idleTime) { [resources] in
            Workers<Int>.Worker(resources.make()) { resources.close() }
        }
    }

    private static func slots(_ count: Int) -> FairSlots {
        FairSlots(
            count: count,
            queue: 4096,
            wait: 600_000_000_000,
            cancelsOldest: false,
            unlimitedSource: nil,
            now: { MonotonicTime.now }
        )
    }

    /// Makes a call, and returns the resource of its thread.
    private static func run(_ workers: Workers<Int>, in slots: FairSlots) async -> Int {
        let first = FirstValue<Int>()
        let owner = JobOwner(source: "here", account: nil)
        _ = workers.begin(for: owner, in: slots) { _ in
            first.set(0)
        } _: { resource, slot in
            {
                slots.release(slot)
                first.set(resource)
            }
        }
        return await first.value()
    }

    @Test(arguments: [0, 5])
    func `calls of many callers use no more threads than there are slots`(niceness: Int) async throws {
        let (workers, slots) = (workers(niceness: niceness), Self.slots(3))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { for _ in 0..<100 { #expect((1...3).contains(await Self.run(workers, in: slots))) } }
            }
        }
        #expect(workers.threads <= 3 && slots.load == (0, 0, 0))
        workers.close()
        try await Waiting.until { workers.threads == 0 && resources.open == 0 }
    }

    @Test func `calls one after the other share a thread, and with it its resource`() async throws {
        let (workers, slots) = (workers(), Self.slots(3))
        for _ in 0..<100 { #expect(await Self.run(workers, in: slots) == 1) }
        #expect(resources.made == 1)
        workers.close()
        try await Waiting.until { resources.open == 0 }
    }

    @Test func `a thread that has been idle ends with its resource, and no call is lost meanwhile`() async throws {
        let (workers, slots) = (workers(idleTime: 50_000), Self.slots(2))
        for _ in 0..<300 {
            _ = await Self.run(workers, in: slots)
            try await Task.sleep(for: .microseconds(50))
        }
        try await Waiting.until { workers.threads == 0 && resources.open == 0 }
        #expect(resources.made > 1)
        #expect(await Self.run(workers, in: slots) == resources.made)
    }

    @Test func `a thread without a call can end itself, and the next call gets another one`() async throws {
        let resources = resources
        let workers = Workers(niceness: 0, idleTime: nil) {
            Workers<Int>.Worker(resources.make(), wait: { _ in false }, wake: {}, close: { resources.close() })
        }
        let slots = Self.slots(1)
        for _ in 0..<100 { #expect(await Self.run(workers, in: slots) > 0) }
        try await Waiting.until { workers.threads == 0 && resources.open == 0 }
    }

    @Test func `a call of workers that are closed meanwhile is completed`() async throws {
        let (workers, latch) = (workers(), Monitor(false))
        let first = FirstValue<Int>()
        #expect(
            workers.begin { resource in
                latch.wait { $0 ? () : nil }
                return { first.set(resource) }
            }
        )
        workers.close()
        latch.withLock { $0 = true }
        latch.wakeAll()
        #expect(await first.value() == 1)
        try await Waiting.until { workers.threads == 0 && resources.open == 0 }
    }
}
