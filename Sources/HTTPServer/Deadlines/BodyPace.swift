// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The pace at which the body of a request arrives: it may take some time, and after that must arrive at a minimum
/// rate.
struct BodyPace {
    /// The number of bytes that have arrived.
    private(set) var receivedCount = 0
    /// The start of the body's time in nanoseconds; in the future if time was excluded.
    private var start: UInt64

    init(at now: UInt64) {
        start = now
    }

    /// Records bytes that have arrived.
    mutating func noteReceived(_ count: Int) { receivedCount += count }

    /// Excludes a time in which the client could not send.
    mutating func exclude(_ nanoseconds: UInt64) { start &+= nanoseconds }

    /// Returns whether the time is over and fewer bytes have arrived than the rate requires.
    func isTooSlow(at now: UInt64, times: DeadlineTimes) -> Bool {
        guard now > start else { return false }
        let elapsed = now - start
        guard elapsed > times.body else { return false }
        return Double(receivedCount) < Double(elapsed - times.body) / 1e9 * Double(times.bodyRate)
    }
}
