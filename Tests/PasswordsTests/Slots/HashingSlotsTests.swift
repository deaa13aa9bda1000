// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import OpenSSLKit
import Synchronization
import Testing

@testable import Passwords

@Suite(.timeLimit(.minutes(1))) struct HashingSlotsTests {
    /// Work that goes on until it is let go, and time that stands still until it is moved.
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

    private func slots(_ change: (inout HashingSettings) -> Void = { _ in }) -> HashingSlots {
        var settings = HashingSettings(workers: 1)
        settings.memory = 1000
        change(&settings)
        return HashingSlots(settings) { [stage] in stage.time }
    }

    /// Asks, and comes back when the question is in the queue, in work or refused.
    private func ask(
        _ slots: HashingSlots,
        _ name: String,
        memory: Int = 0,
        source: String = "a",
        key: Digest? = nil
    ) async -> Task<Result<Bool, HashingRefusal>, Never> {
        let before = slots.numbers
        let stage = stage
        let task = Task { () -> Result<Bool, HashingRefusal> in
            do throws(HashingRefusal) {
                let hashed = try await slots.run(memory: memory, source: source, key: key) { stage.work(name) }
                guard case .checked(let isRight) = hashed.result else { return .success(false) }
                return .success(isRight)
            } catch {
                return .failure(error)
            }
        }
        while true {
            let now = slots.numbers
            let seen = { (numbers: HashingNumbers) in
                numbers.running + numbers.waiting + numbers.computed + numbers.coalesced + numbers.refused
                    + numbers.late
            }
            if seen(now) > seen(before) { return task }
            await Task.yield()
        }
    }

    private func running(_ slots: HashingSlots, _ count: Int) async {
        // Where a slot is taken the work has not begun yet.
        while slots.numbers.running < count || stage.running < count { await Task.yield() }
    }

    @Test func `no more run than there are slots, and all are computed`() async {
        let slots = slots { $0.workers = 3 }
        var tasks: [Task<Result<Bool, HashingRefusal>, Never>] = []
        for number in 1...20 { tasks.append(await ask(slots, "\(number)", source: "\(number % 4)")) }
        await running(slots, 3)
        #expect(slots.numbers.waiting == 17)
        stage.open()
        for task in tasks { #expect(await task.value == .success(true)) }
        #expect(stage.most == 3)
        #expect(slots.numbers.computed == 20)
        #expect(slots.numbers.running == 0)
        #expect(slots.numbers.memory == 0)
    }

    @Test func `no more memory is taken than there may be, whatever slots are free`() async {
        let slots = slots { $0.workers = 8 }
        var tasks: [Task<Result<Bool, HashingRefusal>, Never>] = []
        for number in 1...8 { tasks.append(await ask(slots, "\(number)", memory: 400)) }
        await running(slots, 2)
        #expect(slots.numbers.memory == 800)
        stage.open()
        for task in tasks { #expect(await task.value == .success(true)) }
        #expect(stage.most == 2)
    }

    @Test func `what takes more than all memory is never computed`() async {
        stage.open()
        let slots = slots()
        await #expect(throws: HashingRefusal.tooBig) {
            _ = try await slots.run(memory: 1001, source: "a", key: nil) { .checked(true) }
        }
    }

    @Test func `identical questions are computed once and all are answered`() async throws {
        let slots = slots()
        let key = try Digest.sha256([1])
        let other = try Digest.sha256([2])
        let first = await ask(slots, "first", key: key)
        await running(slots, 1)
        let joined = await ask(slots, "joined", source: "b", key: key)
        let second = await ask(slots, "second", key: other)
        let joinedWaiting = await ask(slots, "joined too", key: other)
        stage.open()
        for task in [first, joined, second, joinedWaiting] { #expect(await task.value == .success(true)) }
        #expect(stage.done == ["first", "second"])
        #expect(slots.numbers.coalesced == 2)
        // What comes afterwards is a question of its own: the password may be another by then.
        let later = await ask(slots, "later", key: key)
        #expect(await later.value == .success(true))
        #expect(stage.done == ["first", "second", "later"])
    }

    @Test func `a full queue refuses, and takes nothing from those who wait`() async {
        let slots = slots { $0.queue = 2 }
        let first = await ask(slots, "1")
        await running(slots, 1)
        let tasks = [first, await ask(slots, "2"), await ask(slots, "3")]
        let fourth = await ask(slots, "4")
        #expect(await fourth.value == .failure(.full))
        stage.open()
        for task in tasks { #expect(await task.value == .success(true)) }
        #expect(slots.numbers.refused == 1)
    }

    @Test func `a source that fills the queue makes room for another`() async {
        let slots = slots { $0.queue = 3 }
        let first = await ask(slots, "0", source: "flood")
        await running(slots, 1)
        let flood = [
            await ask(slots, "1", source: "flood"), await ask(slots, "2", source: "flood"),
            await ask(slots, "3", source: "flood"),
        ]
        let ann = await ask(slots, "ann", source: "ann")
        #expect(await flood[2].value == .failure(.full))
        stage.open()
        #expect(await ann.value == .success(true))
        for task in [first, flood[0], flood[1]] { #expect(await task.value == .success(true)) }
        #expect(stage.done == ["0", "1", "ann", "2"])
    }

    @Test func `where the policy says so the oldest makes room`() async {
        let slots = slots { settings in
            settings.queue = 2
            settings.whenFull = .cancelOldest
        }
        let first = await ask(slots, "0")
        await running(slots, 1)
        let old = await ask(slots, "1")
        let young = [await ask(slots, "2"), await ask(slots, "3")]
        #expect(await old.value == .failure(.full))
        stage.open()
        for task in [first] + young { #expect(await task.value == .success(true)) }
    }

    @Test func `who has waited too long is told so when the next one comes`() async {
        let slots = slots { $0.wait = .seconds(5) }
        let first = await ask(slots, "0")
        await running(slots, 1)
        let late = await ask(slots, "1")
        stage.pass(4)
        let inTime = await ask(slots, "2")
        stage.pass(1)
        stage.open()
        #expect(await late.value == .failure(.late))
        #expect(await first.value == .success(true))
        #expect(await inTime.value == .success(true))
        #expect(slots.numbers.late == 1)
        #expect(stage.done == ["0", "2"])
    }

    @Test func `a client that leaves frees its place, and the others of its question stay`() async throws {
        let slots = slots()
        let key = try Digest.sha256([1])
        let first = await ask(slots, "0")
        await running(slots, 1)
        let alone = await ask(slots, "alone")
        let shared = await ask(slots, "shared", key: key)
        let other = await ask(slots, "other", key: key)
        alone.cancel()
        shared.cancel()
        #expect(await alone.value == .failure(.cancelled))
        #expect(await shared.value == .failure(.cancelled))
        #expect(slots.numbers.waiting == 1)
        stage.open()
        #expect(await first.value == .success(true))
        #expect(await other.value == .success(true))
        #expect(stage.done == ["0", "shared"])
        #expect(slots.numbers.cancelled == 2)
    }

    @Test func `a task that is cancelled beforehand never gets in`() async {
        stage.open()
        let slots = slots()
        let gate = Stage()
        let task = Task { () -> Result<Hashed, HashingRefusal> in
            while !gate.monitor.withLock({ $0.isOpen }) { await Task.yield() }
            do throws(HashingRefusal) {
                return .success(try await slots.run(memory: 0, source: "a", key: nil) { .checked(true) })
            } catch {
                return .failure(error)
            }
        }
        task.cancel()
        gate.open()
        guard case .failure(.cancelled) = await task.value else {
            Issue.record("it was computed")
            return
        }
        #expect(slots.numbers.computed == 0)
    }

    @Test func `ten thousand questions from a hundred tasks, some of whom leave, all have an answer`() async {
        stage.open()
        let slots = slots { settings in
            settings.workers = 4
            settings.queue = 50
        }
        let answers = await withTaskGroup(of: Int.self) { group in
            for source in 0..<100 {
                group.addTask {
                    var answers = 0
                    for round in 0..<100 {
                        let task = Task {
                            do throws(HashingRefusal) {
                                _ = try await slots.run(memory: 300, source: "\(source % 7)", key: nil) {
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
        while slots.numbers.running > 0 || slots.numbers.waiting > 0 { await Task.yield() }
        #expect(slots.numbers.memory == 0)
    }
}
