// SPDX-License-Identifier: Apache-2.0

internal import CHelperSpawn
internal import Glibc
package import RealmKit
internal import Workers

/// A running helper: its channel on descriptor 3, its output, and its life.
///
/// It belongs to one thread, which must live as long as the helper: the system kills a helper when the thread that has
/// started it ends.
package final class HelperProcess {
    package enum Exit: Sendable, Hashable {
        case status(Int32)
        /// The signal that has killed the helper.
        case signal(Int32)
        /// The system has not kept the status.
        case unknown

        /// Returns the fault of a request whose helper has ended before its answer was complete.
        package func fault(of helper: String) -> HelperFault {
            switch self {
            case .status(let status): HelperFault(.ended, "\(helper) has ended with status \(status)")
            case .signal(let number): HelperFault(.ended, "\(helper) was ended by signal \(number)")
            case .unknown: HelperFault(.ended, "\(helper) has ended, and its status is not known")
            }
        }
    }

    package enum Event: Sendable, Hashable {
        /// The channel can be read, or written to.
        case ready
        /// The helper has ended, and there is nothing more to read.
        case ended
        /// ``HelperCall/wakeUp()`` was called.
        case woken
    }

    /// The purpose of a wait, besides the end of the helper.
    package enum Interest: Sendable, Hashable {
        case reading
        case writing
        /// Nothing but the end of the helper, or a wake-up.
        case end
    }

    /// The file name of the program, for messages.
    let name: String
    private let process: pid_t
    private let pidfd: Descriptor
    private var channel: Descriptor?
    private var output: Descriptor?
    private var written: HelperOutput
    private let log: RealmLog?
    private(set) var exit: Exit?

    /// Starts a helper; lines of its output that contain a secret of the first request are not logged.
    ///
    /// Its descriptor 0 is /dev/null, 1 and 2 go to the log, 3 is the channel. It has no others.
    init(_ program: HelperProgram, log: RealmLog?, secrets: [Secret]) throws(HelperFault) {
        let (own, child) = try Descriptor.socketPair()
        let pipe = try Descriptor.pipe()
        let null = try Descriptor.null()
        own.setNonblocking()
        pipe.reading.setNonblocking()
        (process, pidfd) = try program.spawn([null, pipe.writing, pipe.writing, child])
        (channel, output) = (own, pipe.reading)
        let slash = program.path.utf8.lastIndex(of: UInt8(ascii: "/"))
        name = slash.map { String(program.path[program.path.index(after: $0)...]) } ?? program.path
        written = HelperOutput(of: name, log: log)
        written.begin(secrets: secrets)
        self.log = log
    }

    deinit { end() }

    /// Prepares for the next request, of which lines of output with a secret are not logged; false if the helper cannot
    /// serve it: it has ended, has closed its channel, or has sent something without a request.
    func begin(secrets: [Secret]) -> Bool {
        guard exit == nil, let channel else { return false }
        var descriptors = [
            pollfd(fd: channel.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pidfd.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: output?.number ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let count = unsafe Glibc.poll(&descriptors, nfds_t(descriptors.count), 0)
        guard count >= 0, descriptors[0].revents == 0, descriptors[1].revents == 0 else { return false }
        if descriptors[2].revents != 0 { drain() }
        written.begin(secrets: secrets)
        return true
    }

    /// Ends a request: its output is logged, and later output does not belong to it.
    func finish() {
        drain()
        written.begin()
    }

    /// Adds a secret to the current request, such as a one-time code.
    package func withhold(_ secret: Secret) { written.withhold(secret) }

    // MARK: The channel

    /// Sends bytes to the helper; one that does not read the rest is no fault, because it may have decided already.
    package func send(_ secret: Secret, call: HelperCall) throws(HelperFault) {
        var sent = 0
        while sent < secret.count {
            try call.check()
            guard let channel else { return }
            let (count, error) = secret.withBytes { bytes in
                unsafe bytes.extracting(sent...).withUnsafeBufferPointer { rest in
                    let count = unsafe Glibc.send(channel.number, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                    return (count, errno)
                }
            }
            if count >= 0 {
                sent += count
            } else if error == EAGAIN {
                guard try wait(for: .writing, call: call) != .ended else { return }
            } else if error != EINTR {
                return
            }
        }
    }

    /// Tells the helper that nothing more will be sent.
    package func finishSending() {
        if let channel { _ = shutdown(channel.number, Int32(SHUT_WR)) }
    }

    /// Reads what is in the channel, at most 16384 bytes; returns false if the helper has closed its end.
    package func receive(into buffer: inout [UInt8]) -> Bool {
        guard let channel else { return false }
        let (count, error) = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16384) { bytes in
            let count = unsafe recv(channel.number, bytes.baseAddress, bytes.count, 0)
            let error = errno
            if count > 0 { unsafe buffer.append(contentsOf: bytes[..<count]) }
            return (count, error)
        }
        if count > 0 || count < 0 && (error == EAGAIN || error == EINTR) { return true }
        self.channel = nil
        return false
    }

    /// Waits for more of an answer; throws if the helper, named as in a message, ends or closes its channel before.
    package func receiveMore(into buffer: inout [UInt8], of helper: String, call: HelperCall) throws(HelperFault) {
        while true {
            switch try wait(for: .reading, call: call) {
            case .woken: continue
            case .ready:
                guard receive(into: &buffer) else { throw endAfterClosing().fault(of: helper) }
                return
            case .ended: throw end().fault(of: helper)
            }
        }
    }

    package var isChannelClosed: Bool { channel == nil }

    /// Waits for the channel, the end of the helper, or a wake-up; a fault `malformed` means that the helper's output
    /// is too long.
    package func wait(for interest: Interest, call: HelperCall) throws(HelperFault) -> Event {
        let wake = call.wake
        while true {
            try call.check()
            call.tick()
            let until = min(call.deadline, MonotonicTime.now &+ Self.tickInterval)
            if let event = try poll(interest, wake: wake, until: until) { return event }
        }
    }

    /// Waits without a request, until a time of ``MonotonicTime``; `ready` means that the helper has sent something.
    func waitIdle(wake: WakeUp?, until: UInt64) throws(HelperFault) -> Event? {
        while true {
            if let event = try poll(.reading, wake: wake, until: until) { return event }
            if MonotonicTime.now >= until { return nil }
        }
    }

    private static let tickInterval: UInt64 = 500_000_000

    private func poll(_ interest: Interest, wake: WakeUp?, until: UInt64) throws(HelperFault) -> Event? {
        let events = interest == .reading ? POLLIN : interest == .writing ? POLLOUT : 0
        // A closed channel is always ready, so it is left out unless it is waited for.
        let watched = interest == .end ? -1 : channel?.number ?? -1
        var descriptors = [
            pollfd(fd: watched, events: Int16(events), revents: 0),
            pollfd(fd: pidfd.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake?.descriptor.number ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: output?.number ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let count = unsafe Glibc.poll(&descriptors, nfds_t(descriptors.count), MonotonicTime.milliseconds(until: until))
        guard count > 0 else { return nil }
        if descriptors[3].revents != 0 { try readOutput() }
        if descriptors[2].revents != 0 {
            wake?.reset()
            return .woken
        }
        if descriptors[0].revents != 0 { return .ready }
        return descriptors[1].revents != 0 ? .ended : nil
    }

    // MARK: The output

    private func readOutput() throws(HelperFault) {
        guard let output else { return }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(output.number, &bytes, bytes.count)
        if count > 0 {
            guard written.add(bytes[..<count]) else {
                let maximum = HelperOutput.maximumRead
                throw HelperFault(.malformed, "\(name) has written more than \(maximum) bytes of output")
            }
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            self.output = nil
        }
    }

    private func drain() {
        while output != nil {
            let before = written.total
            do throws(HelperFault) { try readOutput() } catch { return }
            if written.total == before { return }
        }
    }

    // MARK: The end

    /// Kills the helper and all processes of its group, without waiting for their end.
    package func kill() {
        // The process is not reaped before, so its number cannot be another process's.
        if exit == nil { _ = Glibc.kill(-process, SIGKILL) }
    }

    /// Kills what is left of the helper's group, and waits for the end of the helper for at most 5 seconds.
    ///
    /// A process that the system does not end, because it hangs in the kernel or may not be killed, is left to a thread
    /// that waits for it, so that the slot is free for another helper. Its end is `unknown`.
    @discardableResult
    package func end() -> Exit {
        if let exit { return exit }
        kill()
        let exit = pidfd.waitForInput(until: MonotonicTime.now &+ 5_000_000_000) ? Self.reap(pidfd) : leaveToReaper()
        self.exit = exit
        drain()
        written.flush()
        (channel, output) = (nil, nil)
        return exit
    }

    /// Waits for the end of a helper that has closed its channel, for at most a second, and kills what is left.
    ///
    /// The end of a helper that had to be killed is `unknown`, because the signal would not be the cause.
    private func endAfterClosing() -> Exit {
        let hasEnded = exit != nil || pidfd.waitForInput(until: MonotonicTime.now &+ 1_000_000_000)
        let exit = end()
        return hasEnded ? exit : .unknown
    }

    /// Waits without limit for the end of a process, and removes its zombie.
    private static func reap(_ pidfd: Descriptor) -> Exit {
        var code: Int32 = 0
        var isSignal = false
        let error = unsafe gatehouse_reap(pidfd.number, &code, &isSignal)
        return error != 0 ? .unknown : isSignal ? .signal(code) : .status(code)
    }

    /// Starts a thread that keeps the pidfd until the process has ended.
    private func leaveToReaper() -> Exit {
        let pidfd = pidfd
        let isStarted = WorkerThread.start(niceness: 0) { _ = HelperProcess.reap(pidfd) }
        let end = isStarted ? "is waited for in the background" : "stays as a zombie when it ends"
        log?("\(name): process \(process) has not ended 5 seconds after it was killed; it \(end)")
        return .unknown
    }

    /// Closes the channel, so that the helper ends by itself, waits for at most a second, and kills what is left.
    func endGracefully() {
        channel = nil
        let until = MonotonicTime.now &+ 1_000_000_000
        while let event = try? waitIdle(wake: nil, until: until), event != .ended {}
        end()
    }
}
