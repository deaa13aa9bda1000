// SPDX-License-Identifier: Apache-2.0

package import OpenSSLKit
package import RealmKit
package import Sessions
internal import Synchronization

/// A cache of the credentials that realms have recently accepted.
///
/// With this cache, a client that sends its credentials with every request does not cause a login for every request.
///
/// - Only accepted credentials are cached. Rejected credentials are checked again each time.
/// - The password and the typed name are not stored. The key of an entry is a MAC of the realms, the client address,
///   the client certificate, the name and the password. The secret key of the MAC is random and exists only in this
///   process. The MAC covers each input with its length, so different inputs never give the same message
///   (CVE-2026-71326).
/// - An entry is valid for connections with the same client certificate only, or without a certificate if the login had
///   none. It expires with the certificate at the latest.
/// - An entry is valid for one client address only, so the throttle counts guesses from other addresses.
/// - The lifetime of an entry begins with the login. A use of the entry does not extend the lifetime.
/// - The number of entries is limited. If the cache is full, the oldest entry is evicted.
package final class CredentialCache: Sendable {
    /// An identity whose credentials were accepted.
    package final class Entry: Sendable {
        /// The user of the identity, for rules and pages.
        package let user: SignedInUser
        /// The cached responses that depend only on the identity.
        package let responses = ResponseCache()
        fileprivate let client: Client
        fileprivate let expiry: UInt64
        /// The number of the entry.
        ///
        /// It distinguishes the entry from earlier entries with the same key.
        fileprivate let number: UInt64
        private let authorization = Mutex(Authorization())

        private struct Authorization {
            // The last rule and its result for the identity. Neither the rule nor the identity can change.
            var rule: ProtectionRules.CompiledRule?
            var isAllowed = false
        }

        fileprivate init(_ identity: AuthenticatedIdentity, of client: Client, expiry: UInt64, number: UInt64) {
            user = SignedInUser(identity)
            self.client = client
            self.expiry = expiry
            self.number = number
        }

        /// Returns true if a rule allows the identity.
        func isAllowed(by rule: ProtectionRules.CompiledRule) -> Bool {
            authorization.withLock { last in
                if last.rule === rule { return last.isAllowed }
                last.isAllowed = rule.allows(user)
                last.rule = rule
                return last.isAllowed
            }
        }
    }

    /// The account of a login and the network of its client.
    package struct Client: Sendable, Hashable {
        /// The account that the throttle counts.
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

    /// The credentials of an entry.
    package enum Credentials {
        /// A client certificate alone.
        case certificate
        /// Name and password.
        case password(BasicCredentials)
    }

    /// The key of an entry: a MAC of realms, client address, client certificate, name and password.
    package struct Key: Hashable, Sendable {
        fileprivate let tag: Digest
        /// The revocation epoch when the key was created, before the credentials were checked.
        fileprivate let epoch: RevocationEpoch
    }

    private struct State {
        var entries: [Digest: Entry] = [:]
        /// The keys and numbers of the entries in the order in which they were added.
        ///
        /// Evicted entries may still be listed.
        var order: [(tag: Digest, number: UInt64)] = []
        /// The index of the oldest entry in `order`.
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
    ///   - capacity: The maximum number of entries.
    /// - Throws: ``OpenSSLError`` if no random bytes can be generated for the key of the MAC.
    package init(lifetime: UInt64, capacity: Int = 10_000) throws(OpenSSLError) {
        var key = try RandomBytes.make(32)
        defer { for index in key.indices { key[index] = 0 } }
        mac = try HMACKey(key.span)
        self.lifetime = lifetime
        self.capacity = capacity
    }

    /// Returns the key of credentials.
    ///
    /// - Parameters:
    ///   - realms: The realms that check the credentials, in order.
    ///   - peer: The client's address.
    ///   - certificate: The client certificate of the connection. Modules may have checked it together with a password.
    ///   - credentials: The credentials.
    /// - Returns: The key; nil if the cache is turned off or the MAC cannot be computed.
    func key(
        realms: RealmField,
        peer: String?,
        certificate: ClientCertificate?,
        credentials: Credentials
    ) -> Key? {
        guard lifetime > 0 else { return nil }
        let tag: Digest
        do throws(OpenSSLError) {
            tag = try mac.tag { message in
                message.append(realms.bytes.span)
                message.append(field: (peer ?? "").utf8Span.span)
                if let certificate {
                    message.append(UInt64(Digest.byteCount))
                    certificate.digest.withBytes { message.append($0) }
                } else {
                    message.append(0)
                }
                switch credentials {
                case .certificate: message.append(0)
                case .password(let credentials):
                    message.append(1)
                    credentials.withBytes { name, password in
                        message.append(field: name)
                        message.append(field: password)
                    }
                }
            }
        } catch {
            // If there is no key, the cache is not used, and the realm checks the credentials.
            return nil
        }
        return Key(tag: tag, epoch: state.withLock { $0.revocations.epoch })
    }

    /// Returns the entry of a key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - now: The current time of a monotonic clock, in nanoseconds.
    /// - Returns: The entry; nil if it does not exist or has expired.
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
    ///   - key: The key, created before the credentials were checked. If entries of the client were evicted since
    ///     then, nothing is added, because the password may have been changed.
    ///   - client: The account and network of the login.
    ///   - now: The current time of the same monotonic clock, in nanoseconds.
    ///   - limit: The longest lifetime of this entry, in nanoseconds: the time until the client certificate expires.
    package func add(
        _ identity: AuthenticatedIdentity,
        for key: Key,
        of client: Client,
        at now: UInt64,
        atMost limit: UInt64 = .max
    ) {
        state.withLock { state in
            guard !state.revocations.hasRevoked(client, since: key.epoch) else { return }
            state.lastNumber &+= 1
            // If two concurrent logins have the same credentials, the later entry replaces the earlier entry.
            state.entries[key.tag] = Entry(
                identity,
                of: client,
                expiry: now &+ min(lifetime, limit),
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
    /// - Parameter matches: Returns true for the clients whose entries are evicted. It is called now for all entries,
    ///   and again when a login that is running now would add an entry.
    package func evict(where matches: @escaping @Sendable (Client) -> Bool) {
        state.withLock { state in
            state.revocations.revoke(where: matches)
            for (tag, entry) in state.entries where matches(entry.client) { state.entries[tag] = nil }
        }
    }

    /// Returns true if the oldest entry was evicted or has expired.
    private static func isOldestRemovable(_ state: State, at now: UInt64) -> Bool {
        let (tag, number) = state.order[state.first]
        guard let entry = state.entries[tag], entry.number == number else { return true }
        return now >= entry.expiry
    }

    /// Removes the evicted entries at the beginning of `order`, if they are many.
    private static func compact(_ state: inout State) {
        guard state.first > 1024, state.first * 2 > state.order.count else { return }
        state.order.removeFirst(state.first)
        state.first = 0
    }
}

/// The realms of a rule and its choice of `when-unavailable`, as the beginning of a message of the credential cache.
///
/// Users of a later realm who were accepted because an earlier one was unavailable must not be accepted where no further
/// realm is used. So both are in the message.
struct RealmField: Sendable {
    /// The longest field that is used as it is; a longer one is replaced by its digest.
    private static let maximumCount = 256

    let bytes: [UInt8]

    init(_ realms: [String], _ whenUnavailable: WhenUnavailable) {
        var bytes: [UInt8] = []
        func append(_ number: Int) {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        append(realms.count)
        append(whenUnavailable == .stop ? 1 : 0)
        for realm in realms {
            append(realm.utf8.count)
            bytes += realm.utf8
        }
        if bytes.count > Self.maximumCount {
            do throws(OpenSSLError) {
                // No number of realms is negative, so a digest is never read as a list.
                bytes = try [UInt8](repeating: 0xFF, count: 8) + Digest.sha256(bytes).bytes
            } catch {
                // The list as it is works too; it only takes longer.
            }
        }
        self.bytes = bytes
    }
}
