// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Synchronization
import TestTools
import Testing
import Workers

@testable import HelperProcesses

struct HelperPoolTests {
    private let folder: ProgramFolder

    init() throws { folder = try ProgramFolder() }

    /// Starts a program and returns its end.
    private func exit(of program: HelperProgram, log: RealmLog? = nil) async throws -> HelperProcess.Exit {
        let pool = HelperPool(HelperPoolSettings(), log: log)
        return try await pool.run(for: JobOwner(source: "here", account: nil)) { slot, call throws(HelperFault) in
            let process = try slot.process(program)
            while try process.wait(for: .end, call: call) != .ended {}
            return process.end()
        }
    }

    @Test(arguments: [
        ("exit 0", HelperProcess.Exit.status(0)), ("exit 7", .status(7)), ("kill -TERM $$", .signal(15)),
        ("kill -SEGV $$", .signal(11)),
    ])
    func `the end of a program is known`(script: String, exit: HelperProcess.Exit) async throws {
        #expect(try await self.exit(of: HelperProgram(try folder.script(script))) == exit)
    }

    @Test func `a program that cannot be started is a fault with the system's reason`() async throws {
        let missing = HelperProgram(folder.file("missing"))
        let fault = await #expect(throws: HelperFault.self) { try await exit(of: missing) }
        #expect(fault?.code == .cannotStart)
        #expect(fault?.log.contains("cannot be executed: No such file or directory") == true)
        var elsewhere = HelperProgram("/bin/true")
        elsewhere.folder = folder.file("missing")
        let noFolder = await #expect(throws: HelperFault.self) { try await exit(of: elsewhere) }
        #expect(noFolder?.log.contains("working folder") == true)
        let wrong = HelperProgram(try folder.write("\u{7F}ELF not really", to: "wrong", mode: 0o755))
        let format = await #expect(throws: HelperFault.self) { try await exit(of: wrong) }
        #expect(format?.log.contains("Exec format error") == true)
        let withNUL = HelperProgram("/bin/true", arguments: ["a\0b"])
        #expect(await #expect(throws: HelperFault.self) { try await exit(of: withNUL) }?.code == .cannotStart)
        try await Waiting.until { RunningProcesses.zombies == 0 }
    }

    @Test func `a helper has the limits that are set, and writes no core`() async throws {
        var program = HelperProgram(
            try folder.script("(ulimit -d; ulimit -n; grep core /proc/self/limits) >&2")
        )
        program.memory = 64 << 20
        let lines = Events()
        #expect(try await exit(of: program, log: RealmLog { _, line in lines.add(line) }) == .status(0))
        let seen = lines.list
        #expect(seen.prefix(2) == ["helper.sh: 65536", "helper.sh: 256"], "\(seen)")
        #expect(seen.last?.split(separator: " ").suffix(3).map(String.init) == ["1", "1", "bytes"], "\(seen)")
    }

    @Test func `a wake-up of a request that has ended does not wake the next one`() async throws {
        var settings = HelperPoolSettings()
        settings.processes = 1
        let pool = HelperPool(settings, log: nil)
        let first = try await pool.run(for: JobOwner(source: "here", account: nil)) { _, call throws(HelperFault) in
            call
        }
        let program = HelperProgram(try folder.script("exit 7"))
        let event = try await pool.run(for: JobOwner(source: "here", account: nil)) { slot, call throws(HelperFault) in
            first.wakeUp()
            let process = try slot.process(program)
            return try process.wait(for: .end, call: call)
        }
        #expect(event == .ended)
    }

    @Test func `a request longer than the buffer of the socket is sent as a whole`() async throws {
        let pool = HelperPool(HelperPoolSettings(), log: nil)
        let program = HelperProgram(try folder.script("exit $(($(head -c 1048576 <&3 | wc -c) / 8192))"))
        let bytes = Secret(utf8: String(repeating: "lilac...", count: 131_072))
        let exit = try await pool.run(for: JobOwner(source: "here", account: nil)) { slot, call throws(HelperFault) in
            let process = try slot.process(program)
            try process.send(bytes, call: call)
            process.finishSending()
            while try process.wait(for: .end, call: call) != .ended {}
            return process.end()
        }
        #expect(exit == .status(128))
    }

    @Test func `requests of many sources take turns`() async throws {
        var settings = HelperPoolSettings()
        settings.processes = 1
        settings.timeout = .seconds(60)
        let pool = HelperPool(settings, log: nil)
        let events = Events()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                try? await pool.run(for: JobOwner(source: "first", account: nil)) { _, call throws(HelperFault) in
                    events.add("started")
                    while !events.list.contains("open") { try call.check() }
                }
            }
            try? await Waiting.until { !events.list.isEmpty }
            for (number, source) in ["flood", "flood", "flood", "ann"].enumerated() {
                group.addTask {
                    try? await pool.run(for: JobOwner(source: source, account: nil)) { _, _ throws(HelperFault) in
                        events.add(source)
                    }
                }
                try? await Waiting.until { pool.waiting > number }
            }
            events.add("open")
        }
        #expect(events.list == ["started", "open", "flood", "ann", "flood", "flood"])
    }

    @Test func `a client holds at most half of the processes`() async throws {
        var settings = HelperPoolSettings()
        settings.processes = 4
        settings.timeout = .seconds(60)
        let pool = HelperPool(settings, log: nil)
        let events = Events()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    try? await pool.run(for: JobOwner(source: "flood", account: nil)) { _, call throws(HelperFault) in
                        events.add("flood")
                        while !events.list.contains("ann") { try call.check() }
                    }
                }
            }
            try? await Waiting.until { events.list.count >= 2 && pool.waiting >= 4 }
            group.addTask {
                try? await pool.run(for: JobOwner(source: "ann", account: nil)) { _, _ throws(HelperFault) in
                    events.add("ann")
                }
            }
        }
        #expect(events.list.prefix(3) == ["flood", "flood", "ann"])
        #expect(events.list.count == 7)
    }

    @Test func `the end of one request lets two requests run, one of the same client and one of the same user`()
        async throws
    {
        var settings = HelperPoolSettings()
        settings.processes = 2
        settings.timeout = .seconds(30)
        let pool = HelperPool(settings, log: nil)
        let events = Events()
        let isDone = await withTaskGroup(of: Bool.self) { group in
            // Each request ends after the event of the next one.
            let requests = [("a", "ann", "both wait"), ("a", "bob", "b ann"), ("b", "ann", "a bob")]
            for (number, (source, account, end)) in requests.enumerated() {
                group.addTask {
                    do throws(HelperFault) {
                        try await pool.run(for: JobOwner(source: source, account: account)) {
                            _,
                            call throws(HelperFault) in
                            events.add("\(source) \(account)")
                            while !events.list.contains(end) { try call.check() }
                        }
                        return true
                    } catch {
                        return false
                    }
                }
                try? await Waiting.until { number == 0 ? !events.list.isEmpty : pool.waiting >= number }
            }
            events.add("both wait")
            return await group.allSatisfy { $0 }
        }
        #expect(isDone)
        #expect(events.list.prefix(2) == ["a ann", "both wait"])
    }

    @Test func `requests that did not come over a network may hold all processes`() async throws {
        var settings = HelperPoolSettings()
        settings.processes = 4
        settings.timeout = .seconds(60)
        let pool = HelperPool(settings, log: nil)
        let events = Events()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try? await pool.run(for: JobOwner(source: ClientNetwork.source(nil), account: nil)) {
                        _,
                        call throws(HelperFault) in
                        events.add("started")
                        while events.list.count < 4 { try call.check() }
                    }
                }
            }
        }
        #expect(events.list.count == 4)
        #expect(pool.waiting == 0)
    }

    @Test(arguments: [0, 1, 3])
    func `a full queue rejects requests, and free slots need no place in it`(queue: Int) async throws {
        var settings = HelperPoolSettings()
        settings.processes = 2
        settings.queue = queue
        settings.timeout = .seconds(60)
        for _ in 0..<3 {
            let pool = HelperPool(settings, log: nil)
            let events = Events()
            let codes = await withTaskGroup(of: HelperFault.Code?.self) { group in
                for _ in 0..<(queue + 5) {
                    group.addTask {
                        do throws(HelperFault) {
                            try await pool.run(for: JobOwner(source: "here", account: nil)) {
                                _,
                                call throws(HelperFault) in
                                events.add("started")
                                while !events.list.contains("full") { try call.check() }
                            }
                            return nil
                        } catch {
                            events.add("full")
                            return error.code
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            // After the first rejection slots become free, so later requests may be accepted.
            #expect(codes.contains(.full))
            #expect(codes.filter { $0 == nil }.count >= queue + 2)
        }
    }

    @Test func `requests that wait for too long are rejected while the only slot is busy`() async throws {
        var settings = HelperPoolSettings()
        settings.processes = 1
        settings.timeout = .seconds(2)
        let pool = HelperPool(settings, log: nil)
        let program = HelperProgram(try folder.script("sleep 1000"))
        let busy = FirstValue<HelperCall>()
        let events = Events()
        await withTaskGroup(of: HelperFault.Code?.self) { group in
            for number in 0..<5 {
                group.addTask {
                    do throws(HelperFault) {
                        try await pool.run(for: JobOwner(source: "here", account: nil)) {
                            slot,
                            call throws(HelperFault) in
                            // The first request is late when the others are rejected.
                            call.deadline = .max
                            busy.set(call)
                            let process = try slot.process(program)
                            while try process.wait(for: .end, call: call) != .ended {
                                if events.list.count == 4 { call.deadline = 0 }
                            }
                        }
                        return nil
                    } catch {
                        if error.code == .full { events.add("full") }
                        busy.current?.wakeUp()
                        return error.code
                    }
                }
                if number == 0 { try? await Waiting.until { busy.current != nil } }
            }
            // Only the request that had the slot was too slow.
            let codes = await group.reduce(into: [HelperFault.Code?]()) { $0.append($1) }
            #expect(codes.count { $0 == .timedOut } == 1)
            #expect(codes.count { $0 == .full } == 4)
        }
        try await Waiting.until { RunningProcesses.mentioning(folder.path).isEmpty && RunningProcesses.zombies == 0 }
    }

    @Test(arguments: [true, false])
    func `a request that is late while others are answered is an overload for its login`(others: Bool) async throws {
        var settings = HelperPoolSettings()
        settings.timeout = .seconds(600)
        let pool = HelperPool(settings, log: nil)
        let (slow, quick) = (
            HelperProgram(try folder.script("sleep 1000", name: "slow.sh")), HelperProgram(try folder.script("exit 0"))
        )
        let first = FirstValue<HelperCall>()
        let ask = { @Sendable (program: HelperProgram) async throws(HelperFault) in
            try await pool.run(for: JobOwner(source: "here", account: nil)) { slot, call throws(HelperFault) in
                first.set(call)
                let process = try slot.process(program)
                while try process.wait(for: .end, call: call) != .ended {}
            }
        }
        let late = Task { () async -> HelperFault? in
            do throws(HelperFault) { try await ask(slow) } catch { return error }
            return nil
        }
        let call = await first.value()
        if others { try await ask(quick) }
        call.deadline = 0
        call.wakeUp()
        let fault = await late.value
        #expect(fault?.code == .timedOut)
        #expect(fault?.loginFault().kind == (others ? .overloaded : .unavailable))
    }

    @Test(arguments: [1, 2], [1, 1000])
    func `a client that logs in again when it has its answer needs no place in the queue`(
        processes: Int,
        requestsPerProcess: Int
    ) async throws {
        var settings = HelperPoolSettings()
        (settings.processes, settings.queue) = (processes, 0)
        settings.requestsPerProcess = requestsPerProcess
        let pool = HelperPool(settings, log: nil)
        // The task continues on the thread of the slot, which is not free before the next login.
        let numbers = await Task(executorPreference: ResumingExecutor.shared) {
            var numbers: [Int] = []
            for number in 0..<100 {
                let owner = JobOwner(source: "here", account: "ann")
                let answer = try? await pool.run(for: owner) { _, _ throws(HelperFault) in number }
                numbers.append(answer ?? -1)
            }
            return numbers
        }
        .value
        #expect(numbers == Array(0..<100))
        #expect(pool.threads <= processes)
    }

    @Test func `requests of a thread without its wake-up fail, and the next thread may have one`() async throws {
        let isBroken = Atomic(true)
        let pool = HelperPool(HelperPoolSettings(), log: nil) { () throws(HelperFault) -> WakeUp in
            guard !isBroken.load(ordering: .relaxed) else { throw HelperFault(.full, "no eventfd") }
            return try WakeUp()
        }
        let owner = JobOwner(source: "here", account: nil)
        for _ in 0..<20 {
            await #expect(throws: HelperFault(.full, "")) {
                try await pool.run(for: owner) { _, _ throws(HelperFault) in }
            }
        }
        try await Waiting.until { pool.threads == 0 }
        isBroken.store(false, ordering: .relaxed)
        try await pool.run(for: owner) { _, _ throws(HelperFault) in }
        #expect(pool.threads == 1)
    }

    @Test func `a helper that is idle ends after a while, and all end when the pool is released`() async throws {
        let program = HelperProgram(try folder.script("read line <&3"))
        let ask = { @Sendable (pool: HelperPool) async throws(HelperFault) in
            try await pool.run(for: JobOwner(source: "here", account: nil)) { slot, _ throws(HelperFault) in
                _ = try slot.process(program)
            }
        }
        var settings = HelperPoolSettings()
        settings.requestsPerProcess = 1000
        settings.idleTime = .milliseconds(20)
        let short = HelperPool(settings, log: nil)
        try await ask(short)
        try await Waiting.until { short.threads == 0 && RunningProcesses.mentioning(folder.path).isEmpty }
        settings.idleTime = .seconds(3600)
        var pool: HelperPool? = HelperPool(settings, log: nil)
        for _ in 0..<5 { try await ask(try #require(pool)) }
        #expect(RunningProcesses.mentioning(folder.path).count == 1)
        pool = nil
        try await Waiting.until { RunningProcesses.mentioning(folder.path).isEmpty }
    }

    @Test func `the pause after faults is short`() {
        #expect((1...8).map { HelperSlot.backOff($0) / 1_000_000 } == [0, 5, 10, 20, 40, 40, 40, 40])
    }
}
