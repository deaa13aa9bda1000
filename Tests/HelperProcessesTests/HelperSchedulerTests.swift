// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing
import Workers

@testable import HelperProcesses

struct HelperSchedulerTests {
    private let events = Events()

    private static func scheduler(
        processes: Int = 2,
        queue: Int = 10,
        requestsPerProcess: Int = 1000,
        makeWakeUp: @escaping @Sendable () throws(HelperFault) -> WakeUp = WakeUp.init
    ) -> HelperScheduler {
        var settings = HelperPoolSettings()
        settings.processes = processes
        settings.queue = queue
        settings.requestsPerProcess = requestsPerProcess
        settings.idleTime = .seconds(3600)
        return HelperScheduler(settings, log: nil, makeWakeUp: makeWakeUp)
    }

    /// Creates a request whose events are its name when it begins, `answer` and the name, or its fault and the name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - source: The source; nil for the name.
    ///   - account: The user.
    ///   - call: The call.
    ///   - end: Ends the request when it is signalled; nil for a request that ends at once.
    /// - Returns: The request.
    private func job(
        _ name: String,
        source: String? = nil,
        account: String? = nil,
        call: HelperCall = HelperCall(until: .max) {},
        until end: WakeUp? = nil
    ) -> HelperScheduler.Job {
        let events = events
        return HelperScheduler.Job(call: call, owner: JobOwner(source: source ?? name, account: account)) { _ in
            events.add(name)
            end?.wait(until: .max)
            return HelperScheduler.Completion(fault: nil) { events.add("answer \(name)") }
        } reject: { fault in
            events.add("\(fault.code.rawValue) \(name)")
        }
    }

    /// Creates a scheduler whose second thread ends when the failure is signalled, because it gets no wake-up.
    ///
    /// Each thread that starts is the event `thread`.
    private func schedulerWithOneThread(failure: WakeUp) -> HelperScheduler {
        let events = events
        return Self.scheduler { () throws(HelperFault) -> WakeUp in
            events.add("thread")
            guard events.list.count > 1 else { return try WakeUp() }
            failure.wait(until: .max)
            throw HelperFault(.cannotStart, "no eventfd")
        }
    }

    private func wait(for event: String) async throws {
        try await Waiting.until { events.list.contains(event) }
    }

    @Test(arguments: [HelperFault.Code.cancelled, .full])
    func `a waiting request that is cancelled, or late, lets another one of its user run`(
        code: HelperFault.Code
    ) async throws {
        let (scheduler, end) = (Self.scheduler(), try WakeUp())
        defer {
            end.signal()
            scheduler.close()
        }
        _ = scheduler.submit(job("busy", until: end))
        try await wait(for: "busy")
        // The first request waits for its source, and has the place of its user, for which the second one waits.
        let call = HelperCall(until: .max) {}
        let first = scheduler.submit(job("first", source: "busy", account: "ann", call: call))
        _ = scheduler.submit(job("second", account: "ann"))
        #expect(scheduler.waiting == 2)
        #expect(events.list == ["busy"])
        if code == .cancelled {
            scheduler.cancel(first)
        } else {
            call.deadline = 0
            scheduler.rejectLate()
        }
        try await wait(for: "answer second")
        #expect(events.list.contains("\(code.rawValue) first"))
        #expect(!events.list.contains("answer busy"))
    }

    @Test(arguments: [1, 2], [1, 1000])
    func `a client that logs in again when it has its answer needs no place in the queue`(
        processes: Int,
        requestsPerProcess: Int
    ) async throws {
        let scheduler = Self.scheduler(processes: processes, queue: 0, requestsPerProcess: requestsPerProcess)
        defer { scheduler.close() }
        let events = events
        @Sendable func submit(_ number: Int) {
            let call = HelperCall(until: .max) {}
            let job = HelperScheduler.Job(call: call, owner: JobOwner(source: "here", account: "ann")) { _ in
                HelperScheduler.Completion(fault: nil) {
                    events.add("answer \(number)")
                    if number < 10 { submit(number + 1) }
                }
            } reject: { fault in
                events.add(fault.code.rawValue)
            }
            _ = scheduler.submit(job)
        }
        submit(1)
        try await Waiting.until { events.list.count == 10 || events.list.contains("full") }
        #expect(events.list == (1...10).map { "answer \($0)" })
    }

    @Test func `an idle thread takes the request of a thread that could not get its wake-up`() async throws {
        let (failure, end) = (try WakeUp(), try WakeUp())
        let scheduler = schedulerWithOneThread(failure: failure)
        defer {
            end.signal()
            failure.signal()
            scheduler.close()
        }
        _ = scheduler.submit(job("first", until: end))
        try await wait(for: "first")
        // The second thread is started for the second request, which the first thread takes.
        _ = scheduler.submit(job("second"))
        try await Waiting.until { events.list.count { $0 == "thread" } == 2 }
        end.signal()
        try await wait(for: "answer second")
        try await Waiting.until { scheduler.idleThreads == 1 }
        _ = scheduler.submit(job("third"))
        #expect(scheduler.waiting == 1)
        failure.signal()
        try await wait(for: "answer third")
        #expect(events.list.count { $0 == "thread" } == 2)
    }

    @Test(arguments: [false, true])
    func `the request of a thread that could not get its wake-up waits for a busy thread, or is late`(
        isLate: Bool
    ) async throws {
        let (failure, end) = (try WakeUp(), try WakeUp())
        let scheduler = schedulerWithOneThread(failure: failure)
        defer {
            end.signal()
            failure.signal()
            scheduler.close()
        }
        _ = scheduler.submit(job("first", until: end))
        try await wait(for: "first")
        let call = HelperCall(until: .max) {}
        _ = scheduler.submit(job("second", call: call))
        try await Waiting.until { events.list.count { $0 == "thread" } == 2 }
        if isLate { call.deadline = 0 }
        failure.signal()
        // No other thread is started, which would end in the same way.
        try await Waiting.until { scheduler.threads == 1 }
        #expect(events.list.contains("full second") == isLate)
        #expect(!events.list.contains("answer first"))
        end.signal()
        try await wait(for: isLate ? "answer first" : "answer second")
        #expect(events.list.count { $0 == "thread" } == 2)
    }
}
