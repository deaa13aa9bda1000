// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import RealmKit
import Synchronization
import TestTools
import Testing
import Workers

@testable import ServerConnections

/// Servers whose behaviour a test sets.
private final class FakeServers: Sendable {
    enum Mode {
        case working, refusing, hanging, closing, failing
        /// Connections are accepted, and calls are not answered.
        case slow
        /// Connections are accepted, and one call is answered with busy.
        case busy
        /// No connection is made, because there are too many.
        case overloaded
    }

    struct State {
        var modes: [Mode]
        var connects: [Int] = []
        var calls: [Int] = []
        var open = 0
        var log: [String] = []
    }

    final class Connection: ServerConnection {
        let number: Int
        let servers: FakeServers
        var isUsable = true

        init(_ number: Int, of servers: FakeServers) {
            (self.number, self.servers) = (number, servers)
            servers.state.withLock { $0.open += 1 }
        }

        func close() { servers.state.withLock { $0.open -= 1 } }

        /// Returns the number of the server.
        func ask(_ call: ServerCall) throws(ServerFault) -> Int {
            servers.state.withLock { $0.calls.append(number) }
            switch servers.mode(number) {
            case .working: return number
            case .refusing, .closing: throw ServerFault(.lost, "closed")
            case .failing: throw ServerFault(.failed, "no such table")
            case .busy: throw ServerFault(.unavailable, "busy")
            case .overloaded: throw ServerFault(.overloaded, "too many connections")
            case .hanging, .slow: throw try servers.hang(call)
            }
        }
    }

    /// The time for which a hanging server is waited for.
    let hangTime = Mutex(Duration.milliseconds(100))

    /// Waits like a connection whose server does not answer.
    func hang(_ call: ServerCall) throws(ServerFault) -> ServerFault {
        let begin = MonotonicTime.now
        while MonotonicTime.now < min(call.deadline, begin &+ hangTime.withLock { $0 }.nanoseconds) {
            try call.check()
            // Other tests need the processor.
            usleep(1000)
        }
        return ServerFault(.timedOut, "no answer in 100 ms")
    }

    let state: Mutex<State>

    init(_ modes: Mode...) { state = Mutex(State(modes: modes)) }

    func mode(_ number: Int) -> Mode { state.withLock { $0.modes[number] } }

    func set(_ number: Int, _ mode: Mode) { state.withLock { $0.modes[number] = mode } }

    var calls: [Int] { state.withLock { $0.calls } }
    var log: [String] { state.withLock { $0.log } }

    func pool(_ change: (inout ServerPoolSettings) -> Void = { _ in }) -> ServerPool<Connection> {
        var settings = ServerPoolSettings()
        settings.checkInterval = .milliseconds(10)
        change(&settings)
        let names = state.withLock { $0.modes.indices.map { "server\($0)" } }
        let servers = Servers<Connection>(names) { [self] number, call throws(ServerFault) in
            state.withLock { $0.connects.append(number) }
            switch mode(number) {
            case .refusing: throw ServerFault(.unreachable, "refused")
            case .hanging: throw try hang(call)
            case .overloaded: throw ServerFault(.overloaded, "too many connections")
            case .working, .closing, .failing, .slow, .busy: return Connection(number, of: self)
            }
        }
        let log = RealmLog { [self] _, line in state.withLock { $0.log.append(line) } }
        return ServerPool(servers, settings: settings, log: log, realmName: "people")
    }
}

/// The owner of calls without limits.
private let anyone = JobOwner(source: ClientNetwork.source(nil), account: nil)

private func ask(
    _ pool: ServerPool<FakeServers.Connection>,
    for owner: JobOwner = anyone,
    note: @escaping @Sendable (String) -> Void = { _ in }
) async throws(ServerFault) -> Int {
    try await pool.run(for: owner, note: note) { connection, call throws(ServerFault) in try connection.ask(call) }
}

struct ServerPoolTests {
    @Test func `calls use the first server, and keep its connection`() async throws {
        let servers = FakeServers(.working, .working)
        let pool = servers.pool()
        for _ in 0..<5 { #expect(try await ask(pool) == 0) }
        #expect(servers.state.withLock { $0.connects } == [0])
    }

    @Test func `servers take turns if so configured`() async throws {
        let servers = FakeServers(.working, .working, .working)
        let pool = servers.pool { $0.isRoundRobin = true }
        var answers: [Int] = []
        for _ in 0..<6 { answers.append(try await ask(pool)) }
        #expect(answers == [0, 1, 2, 0, 1, 2])
    }

    @Test func `a call uses the next server if one refuses, and the first one again when it is back`() async throws {
        let servers = FakeServers(.refusing, .working)
        let pool = servers.pool()
        let notes = Mutex<[String]>([])
        #expect(try await ask(pool) { note in notes.withLock { $0.append(note) } } == 1)
        #expect(notes.withLock { $0 } == ["server0: refused"])
        #expect(servers.log.contains("realm people: server0: refused"))
        servers.set(0, .working)
        try await Waiting.until { servers.log.contains("realm people: server0: the server answers again") }
        #expect(try await ask(pool) == 0)
    }

    @Test func `if a server hangs, each connection pays at most one time-out`() async throws {
        let servers = FakeServers(.working, .working)
        let pool = servers.pool { $0.connections = 3 }
        for _ in 0..<3 { #expect(try await ask(pool) == 0) }
        servers.set(0, .hanging)
        let before = servers.calls.count
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<200 { group.addTask { try await ask(pool) } }
            for try await answer in group { #expect(answer == 1) }
        }
        #expect(servers.calls.dropFirst(before).filter { $0 == 0 }.count <= 3)
    }

    @Test func `a single server that is slow once is not given up`() async throws {
        let servers = FakeServers(.working)
        let pool = servers.pool()
        #expect(try await ask(pool) == 0)
        servers.set(0, .slow)
        await #expect(throws: ServerFault(.timedOut, "")) { try await ask(pool) }
        servers.set(0, .working)
        #expect(try await ask(pool) == 0)
    }

    @Test func `a check that has begun before an answer does not take the server away`() async throws {
        let servers = FakeServers(.working)
        let pool = servers.pool { ($0.connections, $0.checkInterval) = (2, .seconds(60)) }
        // Two connections are open, so that calls need no further one.
        async let one = ask(pool)
        async let other = ask(pool)
        _ = try await (one, other)
        while servers.state.withLock({ $0.connects.count }) < 2 {
            async let one = ask(pool)
            async let other = ask(pool)
            _ = try await (one, other)
        }
        // A call times out, and a check begins, which hangs.
        servers.set(0, .hanging)
        await #expect(throws: ServerFault(.timedOut, "")) { try await ask(pool) }
        servers.hangTime.withLock { $0 = .milliseconds(300) }
        try await Waiting.until { servers.state.withLock { $0.connects.count } > 2 }
        // Calls on the open connection are answered meanwhile, also after the check has failed.
        let checks = servers.state.withLock { $0.connects.count }
        servers.set(0, .working)
        let begin = ContinuousClock.now
        while begin.duration(to: .now) < .milliseconds(500) { #expect(try await ask(pool) == 0) }
        #expect(servers.log.filter { $0.hasSuffix("the server answers again") }.count == 1, "\(servers.log)")
        #expect(servers.state.withLock { $0.connects.count } <= checks + 1)
    }

    @Test func `a fault of a call that has begun before an answer does not take the server away`() {
        let states = ServerStates(count: 1, isRoundRobin: false)
        let fault = ServerFault(.timedOut, "no answer")
        let begin = MonotonicTime.now
        #expect(states.record(fault, of: 0, as: .suspect, begin: begin))
        #expect(!states.recordAnswer(of: 0, begin: begin - 1))
        #expect(states.order() == [0] && states.fault(of: 0) != nil)
        #expect(states.recordAnswer(of: 0, begin: begin + 1))
        #expect(states.fault(of: 0) == nil)
        // The check is still running, so no other one begins.
        #expect(!states.record(fault, of: 0, as: .down, begin: begin))
        #expect(states.fault(of: 0) == nil)
        #expect(!states.recordCheck(fault, of: 0, begin: begin))
        #expect(states.fault(of: 0) == nil)
        // Later faults count.
        let later = MonotonicTime.now + 1
        #expect(states.record(fault, of: 0, as: .suspect, begin: later))
        #expect(states.recordCheck(fault, of: 0, begin: later))
        #expect(states.order() == [])
        #expect(states.recordAnswer(of: 0, begin: later + 1))
        #expect(states.order() == [0])
    }

    @Test func `a server that rejects this program is up only after a check`() {
        let states = ServerStates(count: 1, isRoundRobin: false)
        _ = states.record(ServerFault(.rejected, "wrong password"), of: 0, as: .down, begin: 1)
        #expect(!states.recordAnswer(of: 0, begin: 2))
        #expect(states.order() == [])
        #expect(states.recordUp(0, begin: 1))
        #expect(states.order() == [0])
    }

    @Test func `a server that cannot answer one request is asked the next one`() async throws {
        let servers = FakeServers(.busy)
        let pool = servers.pool { $0.checkInterval = .seconds(60) }
        await #expect(throws: ServerFault(.unavailable, "")) { try await ask(pool) }
        await #expect(throws: ServerFault(.unavailable, "")) { try await ask(pool) }
        #expect(servers.calls == [0, 0])
        // Another server is asked first.
        let two = FakeServers(.busy, .working)
        let other = two.pool()
        #expect(try await ask(other) == 1)
    }

    @Test(arguments: [true, false])
    func `a call that is late while others are answered is an overload`(others: Bool) async throws {
        let servers = FakeServers(.slow)
        servers.hangTime.withLock { $0 = .seconds(600) }
        let pool = servers.pool { $0.timeout = .seconds(600) }
        let late = Task { try await ask(pool) }
        try await Waiting.until { servers.calls.count == 1 }
        servers.set(0, .working)
        if others { #expect(try await ask(pool) == 0) }
        servers.hangTime.withLock { $0 = .zero }
        await #expect(throws: ServerFault(others ? .overloaded : .timedOut, "")) { try await late.value }
    }

    @Test func `servers with too many connections are overloaded, also after their checks have failed`() async throws {
        let servers = FakeServers(.overloaded, .refusing)
        let pool = servers.pool()
        await #expect(throws: ServerFault(.unreachable, "")) { try await ask(pool) }
        await #expect(throws: ServerFault(.overloaded, "")) { try await ask(pool) }
        try await Waiting.until { servers.state.withLock { $0.connects.count { $0 == 0 } } >= 4 }
        await #expect(throws: ServerFault(.overloaded, "")) { try await ask(pool) }
        // Another server is asked first.
        let two = FakeServers(.overloaded, .working)
        let other = two.pool()
        #expect(try await ask(other) == 1)
    }

    @Test func `a call that began before a successful check says nothing about the server any more`() {
        let states = ServerStates(count: 1, isRoundRobin: false)
        let fault = ServerFault(.timedOut, "no answer")
        #expect(states.record(fault, of: 0, as: .suspect, begin: 10))
        #expect(states.recordUp(0, begin: 20))
        #expect(!states.record(fault, of: 0, as: .suspect, begin: 15))
        #expect(states.fault(of: 0) == nil)
        #expect(states.record(fault, of: 0, as: .suspect, begin: 25))
    }

    @Test(arguments: [true, false])
    func `neither one client nor the logins of one user hold all connections`(isOneClient: Bool) async throws {
        let servers = FakeServers(.hanging)
        servers.hangTime.withLock { $0 = .seconds(60) }
        let pool = servers.pool { $0.connections = 4 }
        let calls = (0..<6).map { number in
            let owner = JobOwner(
                source: isOneClient ? "192.0.2.1" : "192.0.2.\(number)",
                account: isOneClient ? "user\(number)" : "ann"
            )
            return Task { try await ask(pool, for: owner) }
        }
        try await Waiting.until { servers.state.withLock { $0.connects.count } == 2 && pool.waitingCalls == 4 }
        servers.set(0, .working)
        #expect(try await ask(pool, for: JobOwner(source: "198.51.100.1", account: "bob")) == 0)
        #expect(pool.waitingCalls == 4)
        #expect(pool.runningCalls == 2)
        for call in calls { call.cancel() }
        for call in calls { _ = await call.result }
        #expect(pool.runningCalls == 0)
    }

    @Test func `calls fail at once while no server is up`() async throws {
        let servers = FakeServers(.refusing, .refusing)
        let pool = servers.pool()
        await #expect(throws: ServerFault(.unreachable, "")) { try await ask(pool) }
        let connects = servers.state.withLock { $0.connects.count }
        let fault = await #expect(throws: ServerFault.self) { try await ask(pool) }
        #expect(fault?.log == "no server answers; server0: refused; server1: refused")
        #expect(servers.calls == [])
        #expect(connects >= 2)
        servers.set(1, .working)
        try await Waiting.until { servers.log.contains("realm people: server1: the server answers again") }
        #expect(try await ask(pool) == 1)
    }

    @Test func `a connection that the server has closed is replaced without a fault`() async throws {
        let servers = FakeServers(.working)
        let pool = servers.pool()
        _ = try await ask(pool)
        let isFirst = Atomic(true)
        let answer = try await pool.run(for: anyone) { connection, call throws(ServerFault) in
            if isFirst.exchange(false, ordering: .relaxed) { throw ServerFault(.lost, "closed") }
            return try connection.ask(call)
        }
        #expect(answer == 0)
        #expect(servers.log == [])
        #expect(servers.state.withLock { $0.connects } == [0, 0])
    }

    @Test func `a call that must not be repeated is made once`() async throws {
        let servers = FakeServers(.closing, .working)
        let pool = servers.pool()
        let calls = Atomic(0)
        await #expect(throws: ServerFault(.lost, "")) {
            try await pool.run(for: anyone, isRepeatable: false) { connection, call throws(ServerFault) in
                calls.add(1, ordering: .relaxed)
                return try connection.ask(call)
            }
        }
        #expect(calls.load(ordering: .relaxed) == 1)
    }

    @Test func `an error of the data is not asked of another server`() async throws {
        let servers = FakeServers(.failing, .working)
        let pool = servers.pool()
        await #expect(throws: ServerFault(.failed, "")) { try await ask(pool) }
        #expect(servers.calls == [0])
        #expect(servers.log == [])
    }

    @Test func `a cancelled call ends, and its connection is not used again`() async throws {
        let servers = FakeServers(.working)
        let pool = servers.pool()
        _ = try await ask(pool)
        servers.hangTime.withLock { $0 = .seconds(60) }
        servers.set(0, .hanging)
        let task = Task { try await ask(pool) }
        try await Waiting.until { servers.calls.count == 2 }
        task.cancel()
        let result = await task.result
        #expect(throws: ServerFault(.cancelled, "")) { try result.get() }
        try await Waiting.until { servers.state.withLock { $0.open } == 0 }
    }

    @Test func `connections without calls are closed after a while, and all when the pool is released`() async throws {
        let servers = FakeServers(.working)
        var pool: ServerPool? = servers.pool { $0.idleTime = .milliseconds(20) }
        _ = try await ask(try #require(pool))
        try await Waiting.until { servers.state.withLock { $0.open } == 0 }
        pool = servers.pool()
        _ = try await ask(try #require(pool))
        #expect(servers.state.withLock { $0.open } == 1)
        pool = nil
        try await Waiting.until { servers.state.withLock { $0.open } == 0 }
    }

    @Test func `threads that have passed a result take the calls that it lets begin`() async throws {
        let servers = FakeServers(.working)
        let pool = servers.pool { ($0.connections, $0.queue) = (2, 1000) }
        let calls = (0..<200).map { _ in
            Task(executorPreference: ResumingExecutor.shared) {
                try await pool.run(for: anyone) { connection, call throws(ServerFault) in
                    usleep(100)
                    return try connection.ask(call)
                }
            }
        }
        for call in calls { #expect(try await call.value == 0) }
        #expect(servers.state.withLock { $0.connects }.count <= 2)
        #expect(pool.runningCalls == 0)
    }
}

struct ResumingExecutorTests {
    /// The name of the current thread in /proc.
    private static var thread: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
    }

    /// Resumes a task on a thread of its own, and returns that thread and the one on which the task continues.
    private func threads(inside: Bool) async -> (resuming: String, continuing: String) {
        await Task(executorPreference: ResumingExecutor.shared) {
            let resuming = await withCheckedContinuation { continuation in
                let resume = { @Sendable in continuation.resume(returning: Self.thread) }
                let hasStarted = WorkerThread.start(niceness: 0) {
                    if inside { ResumingExecutor.shared.resumeTasks(resume) } else { resume() }
                }
                if !hasStarted { continuation.resume(returning: "") }
            }
            return (resuming, await Self.threadOfTask())
        }
        .value
    }

    private static func threadOfTask() async -> String { thread }

    @Test func `a task continues on the thread that resumes it for it`() async {
        // A task that is resumed before it waits is not enqueued; it goes on on its thread.
        var (resuming, continuing) = ("", "")
        for _ in 0..<1000 where resuming == "" || resuming != continuing {
            (resuming, continuing) = await threads(inside: true)
        }
        #expect(resuming == continuing && resuming != "")
    }

    @Test func `a task that another thread resumes continues on the shared threads`() async {
        let (resuming, continuing) = await threads(inside: false)
        #expect(resuming != continuing)
    }

    @Test func `a task that waits again is resumed again`() async {
        let sum = await Task(executorPreference: ResumingExecutor.shared) {
            var sum = 0
            for number in 0..<100 {
                sum += await withCheckedContinuation { continuation in
                    let hasStarted = WorkerThread.start(niceness: 0) {
                        ResumingExecutor.shared.resumeTasks { continuation.resume(returning: number) }
                    }
                    if !hasStarted { continuation.resume(returning: 0) }
                }
                await Task.yield()
            }
            return sum
        }
        .value
        #expect(sum == 4950)
    }
}
