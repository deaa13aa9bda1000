// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Gatehouse

@Suite struct EventLoopWatchdogTests {
    @Test func `there is no report while one event loop is blocked`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 3)
        let loops = Array(group.makeIterator()) as [any EventLoop]
        let count = Mutex(0)
        let reports = { count.withLock { $0 } }
        let watchdog = EventLoopWatchdog(loops: loops, interval: .milliseconds(5)) { count.withLock { $0 += 1 } }
        let task = Task { await watchdog.run() }
        func untilReported(after before: Int) async throws {
            let end = ContinuousClock.now + .seconds(60)
            while reports() <= before, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
            #expect(reports() > before)
        }
        try await untilReported(after: 2)

        let release = DispatchSemaphore(value: 0)
        let (blocked, begin) = AsyncStream<Void>.makeStream()
        loops[1].execute {
            begin.finish()
            release.wait()
        }
        for await _ in blocked {}
        // A round that has passed the blocked event loop already may still report.
        try await Task.sleep(for: .milliseconds(50))
        let before = reports()
        try await Task.sleep(for: .milliseconds(200))
        #expect(reports() == before)

        release.signal()
        try await untilReported(after: before)
        task.cancel()
        await task.value
        try await group.shutdownGracefully()
    }
}
