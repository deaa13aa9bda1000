// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit
internal import Workers

/// The servers of a ``ServerPool``, and which of them answer; one that does not is checked by a thread of its own until it
/// does, or until ``close()``.
final class ServerHealth<Connection: ServerConnection>: Sendable {
    let servers: Servers<Connection>
    let states: ServerStates
    private let settings: ServerPoolSettings
    private let log: RealmLog?
    private let realmName: String
    private let outages: OutageLog
    private let isClosed = Monitor(false)

    init(_ servers: Servers<Connection>, settings: ServerPoolSettings, log: RealmLog?, realmName: String) {
        self.servers = servers
        self.settings = settings
        self.log = log
        self.realmName = realmName
        states = ServerStates(count: servers.names.count, isRoundRobin: settings.isRoundRobin)
        outages = OutageLog(log, realmName: realmName, now: { MonotonicTime.now })
    }

    func close() {
        isClosed.withLock { $0 = true }
        isClosed.wakeAll()
    }

    /// Records a fault of a server in a call that began at a time of `MonotonicTime`, and starts a check of it.
    func record(_ fault: ServerFault, of server: Int, begin: UInt64) {
        outages.write(fault.log, kind: fault.code.rawValue, server: servers.names[server])
        // A server that refuses connections or this program is down. One that is slow, or cannot answer one request, is
        // checked first.
        let state: ServerStates.State = fault.code == .unreachable || fault.code == .rejected ? .down : .suspect
        guard states.record(fault, of: server, as: state, begin: begin), !isClosed.withLock({ $0 }) else { return }
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
        while !isClosed.withLock({ $0 }) {
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
        isClosed.wait(until: MonotonicTime.now &+ pause.nanoseconds, { $0 ? true : nil }) == nil
    }
}
