// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import RealmKit
internal import Synchronization
package import Workers

/// The limits of the helper processes of one realm.
package struct HelperPoolSettings: Sendable, Hashable {
    /// The request that is rejected when the queue is full; of those of a user, one of the source with the most of them.
    package enum WhenFull: String, Sendable, Hashable, CaseIterable {
        /// The new request; if another source or user has more waiting requests, the newest request of that one.
        case refuse
        /// The oldest request of the source or user with the most waiting requests.
        case cancelOldest = "cancel-oldest"
    }

    /// The maximum number of processes, each with a thread.
    package var processes = 8
    /// The maximum number of waiting requests.
    package var queue = 128
    package var whenFull = WhenFull.refuse
    /// The time for a request, from its arrival to its answer.
    package var timeout = Duration.seconds(10)
    /// The number of requests after which a process is replaced; 1 for a process per request.
    package var requestsPerProcess = 1
    /// The time after which a process without requests ends.
    package var idleTime = Duration.seconds(60)

    package init() {}
}

/// Passes requests to helper processes, each of which has a thread of its own, with a bounded queue.
///
/// Processes are started when they are needed. The sources (client addresses) take turns. A helper that crashes, hangs
/// or breaks its protocol ends its own request and nothing else; the next request gets a new process. All processes end
/// when the pool is released.
package final class HelperPool: Sendable {
    package let settings: HelperPoolSettings
    private let scheduler: HelperScheduler

    package init(_ settings: HelperPoolSettings, log: RealmLog?) {
        self.settings = settings
        scheduler = HelperScheduler(settings, log: log, makeWakeUp: WakeUp.init)
    }

    deinit { scheduler.close() }

    /// The number of waiting requests.
    var waiting: Int { scheduler.waiting }

    /// Queues a request, and waits for its result.
    ///
    /// The requests of one source, and those of one user, hold at most half of the processes; those that did not come
    /// over a network have no limit of their source. `work` runs on the thread of a slot and may block; all its waits
    /// must be waits of the call. If it throws, the helper of the slot is killed.
    package func run<Value: Sendable>(
        for owner: JobOwner,
        _ work: @escaping @Sendable (HelperSlot, HelperCall) throws(HelperFault) -> Value
    ) async throws(HelperFault) -> Value {
        let scheduler = scheduler
        let begin = MonotonicTime.now
        let deadline = begin &+ settings.timeout.nanoseconds
        let call = HelperCall(until: deadline) { scheduler.rejectLate() }
        let first = FirstValue<Result<Value, HelperFault>>()
        let job = HelperScheduler.Job(call: call, owner: owner) { slot in
            do throws(HelperFault) {
                try call.check(isWaiting: true)
                let value = try work(slot, call)
                scheduler.answered.store(MonotonicTime.now, ordering: .relaxed)
                return HelperScheduler.Completion(fault: nil) { first.set(.success(value)) }
            } catch {
                var fault = error
                fault.isOverload = error.code == .timedOut && scheduler.answered.load(ordering: .relaxed) > begin
                return HelperScheduler.Completion(fault: fault) { [fault] in first.set(.failure(fault)) }
            }
        } reject: { fault in
            first.set(.failure(fault))
        }
        let number = scheduler.submit(job)
        let result = await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            scheduler.cancel(number)
        }
        return try result.get()
    }
}

extension HelperPoolSettings {
    /// Reads the properties `processes`, `queue`, `when-full`, `timeout`, `requests-per-process` and `idle-time`.
    package init(
        _ properties: RealmProperties,
        processes: String = "processes",
        requestsPerProcess: String = "requests-per-process"
    ) throws(BadRealm) {
        self.init()
        self.processes = try properties.integer(processes)
        self.requestsPerProcess = try properties.integer(requestsPerProcess)
        queue = try properties.integer("queue")
        whenFull = WhenFull(rawValue: try properties.string("when-full")) ?? .refuse
        timeout = try Self.time("timeout", of: properties)
        idleTime = try Self.time("idle-time", of: properties)
    }

    /// Reads a time from 1 millisecond to an hour.
    package static func time(_ name: String, of properties: RealmProperties) throws(BadRealm) -> Duration {
        let time = try properties.duration(name)
        guard time > .zero, time <= .seconds(3600) else {
            throw BadRealm("must be longer than 0 and at most 1h", setting: name)
        }
        return time
    }
}

/// The place of one helper process, on a thread of its own.
package final class HelperSlot {
    package private(set) var process: HelperProcess?
    /// The number of requests that the running helper has answered.
    private(set) var answered = 0
    /// The number of faults since the last answer.
    var faults = 0
    private let log: RealmLog?

    init(log: RealmLog?) { self.log = log }

    /// Returns the running helper, or starts one; lines of its output that contain the secret are not logged.
    ///
    /// A helper that has sent something without a request is replaced: it could be taken for an answer.
    package func process(_ program: HelperProgram, secret: Secret?) throws(HelperFault) -> HelperProcess {
        if let process, process.begin(secret: secret) { return process }
        end()
        let process = try HelperProcess(program, log: log, secret: secret)
        self.process = process
        return process
    }

    /// Kills the running helper with its group, and waits for its end.
    package func end() {
        process?.end()
        process = nil
        answered = 0
    }

    /// Counts an answer; the helper ends after its last one.
    func countAnswer(limit: Int, wake: WakeUp) {
        answered += 1
        faults = 0
        process?.finish()
        guard answered >= limit else { return }
        process?.endGracefully(wake: wake)
        end()
    }
}
