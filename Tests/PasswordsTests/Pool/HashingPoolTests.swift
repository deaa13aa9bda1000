// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import Synchronization
import TestTools
import Testing
import Workers

@testable import Passwords

@Suite struct HashingPoolTests {
    /// Provides work that blocks until ``open()`` is called, and a clock that the test advances.
    final class Stage: Sendable {
        struct State {
            var time: UInt64 = 1_000_000_000
            var isOpen = false
            var running = 0
            var most = 0
            var done: [String] = []
        }
        let monitor = Monitor(State())

        var time: UInt64 { monitor.withLock { $0.time } }
        var done: [String] { monitor.withLock { $0.done } }
        var most: Int { monitor.withLock { $0.most } }
        var running: Int { monitor.withLock { $0.running } }

        func pass(_ seconds: UInt64) { monitor.withLock { $0.time += seconds * 1_000_000_000 } }

        func open() {
            monitor.withLock { $0.isOpen = true }
            monitor.wakeAll()
        }

        func work(_ name: String) -> HashingResult {
            monitor.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
            }
            monitor.wait { $0.isOpen ? () : nil }
            monitor.withLock { state in
                state.running -= 1
                state.done.append(name)
            }
            return .checked(true)
        }
    }

    private let stage = Stage()

    private func makePool(_ change: (inout HashingSettings) -> Void = { _ in }) -> HashingPool {
        var settings = HashingSettings(workers: 1)
        settings.memory = 1000
        change(&settings)
        return HashingPool(settings) { [stage] in stage.time }
    }

    /// Submits a job, and returns when the job is queued, running or rejected.
    private func submit(
        _ pool: HashingPool,
        _ name: String,
        memory: Int = 0,
        source: String = "a",
        key: Digest? = nil
    ) async throws -> Task<Result<Bool, FairSlots.Refusal>, Never> {
        let before = pool.statistics
        let stage = stage
        let task = Task { () -> Result<Bool, FairSlots.Refusal> in
            do throws(FairSlots.Refusal) {
                let hashed = try await pool.run(memory: memory, source: source, key: key) { stage.work(name) }
                guard case .checked(let isRight) = hashed.result else { return .success(false) }
                return .success(isRight)
            } catch {
                return .failure(error)
            }
        }
        let seen = { (numbers: HashingStatistics) in
            numbers.running + numbers.waiting + numbers.computed + numbers.coalesced + numbers.refused
                + numbers.timedOut
        }
        try await Waiting.until { seen(pool.statistics) > seen(before) }
        return task
    }

    private func running(_ pool: HashingPool, _ count: Int) async throws {
        // The pool counts a job as running shortly before its work begins.
        try await Waiting.until { pool.statistics.running >= count && stage.running >= count }
    }

    @Test func `at most as many jobs run as there are slots, and all jobs are computed`() async throws {
        let pool = makePool { $0.workers = 3 }
        var tasks: [Task<Result<Bool, FairSlots.Refusal>, Never>] = []
        for number in 1...20 { tasks.append(try await submit(pool, "\(number)", source: "\(number % 4)")) }
        try await running(pool, 3)
        #expect(pool.statistics.waiting == 17)
        stage.open()
        for task in tasks { #expect(await task.value == .success(true)) }
        #expect(stage.most == 3)
        #expect(pool.statistics.computed == 20)
        #expect(pool.statistics.running == 0)
        #expect(pool.statistics.memory == 0)
    }

    @Test func `a job waits for memory even if a slot is free`() async throws {
        let pool = makePool { $0.workers = 8 }
        var tasks: [Task<Result<Bool, FairSlots.Refusal>, Never>] = []
        for number in 1...8 { tasks.append(try await submit(pool, "\(number)", memory: 400)) }
        try await running(pool, 2)
        #expect(pool.statistics.memory == 800)
        stage.open()
        for task in tasks { #expect(await task.value == .success(true)) }
        #expect(stage.most == 2)
    }

    @Test func `a job that needs more memory than the limit is rejected`() async throws {
        stage.open()
        let pool = makePool()
        await #expect(throws: FairSlots.Refusal.full) {
            _ = try await pool.run(memory: 1001, source: "a", key: nil) { .checked(true) }
        }
    }

    @Test func `identical checks are computed once, and all callers get the result`() async throws {
        let pool = makePool()
        let key = try Digest.sha256([1])
        let other = try Digest.sha256([2])
        let first = try await submit(pool, "first", key: key)
        try await running(pool, 1)
        let joined = try await submit(pool, "joined", source: "b", key: key)
        let second = try await submit(pool, "second", key: other)
        let joinedWaiting = try await submit(pool, "joined too", key: other)
        stage.open()
        for task in [first, joined, second, joinedWaiting] { #expect(await task.value == .success(true)) }
        #expect(stage.done == ["first", "second"])
        #expect(pool.statistics.coalesced == 2)
        // A later check is computed again, because the password may have changed.
        let later = try await submit(pool, "later", key: key)
        #expect(await later.value == .success(true))
        #expect(stage.done == ["first", "second", "later"])
    }

    @Test func `a full queue rejects new jobs, and keeps the waiting jobs`() async throws {
        let pool = makePool { $0.queue = 2 }
        let first = try await submit(pool, "1")
        try await running(pool, 1)
        let tasks = [first, try await submit(pool, "2"), try await submit(pool, "3")]
        let fourth = try await submit(pool, "4")
        #expect(await fourth.value == .failure(.full))
        stage.open()
        for task in tasks { #expect(await task.value == .success(true)) }
        #expect(pool.statistics.refused == 1)
    }

    @Test func `if one source fills the queue, its newest job is rejected for a job of another source`() async throws {
        let pool = makePool { $0.queue = 3 }
        let first = try await submit(pool, "0", source: "flood")
        try await running(pool, 1)
        let flood = [
            try await submit(pool, "1", source: "flood"), try await submit(pool, "2", source: "flood"),
            try await submit(pool, "3", source: "flood"),
        ]
        let ann = try await submit(pool, "ann", source: "ann")
        #expect(await flood[2].value == .failure(.full))
        stage.open()
        #expect(await ann.value == .success(true))
        for task in [first, flood[0], flood[1]] { #expect(await task.value == .success(true)) }
        #expect(stage.done == ["0", "1", "ann", "2"])
    }

    @Test func `with cancelOldest the oldest waiting job is rejected for a new job`() async throws {
        let pool = makePool { settings in
            settings.queue = 2
            settings.whenFull = .cancelOldest
        }
        let first = try await submit(pool, "0")
        try await running(pool, 1)
        let old = try await submit(pool, "1")
        let young = [try await submit(pool, "2"), try await submit(pool, "3")]
        #expect(await old.value == .failure(.full))
        stage.open()
        for task in [first] + young { #expect(await task.value == .success(true)) }
    }

    @Test func `a job that has waited too long is rejected when another job arrives or ends`() async throws {
        let pool = makePool { $0.wait = .seconds(5) }
        let first = try await submit(pool, "0")
        try await running(pool, 1)
        let late = try await submit(pool, "1")
        stage.pass(4)
        let inTime = try await submit(pool, "2")
        stage.pass(1)
        stage.open()
        #expect(await late.value == .failure(.timedOut))
        #expect(await first.value == .success(true))
        #expect(await inTime.value == .success(true))
        #expect(pool.statistics.timedOut == 1)
        #expect(stage.done == ["0", "2"])
    }

    @Test func `a cancelled request leaves the queue, and other requests for the same check stay`() async throws {
        let pool = makePool()
        let key = try Digest.sha256([1])
        let first = try await submit(pool, "0")
        try await running(pool, 1)
        let alone = try await submit(pool, "alone")
        let shared = try await submit(pool, "shared", key: key)
        let other = try await submit(pool, "other", key: key)
        alone.cancel()
        shared.cancel()
        #expect(await alone.value == .failure(.cancelled))
        #expect(await shared.value == .failure(.cancelled))
        #expect(pool.statistics.waiting == 1)
        stage.open()
        #expect(await first.value == .success(true))
        #expect(await other.value == .success(true))
        #expect(stage.done == ["0", "shared"])
        #expect(pool.statistics.cancelled == 2)
    }

    @Test func `a request of a cancelled task is not computed`() async throws {
        stage.open()
        let pool = makePool()
        let latch = Latch()
        let task = Task { () -> Result<TimedHashingResult, FairSlots.Refusal> in
            await latch.pass()
            do throws(FairSlots.Refusal) {
                return .success(try await pool.run(memory: 0, source: "a", key: nil) { .checked(true) })
            } catch {
                return .failure(error)
            }
        }
        task.cancel()
        latch.open()
        guard case .failure(.cancelled) = await task.value else {
            Issue.record("the check was computed")
            return
        }
        #expect(pool.statistics.computed == 0)
    }

    @Test func `ten thousand requests of a hundred tasks all return, including cancelled requests`() async throws {
        stage.open()
        let pool = makePool { settings in
            settings.workers = 4
            settings.queue = 50
        }
        let answers = await withTaskGroup(of: Int.self) { group in
            for source in 0..<100 {
                group.addTask {
                    var answers = 0
                    for round in 0..<100 {
                        let task = Task {
                            do throws(FairSlots.Refusal) {
                                _ = try await pool.run(memory: 300, source: "\(source % 7)", key: nil) {
                                    .checked(true)
                                }
                            } catch {
                                return
                            }
                        }
                        if (source + round).isMultiple(of: 5) { task.cancel() }
                        await task.value
                        answers += 1
                    }
                    return answers
                }
            }
            return await group.reduce(0, +)
        }
        #expect(answers == 10_000)
        try await Waiting.until { pool.statistics.running == 0 && pool.statistics.waiting == 0 }
        #expect(pool.statistics.memory == 0)
    }
}
