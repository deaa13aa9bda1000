// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The rate at which the body of a request arrives.
///
/// For some time any rate is accepted. After that time the body must arrive at a minimum rate.
struct BodyPace {
    /// The number of bytes that have arrived.
    private(set) var receivedCount = 0
    /// The start of the body in nanoseconds, plus the excluded time.
    ///
    /// It can be in the future.
    private var start: UInt64

    init(at now: UInt64) {
        start = now
    }

    /// Records bytes that have arrived.
    mutating func recordReceived(_ count: Int) { receivedCount += count }

    /// Excludes a period in which the client could not send.
    mutating func exclude(_ nanoseconds: UInt64) { start &+= nanoseconds }

    /// Returns whether the time has passed and fewer bytes have arrived than the minimum rate requires.
    func isTooSlow(at now: UInt64, times: TimeLimits) -> Bool {
        guard now > start else { return false }
        let elapsed = now - start
        guard elapsed > times.body else { return false }
        return Double(receivedCount) < Double(elapsed - times.body) / 1e9 * Double(times.bodyRate)
    }
}
