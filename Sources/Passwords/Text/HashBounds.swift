// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What costs are taken from stored texts and from policies: more than the most would keep a slot busy for about ten
/// seconds and longer.
enum HashBounds {
    /// Each step doubles the time; 12 takes about a quarter of a second, 17 eight.
    static let bcrypt = 4...17
    /// libxcrypt's least; its most is a hundred times as many.
    static let shaRounds = 1000...10_000_000
    static let mostSHA1Rounds = 10_000_000
    static let mostSunRounds = 1_000_000
}
