// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import RealmKit

/// The settings of the `throttle` block of realms.conf: the limits of failures, and their consequences.
public struct ThrottleSettings: Sendable, Hashable {
    /// The number of failures within ``window`` that lock an account; 0 to never lock an account.
    ///
    /// With the default of 10, a user can try several old passwords without being locked. With all default settings, an
    /// attacker has 40 guesses an hour; ASVS 4.0.3 (2.2.1) allows 100.
    public var failures = 10
    /// The time for which a failure counts; it may count for up to an eighth longer.
    public var window = Duration.seconds(900)
    /// The time for which an account is locked.
    ///
    /// Failures during a lock count for the source only, and do not extend the lock. After the lock, counting starts from
    /// zero, as with pam_faillock.
    public var lock = Duration.seconds(900)
    /// The delay of the answer to a first failure, which each further failure doubles; zero for no delays.
    ///
    /// The delay is measured from the beginning of the login. So it hides how long the modules take, if they take less.
    public var delay = Duration.milliseconds(250)
    /// The longest delay; a random time of up to a quarter is added to each delay.
    public var longestDelay = Duration.seconds(4)
    /// The number of failures within ``sourceWindow`` that lock a source; 0 to never lock a source.
    ///
    /// The default is higher than that of ``failures``, because many users may share an address.
    public var sourceFailures = 100
    /// The time for which a failure counts for its source.
    public var sourceWindow = Duration.seconds(900)
    /// The time for which a source is locked.
    public var sourceLock = Duration.seconds(900)
    /// The maximum number of accounts whose failures are kept, also of users that do not exist.
    ///
    /// When it is reached, the oldest record of the network with the most records is removed.
    public var accounts = 100_000
    /// The maximum number of sources whose failures are kept.
    public var sources = 100_000
    /// The networks whose failures are counted for the account only, such as the network of a proxy.
    public var exempt: [CIDRBlock] = []

    /// The maximum number of attempts that wait at one account until a running attempt is settled.
    public var waitingPerAccount = 100
    /// The maximum number of attempts that wait at one source.
    public var waitingPerSource = 1000
    /// The maximum number of attempts that wait, at all accounts and sources together.
    public var waiting = 10_000
    /// The longest time that an attempt waits before it is refused as if the account were locked.
    public var waitLimit = Duration.seconds(30)
    /// The maximum number of answers that are delayed at a time; further ones are sent at once.
    public var delayedAnswers = 10_000

    /// Creates the default settings.
    public init() {}
}

extension Duration {
    /// The nanoseconds, at most 2 * 10^18 (63 years), so that adding two durations to a moment does not overflow an `Int`.
    var boundedNanoseconds: Int { Int(min(nanoseconds, 2_000_000_000_000_000_000)) }
}
