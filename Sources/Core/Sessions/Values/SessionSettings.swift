// SPDX-License-Identifier: Apache-2.0

/// The settings of the `sessions` block of realms.conf: the lifetime and the maximum number of sessions.
public struct SessionSettings: Sendable, Hashable {
    /// The idle limit: a session ends after this time without a request.
    ///
    /// The default is 30 minutes.
    public var idle = Duration.seconds(1800)
    /// The absolute limit: a session ends after this time in any case.
    ///
    /// The default is 12 hours.
    public var absolute = Duration.seconds(43_200)
    /// The time before the end of a session at which its clients are warned.
    ///
    /// The default is 2 minutes.
    public var warning = Duration.seconds(120)
    /// The maximum number of sessions of a user.
    ///
    /// A further sign-in ends the least recently used session.
    ///
    /// The default is 10.
    public var perUser = 10
    /// The maximum number of sessions of all users.
    ///
    /// At the maximum, a sign-in fails.
    ///
    /// The default is 100,000.
    public var total = 100_000
    /// The maximum number of open event streams of a session.
    ///
    /// The default is 8.
    public var streamsPerSession = 8
    /// The maximum number of open event streams of all sessions.
    ///
    /// At the maximum, the user with the most streams loses one.
    ///
    /// The default is 5,000.
    public var streams = 5000
    /// The maximum number of open event streams of a user, whose sessions at several hosts may be many: as many as the
    /// user's sign-ins may have at one host.
    var streamsPerUser: Int { streamsPerSession * max(1, perUser) }

    /// The defaults.
    public init() {}
}
