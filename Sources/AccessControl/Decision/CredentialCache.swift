// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import OpenSSLKit
package import RealmKit
package import Sessions
internal import Synchronization

/// The credentials that realms accepted a short time ago.
///
/// A client that sends its credentials with every request is thus not logged in with every request.
///
/// - Only accepted credentials are kept; rejected ones are checked again each time.
/// - Neither the password nor the typed name is kept. The key of an entry is a MAC of realms, client address, name and
///   password under a key that is generated at random when the process starts. Each of them is preceded by its length,
///   so no two different inputs give the same bytes (CVE-2026-71326). The client address is part of it, so the throttle
///   counts a guess from another address.
/// - An entry expires a fixed time after its login, however often it is used.
/// - The number of entries is bounded; beyond the bound the oldest is evicted.
package final class CredentialCache: Sendable {
    /// An identity whose credentials were accepted.
    package final class Entry: Sendable {
        /// The identity.
        package let identity: AuthenticatedIdentity
        /// The identity as rules and pages see it.
        package let user: SignedInUser
        /// Responses that depend on nothing but the identity.
        package let responses = ResponseCache()
        fileprivate let client: Client
        fileprivate let expiry: UInt64
        /// Distinguishes the entry from an earlier one of the same key.
        fileprivate let number: UInt64
        private let authorization = Mutex(Authorization())

        private struct Authorization {
            // The last rule and its result: neither rule nor identity can change.
            var rule: ProtectionRules.CompiledRule?
            var isAllowed = false
        }

        fileprivate init(_ identity: AuthenticatedIdentity, of client: Client, expiry: UInt64, number: UInt64) {
            self.identity = identity
            user = SignedInUser(identity)
            self.client = client
            self.expiry = expiry
            self.number = number
        }

        /// Returns whether the identity meets the requirements of a rule.
        func isAllowed(by rule: ProtectionRules.CompiledRule) -> Bool {
            authorization.withLock { last in
                if last.rule === rule { return last.isAllowed }
                last.isAllowed = rule.rule.allows(identity)
                last.rule = rule
                return last.isAllowed
            }
        }
    }

    /// The account that was logged in, and the network it was logged in from.
    package struct Client: Sendable, Hashable {
        /// The account, as the throttle counts it.
        let account: Account
        /// The user.
        let username: Username
        /// The client's network; nil if the address is not known.
        let network: ClientNetwork?

        /// An account and a network.
        package init(account: Account, username: Username, network: ClientNetwork?) {
            self.account = account
            self.username = username
            self.network = network
        }
    }

    /// The key of an entry: a MAC of realms, client address, name and password.
    package struct Key: Hashable, Sendable {
        fileprivate let tag: Digest
        /// The revocation epoch in which the key was made, which is before the credentials are checked.
        fileprivate let epoch: RevocationEpoch
    }

    private struct State {
        var entries: [Digest: Entry] = [:]
        /// The entries in the order in which they were added; some may have been evicted.
        var order: [(tag: Digest, number: UInt64)] = []
        var first = 0
        var lastNumber: UInt64 = 0
        var revocations = RevocationLog<Client>()
    }

    private let mac: HMACKey
    private let lifetime: UInt64
    private let capacity: Int
    private let state = Mutex(State())

    /// An empty cache.
    ///
    /// - Parameters:
    ///   - lifetime: The lifetime of an entry, in nanoseconds; 0 turns the cache off.
    ///   - capacity: The largest number of entries.
    /// - Throws: ``OpenSSLError`` if no random bytes can be generated for the key of the MAC.
    package init(lifetime: UInt64, capacity: Int = 10_000) throws(OpenSSLError) {
        var key = try RandomBytes.make(32)
        defer { for index in key.indices { key[index] = 0 } }
        mac = try HMACKey(key.span)
        self.lifetime = lifetime
        self.capacity = capacity
    }

    /// Returns the key of credentials; nil if the cache is turned off, or no MAC can be computed.
    ///
    /// - Parameters:
    ///   - realms: The realms that check the credentials, in order.
    ///   - peer: The client's address.
    ///   - credentials: Name and password.
    /// - Returns: The key of credentials; nil if the cache is turned off, or no MAC can be computed.
    package func key(realms: [String], peer: String?, credentials: BasicCredentials) -> Key? {
        guard lifetime > 0 else { return nil }
        let tag: Digest? = credentials.withBytes { name, password in
            do throws(OpenSSLError) {
                return try mac.tag { message in
                    message.append(UInt64(realms.count))
                    for realm in realms { message.append(field: realm.utf8Span.span) }
                    message.append(field: (peer ?? "").utf8Span.span)
                    message.append(field: name)
                    message.append(field: password)
                }
            } catch {
                // Without a key the realm checks the credentials.
                return nil
            }
        }
        guard let tag else { return nil }
        return Key(tag: tag, epoch: state.withLock { $0.revocations.epoch })
    }

    /// Returns the entry of a key, if it has not expired.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - now: Nanoseconds of the clock of ``add(_:for:of:at:)``.
    /// - Returns: The entry of a key, if it has not expired.
    package func entry(for key: Key, at now: UInt64) -> Entry? {
        state.withLock { state in
            guard let entry = state.entries[key.tag] else { return nil }
            return now < entry.expiry ? entry : nil
        }
    }

    /// Adds an identity whose credentials were accepted.
    ///
    /// - Parameters:
    ///   - identity: The identity.
    ///   - key: The key, made before the credentials were checked. Nothing is added if the client has been evicted
    ///     since: the credentials may have been checked against a password that is no longer valid.
    ///   - client: The account and network of the login.
    ///   - now: Nanoseconds of a monotonic clock.
    package func add(_ identity: AuthenticatedIdentity, for key: Key, of client: Client, at now: UInt64) {
        state.withLock { state in
            guard !state.revocations.hasRevoked(client, since: key.epoch) else { return }
            state.lastNumber &+= 1
            // Of two logins with the same credentials at once, the later entry counts.
            state.entries[key.tag] = Entry(
                identity,
                of: client,
                expiry: now &+ lifetime,
                number: state.lastNumber
            )
            state.order.append((key.tag, state.lastNumber))
            while state.first < state.order.count,
                state.entries.count > capacity || Self.isOldestRemovable(state, at: now)
            {
                let (tag, number) = state.order[state.first]
                if state.entries[tag]?.number == number { state.entries[tag] = nil }
                state.first += 1
            }
            Self.compact(&state)
        }
    }

    /// Evicts entries, such as those of a changed user or a locked account.
    ///
    /// - Parameter matches: Returns true for the entries to evict. It is called now, and later for logins that are
    ///   running.
    package func evict(where matches: @escaping @Sendable (Client) -> Bool) {
        state.withLock { state in
            state.revocations.revoke(where: matches)
            for (tag, entry) in state.entries where matches(entry.client) { state.entries[tag] = nil }
        }
    }

    /// Returns whether the oldest entry has been evicted or has expired.
    private static func isOldestRemovable(_ state: State, at now: UInt64) -> Bool {
        let (tag, number) = state.order[state.first]
        guard let entry = state.entries[tag], entry.number == number else { return true }
        return now >= entry.expiry
    }

    /// Closes the gap that evicted entries have left at the front.
    private static func compact(_ state: inout State) {
        guard state.first > 1024, state.first * 2 > state.order.count else { return }
        state.order.removeFirst(state.first)
        state.first = 0
    }
}
