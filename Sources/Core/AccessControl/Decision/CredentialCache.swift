// SPDX-License-Identifier: Apache-2.0

package import OpenSSLKit
package import RealmKit
package import Sessions
internal import Synchronization

/// A cache of the credentials that realms have recently accepted, so that a client that sends them with every request
/// does not cause a login for every request.
///
/// - Rejected credentials are not cached, but checked again each time.
/// - The password and the typed name are not stored. The key of an entry is a MAC of the realms, the client address,
///   the client certificate, the name and the password. The random key of the MAC exists only in this process. The MAC
///   covers each input with its length, so different inputs never give the same message (CVE-2026-71326).
/// - An entry is valid only for connections with the certificate of the login, or without one if the login had none. It
///   expires with the certificate at the latest.
/// - An entry is valid for one client address only, so the throttle counts guesses from other addresses.
/// - The lifetime of an entry begins with the login. A use does not extend it.
/// - If the cache is full, the oldest entry is evicted.
package final class CredentialCache: Sendable {
    /// An identity whose credentials were accepted.
    package final class Entry: Sendable {
        package let user: SignedInUser
        /// The cached responses that depend only on the identity.
        package let responses = ResponseCache()
        fileprivate let client: Client
        fileprivate let expiry: UInt64
        /// The number that distinguishes the entry from earlier entries with the same key.
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
        let username: Username
        /// The client's network; nil if the address is not known.
        let network: ClientNetwork?

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
        case password(BasicScheme.Credentials)
        /// A user name, a password and the service of a login without HTTP.
        case login(Username, Secret, service: String)
    }

    package struct Key: Hashable, Sendable {
        fileprivate let tag: Digest
        /// The revocation epoch when the key was created, before the credentials were checked.
        fileprivate let epoch: RevocationEpoch
    }

    private struct State {
        var entries: [Digest: Entry] = [:]
        /// The keys and numbers of the entries, also of evicted ones, in the order in which they were added.
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

    /// An empty cache, for entries with a lifetime in nanoseconds; 0 turns the cache off.
    package init(lifetime: UInt64, capacity: Int = 10_000) throws(OpenSSLError) {
        var key = try RandomBytes.make(32)
        defer { for index in key.indices { key[index] = 0 } }
        mac = try HMACKey(key.span)
        self.lifetime = lifetime
        self.capacity = capacity
    }

    /// Returns the key of credentials; nil if the cache is turned off or the MAC cannot be computed.
    func key(
        realms: RealmField,
        peer: String?,
        certificate: ClientCertificate?,
        credentials: Credentials
    ) -> Key? {
        guard lifetime > 0 else { return nil }
        let tag = try? mac.tag { message in
            message.append(realms.bytes.span)
            message.append(field: (peer ?? "").utf8Span.span)
            // A module may have checked the certificate together with the password.
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
            case .login(let username, let password, let service):
                message.append(2)
                message.append(field: username.text.utf8Span.span)
                password.withBytes { message.append(field: $0) }
                message.append(field: service.utf8Span.span)
            }
        }
        // Without a key the cache is not used, and the realm checks the credentials.
        return tag.map { Key(tag: $0, epoch: state.withLock { $0.revocations.epoch }) }
    }

    /// Returns the entry of a key; nil if there is none or it has expired.
    ///
    /// Times are nanoseconds of a monotonic clock.
    package func entry(for key: Key, at now: UInt64) -> Entry? {
        state.withLock { state in
            guard let entry = state.entries[key.tag] else { return nil }
            return now < entry.expiry ? entry : nil
        }
    }

    /// Adds an identity whose credentials were accepted, for at most the nanoseconds until the client certificate
    /// expires.
    ///
    /// The key was created before the credentials were checked. If entries of the client were evicted since then,
    /// nothing is added, because the password may have been changed.
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
    /// The closure is called again when a login that is running now would add an entry.
    package func evict(where matches: @escaping @Sendable (Client) -> Bool) {
        state.withLock { state in
            state.revocations.revoke(where: matches)
            for (tag, entry) in state.entries where matches(entry.client) { state.entries[tag] = nil }
        }
    }

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
/// Users of a later realm who were accepted because an earlier one was unavailable must not be accepted where no
/// further realm is used. So both are in the message.
struct RealmField: Sendable {
    /// The longest field that is used as it is; a longer one is replaced by its digest.
    private static let maximumCount = 256

    let bytes: [UInt8]

    init(_ realms: [String], _ whenUnavailable: WhenUnavailable) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(realms.reduce(16) { $0 + 8 + $1.utf8.count })
        func append(_ number: Int) {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        append(realms.count)
        append(whenUnavailable == .stop ? 1 : 0)
        for realm in realms {
            append(realm.utf8.count)
            bytes += realm.utf8
        }
        // The list as it is works too; it only takes longer.
        if bytes.count > Self.maximumCount, let digest = try? Digest.sha256(bytes) {
            // No number of realms is negative, so a digest is never read as a list.
            bytes = [UInt8](repeating: 0xFF, count: 8) + digest.bytes
        }
        self.bytes = bytes
    }
}
