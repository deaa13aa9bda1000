// SPDX-License-Identifier: Apache-2.0

import Bytes
import Testing

@Suite struct DurationTests {
    @Test(
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (.milliseconds(250), 250_000_000),
            (.seconds(86_400), 86_400_000_000_000),
            (.seconds(-1), 0), (.nanoseconds(-1), 0), (.seconds(Int64.min), 0),
            // The last value in range, then values out of range: just above it, where the nanoseconds wrap around, and
            // the longest duration.
            (.nanoseconds(Int64.max), UInt64(Int64.max)),
            (.seconds(9_223_372_036) + .milliseconds(900), UInt64(Int64.max)),
            (.seconds(18_446_744_073) + .milliseconds(900), UInt64(Int64.max)),
            (.seconds(Int64.max), UInt64(Int64.max)),
        ] as [(Duration, UInt64)]
    )
    func `the nanoseconds of a duration are limited to the range from 0 to Int64.max`(
        duration: Duration,
        nanoseconds: UInt64
    ) {
        #expect(duration.nanoseconds == nanoseconds)
    }

    @Test func `a longer duration never has fewer nanoseconds`() {
        let years = [0, 100, 291, 292, 293, 400, 584, 585, 600, 10_000].map { Duration.seconds($0 * 31_557_600) }
        for (shorter, longer) in zip(years, years.dropFirst()) { #expect(shorter.nanoseconds <= longer.nanoseconds) }
    }
}
