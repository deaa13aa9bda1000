// SPDX-License-Identifier: Apache-2.0

/// The times of a realm's `cache` block.
package struct CacheTimes: Sendable, Hashable {
    /// The time for which an accepted login is repeated without asking the realm.
    package let lifetime: Duration
    /// The additional time for which it is repeated if the realm is down.
    package let staleTime: Duration

    package init(lifetime: Duration, staleTime: Duration) {
        self.lifetime = lifetime
        self.staleTime = staleTime
    }
}
