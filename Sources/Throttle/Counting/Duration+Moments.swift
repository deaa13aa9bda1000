// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes

extension Duration {
    /// The nanoseconds, at most 2 * 10^18, which are 63 years: the sum of two and a moment does not overflow an `Int`.
    var boundedNanoseconds: Int { Int(min(nanoseconds, 2_000_000_000_000_000_000)) }
}
