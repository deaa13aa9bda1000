// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The number of damaged texts in a fuzz test, and the seed for the damage.
enum FuzzRounds {
    /// The number of texts; `GATEHOUSE_FUZZ_ROUNDS` sets another number.
    static let count = ProcessInfo.processInfo.environment["GATEHOUSE_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 5_000
    /// The seed of the random damage; `GATEHOUSE_FUZZ_SEED` sets another seed.
    static let seed = ProcessInfo.processInfo.environment["GATEHOUSE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
}
