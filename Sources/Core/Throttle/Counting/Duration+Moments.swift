// SPDX-License-Identifier: Apache-2.0

internal import Bytes

extension Duration {
    /// The nanoseconds, at most 2 * 10^18 (63 years).
    ///
    /// With this bound, adding two durations to a moment does not overflow an `Int`.
    var boundedNanoseconds: Int { Int(min(nanoseconds, 2_000_000_000_000_000_000)) }
}
