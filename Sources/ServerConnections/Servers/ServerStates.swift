// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The states of the servers, and the order in which calls use them.
final class ServerStates: Sendable {
    /// What is known about a server.
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
        /// True while a thread checks the server.
        var isChecked = false
    }

    private let entries: Mutex<[Entry]>
    private let isRoundRobin: Bool
    private let turn = Atomic<UInt>(0)

    init(count: Int, isRoundRobin: Bool) {
        entries = Mutex(Array(repeating: Entry(), count: count))
        self.isRoundRobin = isRoundRobin
    }

    /// Returns the numbers of the servers to use, in order: those that are up, and otherwise those that are suspect.
    ///
    /// The next call begins with another server if the servers take turns.
    func order() -> [Int] {
        let turn = isRoundRobin ? turn.add(1, ordering: .relaxed).oldValue : 0
        return entries.withLock { entries in
            let first = Int(turn % UInt(entries.count))
            let numbers = (0..<entries.count).map { ($0 + first) % entries.count }
            let up = numbers.filter { entries[$0].state == .up }
            return up + numbers.filter { entries[$0].state == .suspect }
        }
    }

    /// Returns the fault of a server that is not up.
    func fault(of server: Int) -> ServerFault? { entries.withLock { $0[server].fault } }

    /// Records that a server has failed.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - server: The number of the server.
    ///   - state: The new state. A server that is down stays down.
    /// - Returns: True if the caller must start a check of the server.
    func record(_ fault: ServerFault, of server: Int, as state: State) -> Bool {
        entries.withLock { entries in
            if entries[server].state != .down { entries[server].state = state }
            entries[server].fault = fault
            defer { entries[server].isChecked = true }
            return !entries[server].isChecked
        }
    }

    /// Records that a check has succeeded, or cannot be made.
    ///
    /// - Returns: True if the server was not up.
    func recordUp(_ server: Int) -> Bool {
        entries.withLock { entries in
            defer { entries[server] = Entry() }
            return entries[server].state != .up
        }
    }
}
