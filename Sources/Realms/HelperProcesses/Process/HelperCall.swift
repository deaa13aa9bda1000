// SPDX-License-Identifier: Apache-2.0

internal import CHelperSpawn
internal import Glibc
internal import Synchronization
internal import Workers

/// One request to a helper, with its deadline and its cancellation.
///
/// The thread that serves the request waits with it; any thread may cancel it or wake the waiting thread.
package final class HelperCall: Sendable {
    private struct State {
        var isCancelled = false
        var deadline: UInt64
        var wake: WakeUp?
    }

    private let state: Mutex<State>
    /// Is called at least twice a second during a wait.
    let tick: @Sendable () -> Void

    init(until deadline: UInt64, tick: @escaping @Sendable () -> Void) {
        state = Mutex(State(deadline: deadline))
        self.tick = tick
    }

    /// The time at which the wait for an answer ends, of ``MonotonicTime``.
    ///
    /// The thread of the request sets it to exclude the time in which the helper waits for the user.
    package var deadline: UInt64 {
        get { state.withLock { $0.deadline } }
        set { state.withLock { $0.deadline = newValue } }
    }

    /// Ends the wait of the thread with a fault of code `cancelled`.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        wakeUp()
    }

    /// Ends the current wait of the thread, so that it reads what has changed.
    package func wakeUp() { state.withLock { $0.wake }?.signal() }

    /// The fault of a request that has waited too long: one of load, because no helper has seen the request.
    static let waitedTooLong = HelperFault(.full, "no helper process was free in time")

    /// The wake-up of the thread that serves the request, set before the first ``check()``, because the request may have
    /// been cancelled before, and removed at the end, so that a late ``wakeUp()`` does not disturb the next request.
    var wake: WakeUp? {
        get { state.withLock { $0.wake } }
        set { state.withLock { $0.wake = newValue } }
    }

    /// Throws if the request is cancelled or late; a request that still waits for a helper is late because of load.
    func check(isWaiting: Bool = false) throws(HelperFault) {
        let (isCancelled, deadline) = state.withLock { ($0.isCancelled, $0.deadline) }
        if isCancelled { throw HelperFault(.cancelled, "the login was cancelled") }
        guard MonotonicTime.now >= deadline else { return }
        throw isWaiting ? Self.waitedTooLong : HelperFault(.timedOut, "no answer in time")
    }
}

/// A file descriptor that is closed with its last reference.
package final class Descriptor: Sendable {
    package let number: Int32

    /// Takes over an open descriptor that nothing else closes.
    package init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    /// Creates two connected stream sockets that are closed on exec.
    static func socketPair() throws(HelperFault) -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .system("no socket pair") }
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    /// Creates a pipe that is closed on exec.
    static func pipe() throws(HelperFault) -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard unsafe gatehouse_pipe(&ends) == 0 else { throw .system("no pipe") }
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    static func null() throws(HelperFault) -> Descriptor {
        let number = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        guard number >= 0 else { throw .system("/dev/null") }
        return Descriptor(number)
    }

    /// Waits for something to read until a time of ``MonotonicTime``; returns false if the time is up.
    func waitForInput(until: UInt64) -> Bool {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        while true {
            if unsafe poll(&entry, 1, MonotonicTime.milliseconds(until: until)) > 0 { return true }
            if MonotonicTime.now >= until { return false }
        }
    }

    /// Makes reads and writes of this descriptor return at once.
    func setNonblocking() { _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK) }
}

extension HelperFault {
    /// Creates a fault with the system's text for an error: `full` if the system has no more resources, otherwise
    /// `cannotStart`.
    static func system(_ what: String, number: Int32 = errno) -> HelperFault {
        let isLoad = [EAGAIN, EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number)
        return HelperFault(isLoad ? .full : .cannotStart, "\(what): \(unsafe String(cString: strerror(number)))")
    }
}

/// Wakes a thread that waits in poll(2).
package final class WakeUp: Sendable {
    let descriptor: Descriptor

    package init() throws(HelperFault) {
        let number = gatehouse_eventfd()
        guard number >= 0 else { throw .system("no eventfd") }
        descriptor = Descriptor(number)
    }

    /// Ends the current wait, or the next wait if there is none.
    package func signal() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor.number, &one, 8)
    }

    /// Waits for a wake-up; returns false if the time is up.
    @discardableResult
    func wait(until: UInt64) -> Bool {
        guard descriptor.waitForInput(until: until) else { return false }
        reset()
        return true
    }

    /// Makes the next wait wait again.
    func reset() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor.number, &count, 8)
    }
}
