// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The one way in: every scheme, page, command and library caller asks here whether somebody may come in.
public struct Authenticator: Sendable {
    /// The realms by name.
    public let realms: [String: BoundRealm]
    /// What bounds how often somebody may try; nil if nothing does.
    public let throttle: (any LoginThrottle)?

    /// An authenticator over these realms.
    ///
    /// - Parameters:
    ///   - realms: The realms; their names differ.
    ///   - throttle: What bounds how often somebody may try; nil if nothing does.
    public init(_ realms: [BoundRealm], throttle: (any LoginThrottle)? = nil) {
        self.init(Dictionary(realms.map { ($0.name, $0) }) { first, _ in first }, throttle)
    }

    private init(_ realms: [String: BoundRealm], _ throttle: (any LoginThrottle)?) {
        self.realms = realms
        self.throttle = throttle
    }

    /// The same realms behind a throttle.
    ///
    /// - Parameter throttle: What bounds how often somebody may try; it may serve several authenticators, such as those
    ///   of two configurations of which one replaces the other.
    /// - Returns: An authenticator that takes every login through it.
    public func throttled(by throttle: any LoginThrottle) -> Authenticator { Authenticator(realms, throttle) }

    /// The realm of that name; never another in its place.
    ///
    /// - Parameter name: The name in realms.conf.
    /// - Returns: The realm.
    /// - Throws: ``RealmError`` of code `noSuchRealm`.
    public func realm(_ name: String) throws(RealmError) -> BoundRealm {
        guard let realm = realms[name] else { throw .noSuchRealm(name, known: Array(realms.keys)) }
        return realm
    }

    /// Decides whether somebody may come in.
    ///
    /// With a ``throttle`` it reserves an attempt, walks the stack, whether it may grant or not, and settles.
    ///
    /// - Parameters:
    ///   - request: Who wants in, and which realm to ask.
    ///   - conversation: The other end, to be asked for whatever a module needs.
    /// - Returns: The decision and how it came about.
    /// - Throws: ``RealmError`` of code `noSuchRealm`.
    public func login(
        _ request: consuming LoginRequest,
        asking conversation: any Conversation
    ) async throws(RealmError) -> LoginReport {
        let realm = try realm(request.realm)
        guard let throttle else {
            var report = await realm.stack.login(request, asking: conversation)
            realm.enrich(&report)
            return report
        }
        let reservation = await throttle.reserve(realm.account(of: request.username), for: request)
        var report = await realm.stack.login(request, asking: conversation, mayGrant: reservation.mayGrant)
        await reservation.settle(report)
        realm.enrich(&report)
        return report
    }

    /// Decides at once, if nothing ever has to wait: no module of the realm's stack, and no ``throttle``.
    ///
    /// A throttle waits where too many attempts are on their way and before it gives a refusal, so with one there is no
    /// deciding at once.
    ///
    /// - Parameter request: Who wants in, and which realm to ask.
    /// - Returns: The decision and how it came about; nil if ``login(_:)`` must be used.
    /// - Throws: ``RealmError`` of code `noSuchRealm`.
    public func loginNow(_ request: consuming LoginRequest) throws(RealmError) -> LoginReport? {
        let realm = try realm(request.realm)
        guard throttle == nil, var report = realm.stack.loginNow(request) else { return nil }
        realm.enrich(&report)
        return report
    }

    /// Ends a login: the modules that were reached in it undo what they did.
    ///
    /// They are asked even if the configuration has changed since and the realm is gone.
    ///
    /// - Parameter identity: What the login gave.
    /// - Returns: How it went.
    public func logout(_ identity: AuthenticatedIdentity) async -> LogoutReport {
        await identity.record.stack.logout(identity)
    }
}
