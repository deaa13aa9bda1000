// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import OpenSSLKit
internal import RealmKit
internal import Synchronization

/// Remembers for some seconds which credentials a realm has accepted, so that a client that sends them with every request
/// is not logged in with every request.
///
/// - Only successes are remembered; a refusal is found anew each time.
/// - Neither password nor typed name is kept. An entry is found by a MAC of realm, client address, name and password under a
///   key that was drawn at the start of the process, each preceded by its length, so that no two of them are the same bytes
///   (CVE-2026-71326). The address is one of them, as a guess from elsewhere must go by the throttle.
/// - An entry lives for a fixed time from the login on, however often it is used.
/// - There is a bound on how many there are; where it is reached, the oldest goes.
final class VerifiedCredentials: Sendable {
    /// What is known of credentials that were accepted.
    final class Entry: Sendable {
        let identity: AuthenticatedIdentity
        /// Who was let in, as rules and pages see them.
        let user: SignedInUser
        /// Who was let in, and from where.
        fileprivate let known: Known
        fileprivate let expiry: UInt64
        /// Tells it from an entry of the same key that came before it.
        fileprivate let number: UInt64
        private let made = Mutex(Made())

        private struct Made {
            var responses: [PageKey: PreparedResponse] = [:]
            // The rule that was asked last, and what it says: neither rule nor identity can change.
            var rule: ProtectionRules.Guarded?
            var isAllowed = false
        }

        fileprivate init(_ identity: AuthenticatedIdentity, _ known: Known, expiry: UInt64, number: UInt64) {
            self.identity = identity
            user = SignedInUser(identity)
            self.known = known
            self.expiry = expiry
            self.number = number
        }

        /// Whether the identity meets a rule's requirements.
        func isAllowed(by rule: ProtectionRules.Guarded) -> Bool {
            made.withLock { made in
                if made.rule === rule { return made.isAllowed }
                made.isAllowed = rule.rule.allows(identity)
                made.rule = rule
                return made.isAllowed
            }
        }

        /// The response that was made for the identity, or that is made now.
        func response(_ key: PageKey, _ make: () -> PreparedResponse) -> PreparedResponse {
            made.withLock { made in
                if let response = made.responses[key] { return response }
                let response = make()
                made.responses[key] = response
                return response
            }
        }
    }

    /// A response that depends on nothing but the identity.
    enum PageKey: Int, Hashable {
        case welcomeHTML
        case welcomeText
        case forbiddenHTML
        case forbiddenText
        case identity
        case envoyIdentity
    }

    /// Who was let in, and from where.
    struct Known: Sendable, Hashable {
        let account: Account
        let username: Username
        let source: Source?
    }

    /// Stands for one realm, client address, name and password.
    struct Key: Hashable, Sendable {
        fileprivate let tag: Digest
        /// How often something had been forgotten when the key was made.
        fileprivate let generation: UInt64
    }

    /// Something that was forgotten: logins that were on their way then may have seen it as it was.
    private struct Forgetting {
        let generation: UInt64
        let isMeant: @Sendable (Known) -> Bool
    }

    /// How many are kept for the logins that are on their way; what began before the oldest of them is not remembered.
    private static let keptForgettings = 1000

    private struct State {
        var entries: [Digest: Entry] = [:]
        /// The entries in the order in which they were made; some may be gone already.
        var order: [(tag: Digest, number: UInt64)] = []
        var first = 0
        var generation: UInt64 = 0
        var lastNumber: UInt64 = 0
        var forgettings: [Forgetting] = []
        /// What began before this is not remembered, whoever's it is.
        var leastGeneration: UInt64 = 0
    }

    private let mac: HMACKey
    private let lifetime: UInt64
    private let bound: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - lifetime: How long an entry lives, in nanoseconds; 0 for no entries at all.
    ///   - bound: How many entries there may be.
    /// - Throws: When there is no randomness for the key.
    init(lifetime: UInt64, bound: Int = 10_000) throws(OpenSSLError) {
        var key = try RandomBytes.make(32)
        defer { for index in key.indices { key[index] = 0 } }
        mac = try HMACKey(key.span)
        self.lifetime = lifetime
        self.bound = bound
    }

    /// The key of credentials; nil if nothing is remembered here, or no MAC could be made.
    ///
    /// - Parameters:
    ///   - realms: The realms that are asked, in order.
    ///   - peer: Where the request came from.
    ///   - credentials: Name and password.
    /// - Returns: The key.
    func key(realms: [String], peer: String?, _ credentials: BasicCredentials) -> Key? {
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
                // Without a key the credentials are checked by their realm, as if they had never been.
                return nil
            }
        }
        guard let tag else { return nil }
        return Key(tag: tag, generation: state.withLock { $0.generation })
    }

    /// What is known of credentials, if they were accepted not too long ago.
    ///
    /// - Parameters:
    ///   - key: The credentials' key.
    ///   - now: Nanoseconds of the clock that ``remember(_:_:_:)`` is told.
    /// - Returns: What is known; nil if nothing is.
    func entry(_ key: Key, _ now: UInt64) -> Entry? {
        state.withLock { state in
            guard let entry = state.entries[key.tag] else { return nil }
            return now < entry.expiry ? entry : nil
        }
    }

    /// Takes note that credentials were accepted.
    ///
    /// - Parameters:
    ///   - key: The credentials' key, made before they were checked: if their user was forgotten since, they may have been
    ///     checked by what is no longer true, and nothing is remembered.
    ///   - identity: Who they stand for.
    ///   - known: Who was let in, and from where.
    ///   - now: Nanoseconds of a monotonic clock.
    func remember(_ key: Key, _ identity: AuthenticatedIdentity, _ known: Known, _ now: UInt64) {
        state.withLock { state in
            guard key.generation >= state.leastGeneration else { return }
            for forgetting in state.forgettings.reversed() {
                guard forgetting.generation > key.generation else { break }
                if forgetting.isMeant(known) { return }
            }
            state.lastNumber &+= 1
            // Two logins with the same credentials may have been on their way: the later entry counts.
            state.entries[key.tag] = Entry(identity, known, expiry: now &+ lifetime, number: state.lastNumber)
            state.order.append((key.tag, state.lastNumber))
            while state.first < state.order.count, state.entries.count > bound || Self.isOver(state, now) {
                let (tag, number) = state.order[state.first]
                if state.entries[tag]?.number == number { state.entries[tag] = nil }
                state.first += 1
            }
            Self.compact(&state)
        }
    }

    /// Forgets some, such as when a password is another or an account is locked.
    ///
    /// - Parameter isMeant: Who is to be forgotten; it is asked now, and of those whose login is on its way.
    func forget(where isMeant: @escaping @Sendable (Known) -> Bool) {
        state.withLock { state in
            state.generation &+= 1
            state.forgettings.append(Forgetting(generation: state.generation, isMeant: isMeant))
            if state.forgettings.count > Self.keptForgettings {
                state.leastGeneration = state.forgettings[0].generation
                state.forgettings.removeFirst()
            }
            for (tag, entry) in state.entries where isMeant(entry.known) { state.entries[tag] = nil }
        }
    }

    /// Whether the oldest entry is gone already, or its time is over.
    private static func isOver(_ state: State, _ now: UInt64) -> Bool {
        let (tag, number) = state.order[state.first]
        guard let entry = state.entries[tag], entry.number == number else { return true }
        return now >= entry.expiry
    }

    /// Closes the gap that entries taken off the front have left.
    private static func compact(_ state: inout State) {
        guard state.first > 1024, state.first * 2 > state.order.count else { return }
        state.order.removeFirst(state.first)
        state.first = 0
    }
}
