// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmKit
internal import Workers

/// The place of one helper process, on a thread of its own.
package final class HelperSlot {
    package private(set) var process: HelperProcess?
    /// The number of requests that the running helper has answered.
    private var answered = 0
    /// The number of faults since the last answer.
    private var faults = 0
    private let log: RealmLog?
    /// The wake-up of the thread, or the reason why it has none; then its requests fail.
    private let wake: Result<WakeUp, HelperFault>

    init(log: RealmLog?, wake: Result<WakeUp, HelperFault>) { (self.log, self.wake) = (log, wake) }

    /// Returns the running helper, or starts one; lines of its output that contain a secret are not logged.
    ///
    /// A helper that has sent something without a request is replaced: it could be taken for an answer.
    package func process(_ program: HelperProgram, secrets: [Secret] = []) throws(HelperFault) -> HelperProcess {
        if let process, process.begin(secrets: secrets) { return process }
        end()
        let process = try HelperProcess(program, log: log, secrets: secrets)
        self.process = process
        return process
    }

    /// Kills the running helper with its group, and waits for its end.
    package func end() {
        process?.end()
        process = nil
        answered = 0
    }

    /// Makes a request, with the wake-up of the thread.
    func run<Value>(
        _ call: HelperCall,
        _ work: (HelperSlot, HelperCall) throws(HelperFault) -> Value
    ) throws(HelperFault) -> Value {
        call.wake = try wake.get()
        defer { call.wake = nil }
        try call.check(isWaiting: true)
        return try work(self, call)
    }

    /// True if the running helper has to end after its next answer.
    func reachesAnswerLimit(_ limit: Int) -> Bool { answered + 1 >= limit }

    func countAnswer() {
        answered += 1
        faults = 0
        process?.finish()
    }

    /// Pauses after a fault, so that a helper that crashes is not started again and again.
    func pause() {
        faults += 1
        usleep(UInt32(Self.backOff(faults) / 1000))
    }

    /// Returns the time before a process is replaced, in nanoseconds: none after the first fault, then 5, 10, 20 and at
    /// most 40 milliseconds.
    static func backOff(_ faults: Int) -> UInt64 { faults < 2 ? 0 : 5_000_000 << UInt64(min(faults - 2, 3)) }

    /// Waits for a request until a time of `MonotonicTime`; if there is none, the helper ends, and the result is false.
    func waitForRequest(until time: UInt64) -> Bool {
        guard case .success(let wake) = wake else { return false }
        guard let process else { return wake.wait(until: time) }
        do throws(HelperFault) {
            switch try process.waitIdle(wake: wake, until: time) {
            case .woken: return true
            case .ended: log?("\(process.name) has ended between two requests")
            case .ready: log?("\(process.name) has sent something without a request, or closed its channel")
            case nil:
                endGracefully()
                return false
            }
        } catch {
            log?(error.description)
        }
        end()
        return wake.wait(until: time)
    }

    /// Closes the channel, so that the helper ends by itself, and kills it after a second.
    func endGracefully() {
        process?.endGracefully()
        end()
    }
}
