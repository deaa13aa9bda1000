// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import DequeModule
internal import RealmKit
internal import Workers

/// The threads behind a ``ServerPool``, which retain this object but not the pool, so that the pool can be released.
final class PoolCore<Connection: ServerConnection>: Sendable {
    /// Runs a call, and returns the function that passes its result to the caller.
    typealias Job = @Sendable (WorkerConnections<Connection>) -> () -> Void

    /// A thread with its connections.
    private final class Worker: Sendable {
        let next = Monitor<Job?>(nil)
    }

    private struct State {
        var isClosed = false
        /// The threads without a call, the last one that became idle last.
        var idle: [Worker] = []
        /// The number of threads that have made their call, and pass its result to the caller.
        var finishing = 0
        /// The calls that threads take when they have passed a result; not more than there are such threads.
        var next: Deque<Job> = []
    }

    let servers: Servers<Connection>
    let settings: ServerPoolSettings
    let states: ServerStates
    private let log: RealmLog?
    private let realmName: String
    private let outages: OutageLog
    /// A lock that does not spin: its threads may be more than the processors.
    private let state = Monitor(State())
    private let end = Monitor(false)

    init(_ servers: Servers<Connection>, settings: ServerPoolSettings, log: RealmLog?, realmName: String) {
        self.servers = servers
        self.settings = settings
        self.log = log
        self.realmName = realmName
        states = ServerStates(count: servers.names.count, isRoundRobin: settings.isRoundRobin)
        outages = OutageLog(log, realmName: realmName, now: { MonotonicTime.now })
    }

    /// Ends the threads that have no call; the others end after their calls.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for worker in idle { give({ _ in {} }, to: worker) }
        end.withLock { $0 = true }
        end.wakeAll()
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: Calls

    /// Passes a call to a thread without one; returns false if the system has no more threads.
    ///
    /// The number of calls at a time is limited by the caller.
    func begin(_ job: @escaping Job) -> Bool {
        let (idle, isTaken) = state.withLock { state -> (Worker?, Bool) in
            if let worker = state.idle.popLast() { return (worker, true) }
            guard state.next.count < state.finishing else { return (nil, false) }
            state.next.append(job)
            return (nil, true)
        }
        if let idle { give(job, to: idle) }
        if isTaken { return true }
        let worker = Worker()
        worker.next.withLock { $0 = job }
        return WorkerThread.start(niceness: 0) { self.serve(worker) }
    }

    private func give(_ job: @escaping Job, to worker: Worker) {
        worker.next.withLock { $0 = job }
        worker.next.wakeOne()
    }

    private func serve(_ worker: Worker) {
        let connections = WorkerConnections(self)
        defer { connections.closeAll() }
        while true {
            let until = MonotonicTime.now &+ settings.idleTime.nanoseconds
            guard let job = worker.next.wait(until: until, { job in job.take() }) else {
                let isIdle = state.withLock { state in
                    guard let place = state.idle.firstIndex(where: { $0 === worker }) else { return false }
                    state.idle.remove(at: place)
                    return true
                }
                // A call may have been given to the thread at the same moment.
                if isIdle { return }
                continue
            }
            var following: Job? = job
            while let job = following {
                let deliver = job(connections)
                state.withLock { $0.finishing += 1 }
                ResumingExecutor.shared.resumeTasks(deliver)
                let isClosed = state.withLock { state in
                    state.finishing -= 1
                    following = state.next.popFirst()
                    if following == nil, !state.isClosed { state.idle.append(worker) }
                    return state.isClosed
                }
                if isClosed, following == nil { return }
            }
        }
    }

    // MARK: Servers

    /// Records a fault of a server in a call that began at a time of `MonotonicTime`, and starts a check of it.
    func record(_ fault: ServerFault, of server: Int, begin: UInt64) {
        outages.write(fault.log, kind: fault.code.rawValue, server: servers.names[server])
        // A server that refuses connections or this program is down. One that is slow, or cannot answer one request, is
        // checked first.
        let state: ServerStates.State = fault.code == .unreachable || fault.code == .rejected ? .down : .suspect
        guard states.record(fault, of: server, as: state, begin: begin), !isClosed else { return }
        if !WorkerThread.start(niceness: 0, work: { self.check(server, after: fault) }) {
            _ = states.recordUp(server, begin: 0)
        }
    }

    /// Records that a server has answered a call that began at a time of `MonotonicTime`.
    func recordAnswer(of server: Int, begin: UInt64) {
        if states.recordAnswer(of: server, begin: begin) { logAnswer(of: server) }
    }

    private func logAnswer(of server: Int) {
        log?("realm \(realmName): \(servers.names[server]): the server answers again", .notice)
    }

    /// Checks a server until it answers; runs on a thread of its own.
    private func check(_ server: Int, after fault: ServerFault) {
        var pause = Duration.milliseconds(100)
        guard fault.code != .rejected || waitForCheck(Self.pauseAfterRejection) else { return }
        while !isClosed {
            let begin = MonotonicTime.now
            let call = ServerCall(until: begin &+ settings.timeout.nanoseconds)
            do throws(ServerFault) {
                try servers.connect(server, call).close()
                if states.recordUp(server, begin: begin) { logAnswer(of: server) }
                return
            } catch {
                outages.write(error.log, kind: error.code.rawValue, server: servers.names[server])
                guard states.recordCheck(error, of: server, begin: begin) else { return }
                let next = error.code == .rejected ? Self.pauseAfterRejection : min(pause, settings.checkInterval)
                guard waitForCheck(next) else { return }
            }
            pause = min(pause * 2, settings.checkInterval)
        }
    }

    private static var pauseAfterRejection: Duration { .seconds(60) }

    /// Waits between two checks; returns false if the pool was closed.
    private func waitForCheck(_ pause: Duration) -> Bool {
        end.wait(until: MonotonicTime.now &+ pause.nanoseconds, { $0 ? true : nil }) == nil
    }
}
