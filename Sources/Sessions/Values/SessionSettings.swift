// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// How long sessions live and how many there may be: what the `sessions` block of realms.conf says.
public struct SessionSettings: Sendable, Hashable {
    /// How long a session lives without a request.
    ///
    /// The default is 30 minutes.
    public var idle = Duration.seconds(1800)
    /// How long a session lives, whatever happens.
    ///
    /// The default is 12 hours.
    public var absolute = Duration.seconds(43_200)
    /// How long before its end a session is announced to expire.
    ///
    /// The default is 2 minutes.
    public var warning = Duration.seconds(120)
    /// How many sessions a user may have; one more ends the one that has been idle longest.
    ///
    /// The default is 10.
    public var perUser = 10
    /// How many sessions there may be; no more can begin then.
    ///
    /// The default is 100,000.
    public var total = 100_000
    /// How many event streams one session may have open.
    ///
    /// The default is 8.
    public var streamsPerSession = 8
    /// How many event streams there may be.
    ///
    /// The default is 5,000.
    public var streams = 5000

    /// The defaults.
    public init() {}
}
