// SPDX-License-Identifier: Apache-2.0

package import RealmKit
internal import Synchronization
internal import Workers

/// The servers of a pool, and how a connection to one of them is opened.
package struct Servers<Connection: ServerConnection>: Sendable {
    /// The names of the servers for messages, in the order of the configuration; at least one.
    package let names: [String]
    /// Opens a connection to the server with this number, on a thread that may block, within the deadline of the call.
    package let connect: @Sendable (Int, ServerCall) throws(ServerFault) -> Connection

    package init(_ names: [String], connect: @escaping @Sendable (Int, ServerCall) throws(ServerFault) -> Connection) {
        self.names = names
        self.connect = connect
    }
}

/// An open connection to a server, used by one thread at a time.
package protocol ServerConnection: AnyObject, SendableMetatype {
    /// True if the connection can be used again: the server has not closed it, and has sent nothing unasked.
    var isUsable: Bool { get }

    func close()
}

/// Tests of servers for `TestableRealm`, on threads that may block.
package enum ServerTest {
    /// Tests servers one after the other; `test` must end within the time limits of the realm.
    package static func run<Server: Sendable>(
        _ servers: [Server],
        report: @escaping @Sendable (BackEndStep) -> Void,
        _ test: @escaping @Sendable (Server) -> Void
    ) async {
        for server in servers {
            let end = FirstValue<Void>()
            let hasStarted = WorkerThread.start(niceness: 0) {
                test(server)
                end.set(())
            }
            guard hasStarted else {
                report(BackEndStep("the system has no more threads", isFailure: true))
                return
            }
            await end.value()
        }
    }
}

/// The states of the servers, and the order in which calls use them.
final class ServerStates: Sendable {
    enum State: Sendable, Hashable {
        /// It has answered last, or nothing is known about it.
        case up
        /// It has failed a call, and is being checked; it is used if no server is up.
        case suspect
        /// It has failed a check; no call uses it.
        case down
    }

    private struct Entry {
        var state = State.up
        /// The fault that has changed the state; nil while the server is up.
        var fault: ServerFault?
        /// The time at which the call or the check with the last fault has begun, of `MonotonicTime`.
        var failed: UInt64 = 0
        /// The time of the last answer that has made the server up.
        var answered: UInt64 = 0
        /// True while a thread checks the server.
        var isChecked = false
    }

    private let entries: Mutex<[Entry]>
    /// False while all servers are up, so that answers need no lock.
    private let isAnyDown = Atomic(false)
    private let isRoundRobin: Bool
    private let turn = Atomic<UInt>(0)

    init(count: Int, isRoundRobin: Bool) {
        entries = Mutex(Array(repeating: Entry(), count: count))
        self.isRoundRobin = isRoundRobin
    }

    /// Returns the numbers of the servers to use, in order: those that are up, from the next one if they take turns, then
    /// those that are suspect.
    func order() -> [Int] {
        let turn = isRoundRobin ? turn.add(1, ordering: .relaxed).oldValue : 0
        return entries.withLock { entries in
            let first = Int(turn % UInt(entries.count))
            let numbers = (0..<entries.count).map { ($0 + first) % entries.count }
            let up = numbers.filter { entries[$0].state == .up }
            return up + numbers.filter { entries[$0].state == .suspect }
        }
    }

    func fault(of server: Int) -> ServerFault? { entries.withLock { $0[server].fault } }

    /// Records that a call that began at a time of `MonotonicTime` has failed; returns true if the caller must start a check.
    ///
    /// It counts only if no call that has begun later was answered. A server that is down stays down.
    func record(_ fault: ServerFault, of server: Int, as state: State, begin: UInt64) -> Bool {
        change(server) { entry in
            guard entry.state != .up || entry.answered <= begin else { return false }
            if entry.state != .down { entry.state = state }
            (entry.fault, entry.failed) = (fault, begin)
            defer { entry.isChecked = true }
            return !entry.isChecked
        }
    }

    /// Records that a call was answered; returns true if the server was not up, and is now.
    ///
    /// A server is up if it answers a call that has begun after the failed one, whatever a check finds that has begun
    /// before. If it rejects this program, only a check can find that it no longer does.
    func recordAnswer(of server: Int, begin: UInt64) -> Bool {
        guard isAnyDown.load(ordering: .relaxed) else { return false }
        return change(server) { entry in
            guard entry.state != .up, entry.fault?.code != .rejected, begin > entry.failed else { return false }
            (entry.state, entry.fault, entry.answered) = (.up, nil, MonotonicTime.now)
            return true
        }
    }

    /// Records that a check has succeeded, or cannot be made (`begin` is zero); returns true if the server was not up.
    func recordUp(_ server: Int, begin: UInt64) -> Bool {
        change(server) { entry in
            let wasUp = entry.state == .up
            entry = Entry(answered: max(entry.answered, begin))
            return !wasUp
        }
    }

    /// Records that a check has failed, unless a call was answered after it has begun; returns true to check again.
    func recordCheck(_ fault: ServerFault, of server: Int, begin: UInt64) -> Bool {
        change(server) { entry in
            guard entry.answered < begin else {
                entry.isChecked = entry.state != .up
                return entry.isChecked
            }
            (entry.state, entry.fault, entry.failed) = (.down, fault, begin)
            return true
        }
    }

    private func change(_ server: Int, _ body: (inout Entry) -> Bool) -> Bool {
        entries.withLock { entries in
            defer { isAnyDown.store(entries.contains { $0.state != .up }, ordering: .relaxed) }
            return body(&entries[server])
        }
    }
}
