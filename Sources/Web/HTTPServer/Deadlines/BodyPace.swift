// SPDX-License-Identifier: Apache-2.0

/// The rate at which the body of a request arrives.
///
/// During the first ``TimeLimits/body`` nanoseconds any rate is accepted. After that the body must arrive at the rate
/// ``TimeLimits/bodyRate``.
struct BodyPace {
    /// The number of bytes that have arrived.
    private(set) var receivedCount = 0
    /// The time when the body began, plus the excluded periods, in nanoseconds.
    ///
    /// The sum can be later than the current time.
    private var start: UInt64

    init(at now: UInt64) {
        start = now
    }

    /// Records bytes that have arrived.
    mutating func recordReceived(_ count: Int) { receivedCount += count }

    /// Excludes a period in which the client could not send from the measurement.
    mutating func exclude(_ nanoseconds: UInt64) { start &+= nanoseconds }

    /// Returns whether fewer bytes have arrived than ``TimeLimits/bodyRate`` requires for the time after
    /// ``TimeLimits/body``.
    func isTooSlow(at now: UInt64, times: TimeLimits) -> Bool {
        guard now > start else { return false }
        let elapsed = now - start
        guard elapsed > times.body else { return false }
        return Double(receivedCount) < Double(elapsed - times.body) / 1e9 * Double(times.bodyRate)
    }
}
