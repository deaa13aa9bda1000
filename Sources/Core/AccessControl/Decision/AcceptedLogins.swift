// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import OpenSSLKit
package import RealmKit
internal import Sessions
internal import Synchronization
internal import Workers

/// The cache for the realms with a `cache` block: the last accepted logins of each account.
///
/// It spares a call of the realm's back end for each login; ``CredentialCache`` spares a login for each request.
///
/// - Only accepted logins are stored, without the password. An entry has a MAC of the realm, the service, the client's
///   address, the user name and the password, each with its length. The random key exists only in this process.
/// - All entries of an account have the same password. Those of an old password are removed by the first login with the
///   new one, and by any change that the realm reports.
/// - The age of an entry begins with the login that the realm has accepted. A use does not extend it.
/// - If the cache is full, the accounts whose last logins are the oldest are removed.
package final class AcceptedLogins: LoginCache {
    /// The maximum number of services and client addresses of an account.
    static let addresses = 8
    /// The maximum number of refused passwords that are remembered for logins that are running.
    static let maximumRefusals = 1024

    private struct Entry {
        let tag: Digest
        let login: CachedLogin
        let client: CredentialCache.Client
        let time: UInt64
    }

    private struct AccountEntries {
        /// The MAC of the password, without service and address.
        let passwordTag: Digest
        /// The entries, the oldest first.
        var entries: [Entry]
    }

    private struct State {
        var accounts: [Account: AccountEntries] = [:]
        var revocations = RevocationLog<CredentialCache.Client>()
        /// The passwords that realms have refused lately, and when.
        var refusals: [(tag: Digest, time: UInt64)] = []
    }

    private let mac: HMACKey
    private let clock: any LoginClock
    private let capacity: Int
    private let log: RealmLog
    private let state = Mutex(State())
    private let checks = SharedCalls<UTF8Text, Bool>()

    /// An empty cache for a number of accounts; the log names users who are accepted while their realm is unavailable.
    package init(clock: any LoginClock, capacity: Int = 10_000, log: RealmLog) throws(OpenSSLError) {
        var key = try RandomBytes.make(32)
        defer { for index in key.indices { key[index] = 0 } }
        mac = try HMACKey(key.span)
        self.clock = clock
        self.capacity = capacity
        self.log = log
    }

    package func entry(
        for request: LoginRequest,
        account: Account,
        password: Secret
    ) -> (any LoginCacheEntry)? {
        let tags: (password: Digest, login: Digest)? = password.withBytes { password in
            do throws(OpenSSLError) {
                let passwordTag = try mac.tag { message in
                    message.append(field: account.realm.utf8Span.span)
                    message.append(field: request.username.text.utf8Span.span)
                    message.append(field: password)
                }
                let loginTag = try mac.tag { message in
                    passwordTag.withBytes { message.append($0) }
                    message.append(field: request.service.utf8Span.span)
                    message.append(request.peer == nil ? 0 : 1)
                    message.append(field: (request.peer ?? "").utf8Span.span)
                }
                return (passwordTag, loginTag)
            } catch {
                // Without a MAC there is no key, and the realm decides.
                return nil
            }
        }
        guard let tags else { return nil }
        return KeyedEntry(
            cache: self,
            passwordTag: tags.password,
            tag: tags.login,
            account: account,
            network: request.peer.map { ClientNetwork($0) },
            epoch: state.withLock { $0.revocations.epoch },
            begin: clock.now
        )
    }

    package func isDown(_ realm: String, check: @escaping @Sendable () async -> Bool) async -> Bool {
        let isDown = await checks.value(of: UTF8Text(realm)) { [log] in
            let isDown = await check()
            if !isDown { log("realm \(realm) could not decide a login, but decides others: the cache is not used") }
            return isDown
        }
        return isDown ?? false
    }

    package func reportStaleUse(_ account: Account, instead report: LoginReport, age: Duration) {
        let cause = report.steps.compactMap(\.fault).first.map { " (\($0.log))" } ?? ""
        log(
            "realm \(account.realm) is unavailable\(cause): \(report.username) was accepted from the cache; the realm accepted this user \(age.components.seconds) s ago"
        )
    }

    /// Removes entries, such as those of a changed user or a locked account.
    ///
    /// The closure is called again when a login that is running now would store an entry.
    package func evict(where matches: @escaping @Sendable (CredentialCache.Client) -> Bool) {
        state.withLock { state in
            state.revocations.revoke(where: matches)
            for (account, entries) in state.accounts {
                let kept = entries.entries.filter { !matches($0.client) }
                guard kept.count < entries.entries.count else { continue }
                state.accounts[account]?.entries = kept
                if kept.isEmpty { state.accounts[account] = nil }
            }
        }
    }

    package var count: Int { state.withLock { $0.accounts.count } }

    private struct KeyedEntry: LoginCacheEntry {
        let cache: AcceptedLogins
        let passwordTag: Digest
        let tag: Digest
        let account: Account
        let network: ClientNetwork?
        let epoch: RevocationEpoch
        let begin: UInt64

        var accepted: (login: CachedLogin, age: Duration)? {
            let now = cache.clock.now
            return cache.state.withLock { state in
                let entries = state.accounts[account]?.entries ?? []
                guard let entry = entries.first(where: { constantTimeEqual($0.tag.bytes, tag.bytes) }) else {
                    return nil
                }
                return (entry.login, .nanoseconds(Int64(clamping: now &- min(entry.time, now))))
            }
        }

        func refuse() {
            let now = cache.clock.now
            let isKnown = cache.state.withLock { state in
                if state.refusals.count >= AcceptedLogins.maximumRefusals { state.refusals.removeFirst() }
                state.refusals.append((passwordTag, now))
                guard let entries = state.accounts[account] else { return false }
                return constantTimeEqual(entries.passwordTag.bytes, passwordTag.bytes)
            }
            if isKnown { remove() }
        }

        func store(_ login: CachedLogin) {
            let client = CredentialCache.Client(account: account, username: login.username, network: network)
            let entry = Entry(tag: tag, login: login, client: client, time: cache.clock.now)
            cache.state.withLock { state in
                guard !state.revocations.hasRevoked(client, since: epoch) else { return }
                // The realm has refused the password since, in a login that was faster.
                let isRefused = state.refusals.contains {
                    $0.time >= begin && constantTimeEqual($0.tag.bytes, passwordTag.bytes)
                }
                guard !isRefused else { return }
                var entries = state.accounts[account]?.entries ?? []
                let isSamePassword = state.accounts[account].map {
                    constantTimeEqual($0.passwordTag.bytes, passwordTag.bytes)
                }
                if isSamePassword != true { entries = [] }
                entries.removeAll { constantTimeEqual($0.tag.bytes, tag.bytes) }
                if entries.count >= AcceptedLogins.addresses { entries.removeFirst() }
                entries.append(entry)
                state.accounts[account] = AccountEntries(passwordTag: passwordTag, entries: entries)
                if state.accounts.count > cache.capacity { AcceptedLogins.removeOldest(&state) }
            }
        }

        func remove() {
            let account = account
            cache.state.withLock { state in
                // Logins that are running now must not store an entry afterwards: they may have been decided before.
                state.revocations.revoke { $0.account == account }
                state.accounts[account] = nil
            }
        }
    }

    /// Removes the tenth of the accounts whose last logins are the oldest; sorting them for each one would take long.
    private static func removeOldest(_ state: inout State) {
        let byAge = state.accounts.sorted { ($0.value.entries.last?.time ?? 0) < ($1.value.entries.last?.time ?? 0) }
        for (account, _) in byAge.prefix(max(1, byAge.count / 10)) { state.accounts[account] = nil }
    }
}
