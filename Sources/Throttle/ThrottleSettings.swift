// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// The settings of the `throttle` block of realms.conf: the limits of failures, and their consequences.
public struct ThrottleSettings: Sendable, Hashable {
    /// The number of failures within ``window`` that lock an account; 0 for no locks, with delayed answers only.
    ///
    /// The default of 10 leaves room for a user who tries old passwords. With the other defaults an attacker has 40 guesses
    /// an hour; ASVS 4.0.3 (2.2.1) allows 100.
    public var failures = 10
    /// The time for which a failure counts; it counts for an eighth more at most.
    public var window = Duration.seconds(900)
    /// The time for which an account is locked.
    ///
    /// Failures during a lock neither count nor extend it, and the first one after it starts from zero, as with
    /// pam_faillock.
    public var lock = Duration.seconds(900)
    /// The delay of the answer to a first failure; it doubles with each that follows.
    ///
    /// Zero for no delays. It is counted from the beginning of the login, so that it hides the time that
    /// modules take, up to the delay.
    public var delay = Duration.milliseconds(250)
    /// The longest delay, without the random part of up to a quarter of it.
    public var longestDelay = Duration.seconds(4)
    /// The number of failures within ``sourceWindow`` that lock a source; 0 for no locks.
    ///
    /// Many users may share an address, so it is higher than ``failures``.
    public var sourceFailures = 100
    /// The time for which a failure counts for its source.
    public var sourceWindow = Duration.seconds(900)
    /// The time for which a source is locked.
    public var sourceLock = Duration.seconds(900)
    /// The most accounts with failures that are kept, existing or not; beyond it, the network with most loses its oldest.
    public var accounts = 100_000
    /// The most sources with failures that are kept.
    public var sources = 100_000
    /// The sources that are not counted, such as a proxy that all requests come through; accounts still are.
    public var exempt: [CIDRBlock] = []

    /// The most attempts at one account that may wait for running ones to be settled.
    public var waitingPerAccount = 100
    /// The most attempts from one source that may wait.
    public var waitingPerSource = 1000
    /// The most attempts that may wait in all.
    public var waiting = 10_000
    /// The longest time that an attempt may wait; it is then treated as locked.
    public var waitLimit = Duration.seconds(30)
    /// The most answers that are delayed at a time; beyond it they are sent at once.
    public var delayedAnswers = 10_000

    /// The defaults.
    public init() {}
}
