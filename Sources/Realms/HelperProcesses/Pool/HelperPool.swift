// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import RealmKit
internal import Synchronization
package import Workers

/// The limits of the helper processes of one realm.
package struct HelperPoolSettings: Sendable, Hashable {
    /// The choice of the request that is rejected when the queue is full.
    package enum WhenFull: String, Sendable, Hashable, CaseIterable {
        /// The new request; if another source or user has more waiting requests, the newest request of that one.
        ///
        /// Of the requests of a user, it is one of the source with the most of them.
        case refuse
        /// The oldest request of the source or user with the most waiting requests.
        ///
        /// Of the requests of a user, it is one of the source with the most of them.
        case cancelOldest = "cancel-oldest"
    }

    /// The maximum number of processes, each with a thread.
    package var processes = 8
    /// The maximum number of waiting requests.
    package var queue = 128
    /// The choice of the request that is rejected when the queue is full.
    package var whenFull = WhenFull.refuse
    /// The time for a request, from its arrival to its answer.
    package var timeout = Duration.seconds(10)
    /// The number of requests after which a process is replaced; 1 for a process per request.
    package var requestsPerProcess = 1
    /// The time after which a process without requests ends.
    package var idleTime = Duration.seconds(60)

    /// Creates settings with the defaults.
    package init() {}
}

/// Passes requests to helper processes, each of which has a thread of its own, with a bounded queue.
///
/// Processes are started when they are needed. The sources (client addresses) take turns. A helper that crashes, hangs
/// or breaks its protocol ends its own request and nothing else; the next request gets a new process. All processes end
/// when the pool is released.
package final class HelperPool: Sendable {
    /// The limits.
    package let settings: HelperPoolSettings
    private let scheduler: HelperScheduler

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - settings: The limits.
    ///   - log: The log for the output of the helpers; nil to discard it.
    package init(_ settings: HelperPoolSettings, log: RealmLog?) {
        self.settings = settings
        scheduler = HelperScheduler(settings, log: log, makeWakeUp: WakeUp.init)
    }

    deinit { scheduler.close() }

    /// The number of waiting requests.
    var waiting: Int { scheduler.waiting }

    /// Queues a request and waits for its result.
    ///
    /// - Parameters:
    ///   - owner: The source and the user of the request. Sources take turns; the requests of one source, and those of one
    ///     user, hold at most half of the processes. Requests that did not come over a network have no limit of their
    ///     source.
    ///   - work: Asks a helper. It runs on the thread of a slot and may block; all its waits must be waits of the call.
    ///     If it throws, the helper of the slot is killed.
    /// - Returns: The result of `work`.
    /// - Throws: ``HelperFault``: the error of `work`, or the reason why it was not run.
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
    ///
    /// - Parameters:
    ///   - properties: Properties whose schema contains these names.
    ///   - processes: The name of the property for the maximum number of processes.
    ///   - requestsPerProcess: The name of the property for the number of requests after which a process is replaced.
    /// - Throws: ``BadRealm`` if a time is zero or longer than an hour.
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
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - properties: Properties whose schema contains the name.
    /// - Returns: The time.
    /// - Throws: ``BadRealm`` if the time is zero or longer than an hour.
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
    /// The running helper; nil if there is none.
    package private(set) var process: HelperProcess?
    /// The number of requests that the running helper has answered.
    private(set) var answered = 0
    /// The number of faults since the last answer.
    private(set) var faults = 0
    private let log: RealmLog?

    init(log: RealmLog?) {
        self.log = log
    }

    /// Returns the running helper, or starts one.
    ///
    /// A helper that has sent something without a request is replaced: it could be taken for an answer.
    ///
    /// - Parameters:
    ///   - program: The program to start.
    ///   - secret: The secret of the request; lines of output that contain it are not logged.
    /// - Returns: The helper.
    /// - Throws: ``HelperFault`` with code `cannotStart`.
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

    func countFault() { faults += 1 }
}
