// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import RealmKit

/// The monotonic clock of the system.
public struct SystemClock: LoginClock {
    /// Creates a clock; all instances return the same time.
    public init() {}

    /// The time in nanoseconds.
    public var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Waits until ``now`` has reached a time.
    public func sleep(until deadline: UInt64) async throws(CancellationError) {
        let begin = now
        guard deadline > begin else { return }
        do {
            try await Task.sleep(nanoseconds: deadline - begin)
        } catch {
            throw CancellationError()
        }
    }
}

extension WallClock {
    /// The wall clock of the system, in seconds since 1970; the administrator may set it.
    public static let system = WallClock { Int(time(nil)) }
}
