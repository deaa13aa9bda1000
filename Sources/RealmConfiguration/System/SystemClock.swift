// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
public import RealmKit

/// The system's clock, for executables.
public struct SystemClock: LoginClock {
    /// A clock; all instances show the same time.
    public init() {}

    /// Nanoseconds of the system's monotonic clock.
    public var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Waits until ``now`` has reached a moment.
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
    /// The system's clock, for executables; it may be set.
    public static let system = WallClock { Int(time(nil)) }
}
