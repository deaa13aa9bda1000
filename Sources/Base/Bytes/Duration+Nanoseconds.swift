// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The number of whole nanoseconds: 0 for a negative duration, `Int64.max` for 292 years and more.
    ///
    /// The sum of any two values fits into a `UInt64`.
    package var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, sumOverflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return UInt64(overflow || sumOverflow ? .max : sum)
    }
}
