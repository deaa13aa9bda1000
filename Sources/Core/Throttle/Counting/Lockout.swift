// SPDX-License-Identifier: Apache-2.0

/// The lock of an account or a source.
public struct Lockout: Sendable, Hashable {
    /// The account or source.
    public let key: ThrottleKey
    /// The number of failures that caused the lock.
    public let failures: Int
    /// The end of the lock, in seconds since 1970.
    ///
    /// It is computed with the present time of the wall clock.
    public let end: Int

    /// Creates the lock of an account or a source.
    ///
    /// - Parameters:
    ///   - key: The account or source.
    ///   - failures: The number of failures that caused the lock.
    ///   - end: The end of the lock, in seconds since 1970.
    public init(_ key: ThrottleKey, failures: Int, end: Int) {
        self.key = key
        self.failures = failures
        self.end = end
    }
}
