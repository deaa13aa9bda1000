// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A point in a ``RevocationLog``.
///
/// It is read before a login, which may not have seen the revocations after it.
public struct RevocationEpoch: Sendable, Hashable {
    fileprivate let number: UInt64
}

/// The recent revocations, for the sessions and cache entries that running logins are about to add.
///
/// A login may have been accepted with a password that is no longer valid, and finish after all sessions and cached
/// credentials of its user have been revoked. Whatever it adds is therefore checked against the revocations since its
/// ``RevocationEpoch``. The log is bounded: for an epoch that is older than the log, everything counts as revoked.
package struct RevocationLog<Element>: Sendable {
    /// The number of revocations that are kept: 1,000.
    package static var capacity: Int { 1000 }

    private struct Revocation {
        let number: UInt64
        let matches: @Sendable (Element) -> Bool
    }

    private var revocations: [Revocation] = []
    private var lastNumber: UInt64 = 0
    /// The number of the last revocation that is no longer kept.
    private var lastDropped: UInt64 = 0

    /// A log without revocations.
    package init() {}

    /// The epoch as of now.
    package var epoch: RevocationEpoch { RevocationEpoch(number: lastNumber) }

    /// Adds a revocation; the oldest one may be dropped.
    ///
    /// - Parameter matches: Returns true for what is revoked. It is called with elements that begin later.
    package mutating func revoke(where matches: @escaping @Sendable (Element) -> Bool) {
        lastNumber += 1
        revocations.append(Revocation(number: lastNumber, matches: matches))
        if revocations.count > Self.capacity { lastDropped = revocations.removeFirst().number }
    }

    /// Returns whether an element has been revoked since an epoch; true if the epoch is older than the log.
    package func hasRevoked(_ element: Element, since epoch: RevocationEpoch) -> Bool {
        guard epoch.number >= lastDropped else { return true }
        for revocation in revocations.reversed() {
            guard revocation.number > epoch.number else { return false }
            if revocation.matches(element) { return true }
        }
        return false
    }
}
