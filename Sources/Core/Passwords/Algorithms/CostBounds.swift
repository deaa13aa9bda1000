// SPDX-License-Identifier: Apache-2.0

/// The bounds of the costs of stored hashes and policies.
///
/// Above the upper bounds one check takes about ten seconds or longer.
enum CostBounds {
    /// Each step doubles the time.
    ///
    /// A cost of 12 takes about a quarter of a second, a cost of 17 eight seconds.
    static let bcrypt = 4...17
    /// The lower bound is the same as in libxcrypt.
    ///
    /// The upper bound is a hundredth of the upper bound in libxcrypt.
    static let shaRounds = 1000...10_000_000
    static let maximumSHA1Rounds = 10_000_000
    static let maximumSunRounds = 1_000_000
    /// The binary logarithm of the rounds; the lower bound is that of phpass.
    static let phpass = 7...22
}
