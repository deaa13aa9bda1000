// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The one way in: every scheme, page, command and library caller asks here whether somebody may come in.
public struct Authenticator: Sendable {
    /// The realms by name.
    public let realms: [String: BoundRealm]

    /// An authenticator over these realms.
    ///
    /// - Parameter realms: The realms; their names differ.
    public init(_ realms: [BoundRealm]) {
        self.realms = Dictionary(realms.map { ($0.name, $0) }) { first, _ in first }
    }

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
        var report = await realm.stack.login(request, asking: conversation)
        realm.enrich(&report)
        return report
    }

    /// Decides at once, if no module of the realm's stack ever has to wait.
    ///
    /// - Parameter request: Who wants in, and which realm to ask.
    /// - Returns: The decision and how it came about; nil if ``login(_:)`` must be used.
    /// - Throws: ``RealmError`` of code `noSuchRealm`.
    public func loginNow(_ request: consuming LoginRequest) throws(RealmError) -> LoginReport? {
        let realm = try realm(request.realm)
        guard var report = realm.stack.loginNow(request) else { return nil }
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
