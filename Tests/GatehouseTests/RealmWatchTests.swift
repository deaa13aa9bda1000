// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import Logging
import RealmConfiguration
import RealmKit
import RealmTesting
import Synchronization
import Testing
import Throttle

@testable import Gatehouse

/// A realm with users that a test changes behind its back.
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

@Suite struct RealmWatchTests {
    private let village: Village
    private let gate: Gate
    private let watch: RealmWatch

    init() throws {
        let settings = try RealmProperties(schema: Village.properties, realmName: "village")
        village = try Village(settings)
        let module = try VillageModule(
            realm: village,
            options: try ModuleOptions(schema: VillageModule.options, realmName: "village")
        )
        let clock = SystemClock()
        let realm = BoundRealm(
            name: "village",
            className: "Village",
            realm: village,
            stack: LoginStack(name: "village", [.init(module, .required)], clock: clock)
        )
        gate = Gate(
            rules: ProtectionRules([
                ProtectRule(path: "/", realms: ["village"], schemes: [.basic], requirements: [.any])
            ]),
            authenticator: Authenticator([realm]),
            verified: try VerifiedCredentials(lifetime: 3_600_000_000_000),
            clock: clock
        )
        watch = RealmWatch(clock: clock, logger: Logger(label: "none", factory: { _ in SwiftLogNoOpLogHandler() }))
        watch.look(after: [realm], gate, nil)
    }

    /// Whether somebody is known without a login; one that is needed is made.
    private func isKnown(_ name: String, from peer: String? = nil) async throws -> Bool {
        let token = Data("\(name):x".utf8).base64EncodedString()
        let path = try #require(RequestPath(target: "/"))
        switch gate.begin(path, { BasicScheme.read(["Basic \(token)"]) }, peer: peer) {
        case .decided: return true
        case .login(let login):
            _ = await gate.decide(login)
            return false
        }
    }

    @Test func `GHSA-x883-2vmg-xwf7: who has changed is logged in anew at the next look, and nobody else is`()
        async throws
    {
        for name in ["ann", "bob"] { #expect(try await !isKnown(name)) }
        for name in ["ann", "bob"] { #expect(try await isKnown(name)) }
        await watch.look()
        for name in ["ann", "bob"] { #expect(try await isKnown(name)) }
        village.changed.withLock { [ann = try Username("ann")] in $0 = .some([ann]) }
        await watch.look()
        #expect(try await isKnown("bob"))
        #expect(try await !isKnown("ann"))
        #expect(try await isKnown("ann"))
        village.changed.withLock { $0 = .all }
        await watch.look()
        for name in ["ann", "bob"] { #expect(try await !isKnown(name)) }
    }

    @Test func `a lock ends what was accepted before, however the name was spelled`() async throws {
        for name in ["ann", "ANN", "bob"] { #expect(try await !isKnown(name)) }
        watch.forget(.account(Account(realm: "village", key: village.accountKey(of: try Username("Ann")))))
        for name in ["ann", "ANN"] { #expect(try await !isKnown(name)) }
        #expect(try await isKnown("bob"))
        watch.forget(.account(Account(realm: "elsewhere", key: "bob")))
        #expect(try await isKnown("bob"))
    }

    @Test func `an address that is locked lets nobody in by what was accepted before, and another address does`()
        async throws
    {
        for peer in ["192.0.2.1", "192.0.2.2"] { #expect(try await !isKnown("ann", from: peer)) }
        for peer in ["192.0.2.1", "192.0.2.2"] { #expect(try await isKnown("ann", from: peer)) }
        watch.forget(.source(Source("192.0.2.1")))
        #expect(try await !isKnown("ann", from: "192.0.2.1"))
        #expect(try await isKnown("ann", from: "192.0.2.2"))
        #expect(try await !isKnown("ann", from: "192.0.2.3"))
    }

    @Test func `a look made while a login is on its way keeps that login from being remembered`() async throws {
        let token = Data("ann:x".utf8).base64EncodedString()
        let path = try #require(RequestPath(target: "/"))
        guard case .login(let login) = gate.begin(path, { BasicScheme.read(["Basic \(token)"]) }, peer: nil) else {
            Issue.record("she is known already")
            return
        }
        village.changed.withLock { [ann = try Username("ann")] in $0 = .some([ann]) }
        await watch.look()
        _ = await gate.decide(login)
        #expect(try await !isKnown("ann"))
    }
}
