// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Processor time in nanoseconds, without the time of other programs.
package enum ProcessorTime {
    /// The processor time that all threads of this process have used.
    package static var ofProcess: UInt64 { now(CLOCK_PROCESS_CPUTIME_ID) }

    /// The processor time that the calling thread has used.
    package static var ofThread: UInt64 { now(CLOCK_THREAD_CPUTIME_ID) }

    /// Measures the processor time of work in the whole process.
    package static func measure(_ work: () async throws -> Void) async rethrows -> Double {
        let begin = ofProcess
        try await work()
        return Double(ofProcess - begin)
    }

    /// Measures the processor time of work in the calling thread.
    package static func measureThread(_ work: () throws -> Void) rethrows -> Double {
        let begin = ofThread
        try work()
        return Double(ofThread - begin)
    }

    private static func now(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        let result = unsafe clock_gettime(clock, &time)
        precondition(result == 0, "the system has no clock for processor time")
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
