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
