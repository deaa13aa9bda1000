// SPDX-License-Identifier: Apache-2.0

/// A point in a ``RevocationLog``.
///
/// The epoch is read before a login. A revocation after the epoch also applies to the result of the login.
package struct RevocationEpoch: Sendable, Hashable {
    fileprivate let number: UInt64
}

/// The recent revocations, which also apply to the sessions and cache entries that running logins add later.
///
/// For example, a user's password may be changed while a login with the old password is running. The change revokes all
/// sessions and cached credentials of the user, but the login would add a session afterwards. Each addition is
/// therefore checked against the revocations since the ``RevocationEpoch`` of the login. If that is before the oldest
/// kept revocation, every addition counts as revoked.
package struct RevocationLog<Element>: Sendable {
    /// The maximum number of revocations that are kept.
    package static var capacity: Int { 1000 }

    private struct Revocation {
        let number: UInt64
        let matches: @Sendable (Element) -> Bool
    }

    private var revocations: [Revocation] = []
    private var lastNumber: UInt64 = 0
    /// The number of the last revocation that is no longer kept.
    private var lastDropped: UInt64 = 0

    package init() {}

    package var epoch: RevocationEpoch { RevocationEpoch(number: lastNumber) }

    /// Adds a revocation, in place of the oldest if the log is full; `matches` is also called for later additions.
    package mutating func revoke(where matches: @escaping @Sendable (Element) -> Bool) {
        lastNumber += 1
        revocations.append(Revocation(number: lastNumber, matches: matches))
        if revocations.count > Self.capacity { lastDropped = revocations.removeFirst().number }
    }

    /// Returns whether an element was revoked since an epoch, or the epoch is before the oldest kept revocation.
    package func hasRevoked(_ element: Element, since epoch: RevocationEpoch) -> Bool {
        guard epoch.number >= lastDropped else { return true }
        for revocation in revocations.reversed() {
            guard revocation.number > epoch.number else { return false }
            if revocation.matches(element) { return true }
        }
        return false
    }
}
