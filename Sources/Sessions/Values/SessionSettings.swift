// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The settings of the `sessions` block of realms.conf: the life time of sessions, and how many there may be.
public struct SessionSettings: Sendable, Hashable {
    /// The time after which a session without requests ends.
    ///
    /// The default is 30 minutes.
    public var idle = Duration.seconds(1800)
    /// The time after which a session ends in any case.
    ///
    /// The default is 12 hours.
    public var absolute = Duration.seconds(43_200)
    /// The time before its end at which a session's clients are warned.
    ///
    /// The default is 2 minutes.
    public var warning = Duration.seconds(120)
    /// The most sessions of a user; one more ends the one that has been idle longest.
    ///
    /// The default is 10.
    public var perUser = 10
    /// The most sessions of all users; no more can begin then.
    ///
    /// The default is 100,000.
    public var total = 100_000
    /// The most event streams that one session may have open.
    ///
    /// The default is 8.
    public var streamsPerSession = 8
    /// The most event streams of all sessions.
    ///
    /// The default is 5,000.
    public var streams = 5000

    /// The defaults.
    public init() {}
}
