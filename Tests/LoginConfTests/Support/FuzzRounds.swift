// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation

/// How many damaged texts the fuzz tests try; `GATEHOUSE_FUZZ_ROUNDS` raises it.
enum FuzzRounds {
    static let count = ProcessInfo.processInfo.environment["GATEHOUSE_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 5_000
    /// `GATEHOUSE_FUZZ_SEED` tries other texts.
    static let seed = ProcessInfo.processInfo.environment["GATEHOUSE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
}
