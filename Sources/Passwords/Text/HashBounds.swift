// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The bounds of the costs that stored texts and policies may have: above the upper bounds one check takes about ten
/// seconds or longer.
enum HashBounds {
    /// Each step doubles the time; 12 takes about a quarter of a second, 17 eight.
    static let bcrypt = 4...17
    /// The lower bound is libxcrypt's; libxcrypt's upper bound is a hundred times as high.
    static let shaRounds = 1000...10_000_000
    static let mostSHA1Rounds = 10_000_000
    static let mostSunRounds = 1_000_000
}
