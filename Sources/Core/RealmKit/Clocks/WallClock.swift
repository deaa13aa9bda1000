// SPDX-License-Identifier: Apache-2.0

/// A clock for the calendar time, which determines when accounts expire.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Int

    /// Creates a clock.
    ///
    /// - Parameter read: Returns the seconds since 1970, on any thread.
    public init(_ read: @escaping @Sendable () -> Int) {
        self.read = read
    }

    /// The seconds since 1970.
    public var seconds: Int { read() }
}
