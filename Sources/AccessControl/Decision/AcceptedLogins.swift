// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import OpenSSLKit
package import RealmKit
internal import Sessions
internal import Synchronization

/// The cache for the realms with a `cache` block: the last accepted login of each account.
///
/// - Only accepted logins are stored. Every other login is decided by the realm.
/// - The password is not stored. An entry has a MAC of the realm, the user name and the password. The secret key of the
///   MAC is random and exists only in this process. The MAC covers each input with its length.
/// - An account has one entry. If a user changes the password, the entry of the old password is removed by the first
///   login with the new one, and by any change that the realm reports.
/// - The time of an entry begins with the login that the realm has accepted. A use of the entry does not extend it.
/// - The number of entries is limited. If the cache is full, the oldest entry is removed.
///
/// The credential cache of ``CredentialCache`` is different: it spares a login for each request of one client. This cache
/// spares a call of the realm's back end for each login of all clients.
package final class AcceptedLogins: LoginCache {
    private struct Entry {
        let tag: Digest
        let login: CachedLogin
        let client: CredentialCache.Client
        let time: UInt64
        let number: UInt64
    }

    private struct State {
        var entries: [Account: Entry] = [:]
        /// The accounts and numbers of the entries in the order in which they were stored; some may be removed.
        var order: [(account: Account, number: UInt64)] = []
        var first = 0
        var lastNumber: UInt64 = 0
        var revocations = RevocationLog<CredentialCache.Client>()
    }

    private let mac: HMACKey
    private let clock: any LoginClock
    private let capacity: Int
    private let log: RealmLog
    private let state = Mutex(State())

    /// An empty cache.
    ///
    /// - Parameters:
    ///   - clock: The clock for the age of entries.
    ///   - capacity: The maximum number of entries.
    ///   - log: The log for users who are accepted while their realm is unavailable.
    /// - Throws: ``OpenSSLError`` if no random bytes can be generated for the key of the MAC.
    package init(clock: any LoginClock, capacity: Int = 10_000, log: RealmLog) throws(OpenSSLError) {
        var key = try RandomBytes.make(32)
        defer { for index in key.indices { key[index] = 0 } }
        mac = try HMACKey(key.span)
        self.clock = clock
        self.capacity = capacity
        self.log = log
    }

    package func place(
        of account: Account,
        username: Username,
        password: Secret,
        from peer: String?
    ) -> (any LoginCachePlace)? {
        let tag: Digest? = password.withBytes { password in
            do throws(OpenSSLError) {
                return try mac.tag { message in
                    message.append(field: account.realm.utf8Span.span)
                    message.append(field: username.text.utf8Span.span)
                    message.append(field: password)
                }
            } catch {
                // Without a MAC there is no place, and the realm decides.
                return nil
            }
        }
        guard let tag else { return nil }
        return Place(
            cache: self,
            tag: tag,
            account: account,
            network: peer.map { ClientNetwork($0) },
            epoch: state.withLock { $0.revocations.epoch }
        )
    }

    package func reportStaleUse(_ account: Account, instead report: LoginReport, age: Duration) {
        let cause = report.steps.compactMap(\.fault).first.map { " (\($0.log))" } ?? ""
        log(
            "realm \(account.realm) is unavailable\(cause): \(report.username) was accepted from the cache; the realm accepted this user \(age.components.seconds) s ago"
        )
    }

    /// Removes entries, such as those of a changed user or a locked account.
    ///
    /// - Parameter matches: Returns true for the clients whose entries are removed. It is called now for all entries, and
    ///   again when a login that is running now would store an entry.
    package func evict(where matches: @escaping @Sendable (CredentialCache.Client) -> Bool) {
        state.withLock { state in
            state.revocations.revoke(where: matches)
            for (account, entry) in state.entries where matches(entry.client) { state.entries[account] = nil }
        }
    }

    /// The number of entries.
    package var count: Int { state.withLock { $0.entries.count } }

    private struct Place: LoginCachePlace {
        let cache: AcceptedLogins
        let tag: Digest
        let account: Account
        let network: ClientNetwork?
        let epoch: RevocationEpoch

        var entry: (login: CachedLogin, age: Duration)? {
            let now = cache.clock.now
            return cache.state.withLock { state in
                guard let entry = state.entries[account], constantTimeEqual(entry.tag.bytes, tag.bytes) else {
                    return nil
                }
                return (entry.login, .nanoseconds(Int64(clamping: now &- min(entry.time, now))))
            }
        }

        func store(_ login: CachedLogin) {
            let client = CredentialCache.Client(account: account, username: login.username, network: network)
            let now = cache.clock.now
            cache.state.withLock { state in
                guard !state.revocations.hasRevoked(client, since: epoch) else { return }
                state.lastNumber &+= 1
                state.entries[account] = Entry(
                    tag: tag,
                    login: login,
                    client: client,
                    time: now,
                    number: state.lastNumber
                )
                state.order.append((account, state.lastNumber))
                while state.first < state.order.count,
                    state.entries.count > cache.capacity || AcceptedLogins.isOldestRemoved(state)
                {
                    let (oldest, number) = state.order[state.first]
                    if state.entries[oldest]?.number == number { state.entries[oldest] = nil }
                    state.first += 1
                }
                guard state.first > 1024, state.first * 2 > state.order.count else { return }
                state.order.removeFirst(state.first)
                state.first = 0
            }
        }

        func remove() { cache.state.withLock { $0.entries[account] = nil } }
    }

    private static func isOldestRemoved(_ state: State) -> Bool {
        let (account, number) = state.order[state.first]
        return state.entries[account]?.number != number
    }
}
