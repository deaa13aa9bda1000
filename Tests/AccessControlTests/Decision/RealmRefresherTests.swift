// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import RealmConfiguration
import RealmKit
import RealmTesting
import Sessions
import Synchronization
import Testing
import Throttle

@testable import AccessControl

/// A realm whose list of changed users a test controls.
private final class Village: RefreshingRealm {
    static let properties: PropertySchema = [.jaasContext(default: "village")]
    let jaasContext = "village"
    var authType: String { "village" }
    let changed = Mutex(ChangedUsers.none)

    init(_ properties: RealmProperties) throws(BadRealm) {}

    func refresh() async -> ChangedUsers {
        changed.withLock { changed in
            defer { changed = .none }
            return changed
        }
    }
}

private struct VillageModule: ImmediateLoginModule {
    init(realm: Village, options: ModuleOptions) throws(BadModule) {}
    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict { attempt.commit() }
}

@Suite struct RealmRefresherTests {
    private let village: Village
    private let realm: BoundRealm
    private let accessController: AccessController
    private let refresher: RealmRefresher
    private let sessions: SessionTable

    init() throws {
        let settings = try RealmProperties(schema: Village.properties, realmName: "village")
        village = try Village(settings)
        let module = try VillageModule(
            realm: village,
            options: try ModuleOptions(schema: VillageModule.options, realmName: "village")
        )
        let clock = SystemClock()
        realm = BoundRealm(
            name: "village",
            className: "Village",
            realm: village,
            stack: LoginStack(name: "village", [.init(module, .required)], clock: clock)
        )
        sessions = SessionTable(SessionSettings(), clock: clock, wall: .system, onEnd: { _, _ in })
        accessController = AccessController(
            rules: ProtectionRules([
                ProtectRule(path: "/", realms: ["village"], schemes: [.basic], requirements: [.any])
            ]),
            authenticator: Authenticator([realm]),
            sessions: sessions,
            credentialCache: try CredentialCache(lifetime: 3_600_000_000_000),
            clock: clock,
            wallClock: .system
        )
        refresher = RealmRefresher(clock: clock)
        refresher.use([realm], accessController: accessController)
    }

    private func request(_ path: RequestPath, _ peer: String? = nil) -> AccessRequest {
        AccessRequest(method: "GET", path: PathReadings(path), host: .text("h"), client: RequestClient(address: peer))
    }

    /// Returns true if the credentials are cached.
    ///
    /// If the credentials are not cached, the login is completed.
    private func isCached(_ name: String, from peer: String? = nil) async throws -> Bool {
        let token = Data("\(name):x".utf8).base64EncodedString()
        let path = try #require(RequestPath(target: "/"))
        switch accessController.decide(
            request(path, peer),
            credentials: { BasicScheme.read([UTF8Text("Basic \(token)")]) }
        ) {
        case .now: return true
        case .afterLogin(let login):
            _ = await accessController.complete(login)
            return false
        }
    }

    @Test func `GHSA-x883-2vmg-xwf7: after a refresh only the changed user has to log in again`()
        async throws
    {
        for name in ["ann", "bob"] { #expect(try await !isCached(name)) }
        for name in ["ann", "bob"] { #expect(try await isCached(name)) }
        await refresher.refresh()
        for name in ["ann", "bob"] { #expect(try await isCached(name)) }
        village.changed.withLock { [ann = try Username("ann")] in $0 = .some([ann]) }
        await refresher.refresh()
        #expect(try await isCached("bob"))
        #expect(try await !isCached("ann"))
        #expect(try await isCached("ann"))
        village.changed.withLock { $0 = .all }
        await refresher.refresh()
        for name in ["ann", "bob"] { #expect(try await !isCached(name)) }
    }

    @Test func `after a reload, the realm before it still reports the last changes`() async throws {
        let settings = try RealmProperties(schema: Village.properties, realmName: "village")
        let next = BoundRealm(
            name: "village",
            className: "Village",
            realm: try Village(settings),
            stack: realm.stack
        )
        refresher.use([next], accessController: accessController)
        for name in ["ann", "bob"] { #expect(try await !isCached(name)) }
        village.changed.withLock { [ann = try Username("ann")] in $0 = .some([ann]) }
        await refresher.refresh()
        #expect(try await isCached("bob"))
        #expect(try await !isCached("ann"))
        for _ in 0..<20 { await refresher.refresh() }
        village.changed.withLock { $0 = .all }
        await refresher.refresh()
        #expect(try await isCached("ann"))
    }

    @Test func `a lockout evicts the cached credentials of all spellings of the account`() async throws {
        for name in ["ann", "ANN", "bob"] { #expect(try await !isCached(name)) }
        refresher.evict(.account(Account(realm: "village", key: village.accountKey(of: try Username("Ann")))))
        for name in ["ann", "ANN"] { #expect(try await !isCached(name)) }
        #expect(try await isCached("bob"))
        refresher.evict(.account(Account(realm: "elsewhere", key: "bob")))
        #expect(try await isCached("bob"))
    }

    @Test func `cached credentials cannot be used from a locked address, but can be used from another address`()
        async throws
    {
        for peer in ["192.0.2.1", "192.0.2.2"] { #expect(try await !isCached("ann", from: peer)) }
        for peer in ["192.0.2.1", "192.0.2.2"] { #expect(try await isCached("ann", from: peer)) }
        refresher.evict(.source(ClientNetwork("192.0.2.1")))
        #expect(try await !isCached("ann", from: "192.0.2.1"))
        #expect(try await isCached("ann", from: "192.0.2.2"))
        #expect(try await !isCached("ann", from: "192.0.2.3"))
    }

    @Test func `a login is not cached if its user changes during the login`() async throws {
        let token = Data("ann:x".utf8).base64EncodedString()
        let path = try #require(RequestPath(target: "/"))
        guard
            case .afterLogin(let login) = accessController.decide(
                request(path),
                credentials: { BasicScheme.read([UTF8Text("Basic \(token)")]) }
            )
        else {
            Issue.record("the credentials are cached already")
            return
        }
        village.changed.withLock { [ann = try Username("ann")] in $0 = .some([ann]) }
        await refresher.refresh()
        _ = await accessController.complete(login)
        #expect(try await !isCached("ann"))
    }
}
