// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import RealmKit
internal import Synchronization
package import Workers

/// The limits of the helper processes of one realm.
package struct HelperPoolSettings: Sendable, Hashable {
    /// The maximum number of processes, each with a thread.
    package var processes = 8
    /// The maximum number of waiting requests.
    package var queue = 128
    /// True to reject the oldest request of the source or user with the most waiting requests when the queue is full; false
    /// to reject the new request or, if another source or user has more of them, the newest request of that one; of the
    /// requests of a user, one of the source with the most.
    var cancelsOldest = false
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
    private let slots: FairSlots
    private let workers: Workers<HelperSlot>
    /// The time of the last answer of a helper, of `MonotonicTime`.
    private let answered = Atomic<UInt64>(0)

    package convenience init(_ settings: HelperPoolSettings, log: RealmLog?) {
        self.init(settings, log: log, makeWakeUp: WakeUp.init)
    }

    /// Creates a pool with a function that creates the wake-up of a thread, on that thread.
    init(
        _ settings: HelperPoolSettings,
        log: RealmLog?,
        makeWakeUp: @escaping @Sendable () throws(HelperFault) -> WakeUp
    ) {
        self.settings = settings
        slots = FairSlots(
            count: settings.processes,
            queue: settings.queue,
            wait: settings.timeout.nanoseconds,
            cancelsOldest: settings.cancelsOldest,
            unlimitedSource: ClientNetwork.source(nil),
            now: { MonotonicTime.now }
        )
        workers = Workers(niceness: 0, idleTime: settings.idleTime.nanoseconds) {
            let wake = Result { () throws(HelperFault) in try makeWakeUp() }
            let slot = HelperSlot(log: log, wake: wake)
            return Workers.Worker(slot) {
                slot.waitForRequest(until: $0)
            } wake: {
                if case .success(let wake) = wake { wake.signal() }
            } close: {
                slot.endGracefully()
            }
        }
    }

    deinit { workers.close() }

    /// The number of waiting requests.
    var waiting: Int { slots.load.waiting }

    /// The number of threads, with those that start.
    var threads: Int { workers.threads }

    /// Waits for a helper, and for the result of a request to it.
    ///
    /// The requests of one source, and those of one user, hold at most half of the processes; those that did not come
    /// over a network have no limit of their source. `work` runs on the thread of a slot and may block; all its waits
    /// must be waits of the call. If it throws, the helper of the slot is killed.
    package func run<Value: Sendable>(
        for owner: JobOwner,
        _ work: @escaping @Sendable (HelperSlot, HelperCall) throws(HelperFault) -> Value
    ) async throws(HelperFault) -> Value {
        guard !Task.isCancelled else { throw Self.fault(.cancelled) }
        let begin = MonotonicTime.now
        let call = HelperCall(until: begin &+ settings.timeout.nanoseconds) { [slots] in slots.rejectLate() }
        let first = FirstValue<Result<Value, HelperFault>>()
        let number = workers.begin(for: owner, in: slots) { refusal in
            first.set(.failure(Self.fault(refusal)))
        } _: { [self] helper, slot in
            let result = Result { () throws(HelperFault) in try helper.run(call, work) }
            if case .failure(let fault) = result {
                end(fault, since: begin, of: helper, holding: slot) { first.set(.failure($0)) }
                return { [slots] in slots.free() }
            }
            answered.store(MonotonicTime.now, ordering: .relaxed)
            // The request counts no more when the client has its answer, so that its next login finds its place free.
            guard helper.reachesAnswerLimit(settings.requestsPerProcess) else {
                // The thread is ready before the client has its answer, so that its next login needs no other helper.
                return { [slots] in
                    slots.finish(slot)
                    first.set(result)
                    helper.countAnswer()
                    slots.free()
                }
            }
            slots.finish(slot)
            ResumingExecutor.shared.resumeTasks { first.set(result) }
            helper.countAnswer()
            helper.endGracefully()
            return { [slots] in slots.free() }
        }
        let result = await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            slots.cancel(number)
            call.cancel()
        }
        return try result.get()
    }

    /// Ends a request with a fault: it counts until its helper is gone.
    private func end(
        _ fault: HelperFault,
        since begin: UInt64,
        of helper: HelperSlot,
        holding slot: FairSlots.Slot,
        deliver: (HelperFault) -> Void
    ) {
        var fault = fault
        fault.isOverload = fault.code == .timedOut && answered.load(ordering: .relaxed) > begin
        helper.process?.kill()
        deliver(fault)
        helper.end()
        slots.finish(slot)
        // Only this thread pauses, others take the requests meanwhile.
        if fault.code != .cancelled, settings.requestsPerProcess > 1 { helper.pause() }
    }

    private static func fault(_ refusal: FairSlots.Refusal) -> HelperFault {
        switch refusal {
        case .full: HelperFault(.full, "too many requests wait for a helper process")
        case .timedOut: HelperCall.waitedTooLong
        case .cancelled: HelperFault(.cancelled, "the login was cancelled")
        case .noThread: HelperFault(.full, "no thread for a helper could be started")
        }
    }
}

extension HelperPoolSettings {
    /// The properties of all realms with helpers; the number of processes and of requests to one have other names.
    package static let properties: PropertySchema = [
        .optional("user"),
        Property("memory", .integer(0...1_048_576), default: "256"),
        Property("queue", .integer(0...4096), default: "128"),
        Property("when-full", .choice(["refuse", "cancel-oldest"]), default: "refuse"),
        Property("idle-time", .duration, default: "60s"),
    ]

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
        cancelsOldest = try properties.string("when-full") == "cancel-oldest"
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
