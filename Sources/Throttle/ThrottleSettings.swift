// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// How many failures there may be, and what follows from them: the `throttle` block of realms.conf.
public struct ThrottleSettings: Sendable, Hashable {
    /// How many failures within ``window`` lock an account; 0 for none: then answers are delayed and nothing is locked.
    ///
    /// The default of 10 leaves room for a person who tries out old passwords. With the other defaults a guesser has 40
    /// chances an hour; ASVS 4.0.3 (2.2.1) allows 100.
    public var failures = 10
    /// For how long a failure counts at least; it counts an eighth longer at most.
    public var window = Duration.seconds(900)
    /// For how long an account is locked.
    ///
    /// Failures meanwhile neither count nor extend it, and the first one after it starts from zero, as with pam_faillock.
    public var lock = Duration.seconds(900)
    /// How long the answer to a first failure is held back; it doubles with each that follows.
    ///
    /// Zero for no delays.
    /// It is counted from the beginning of the walk, so that up to a quarter of a second nobody sees how long the modules
    /// took.
    public var delay = Duration.milliseconds(250)
    /// The most an answer is held back, but for a quarter more that is drawn by lot.
    public var longestDelay = Duration.seconds(4)
    /// How many failures within ``sourceWindow`` lock a source address; 0 for none.
    ///
    /// Many users may share an address, so it is higher than ``failures``.
    public var sourceFailures = 100
    /// For how long a failure counts for its source.
    public var sourceWindow = Duration.seconds(900)
    /// For how long a source is locked.
    public var sourceLock = Duration.seconds(900)
    /// How many accounts with failures are kept, known and unknown; of the source that has brought most, the oldest goes.
    public var accounts = 100_000
    /// How many source addresses with failures are kept.
    public var sources = 100_000
    /// Sources that are not counted, such as a proxy that all requests come through; accounts still are.
    public var exempt: [AddressBlock] = []

    /// How many attempts at one account may wait for those on their way to be settled.
    public var waitingPerAccount = 100
    /// How many attempts from one source may wait.
    public var waitingPerSource = 1000
    /// How many attempts may wait in all.
    public var waiting = 10_000
    /// How long an attempt may wait; then it is walked as if locked.
    public var patience = Duration.seconds(30)
    /// How many answers may be held back at a time; beyond that they are given at once.
    public var delayedAnswers = 10_000

    /// The defaults.
    public init() {}
}

extension Duration {
    /// The nanoseconds, as many as fit into a quarter of the range, so that sums of moments do not overflow.
    var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: min(max(seconds, 0), 2_000_000_000)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
