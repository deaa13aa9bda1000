// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation

/// The number of damaged texts of a fuzz test; `GATEHOUSE_FUZZ_ROUNDS` raises it.
enum FuzzRounds {
    static let count = ProcessInfo.processInfo.environment["GATEHOUSE_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 5_000
    /// The seed of the damage; `GATEHOUSE_FUZZ_SEED` selects other texts.
    static let seed = ProcessInfo.processInfo.environment["GATEHOUSE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
}
