// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import GRDB
import OpenSSLKit
import RealmKit
import RealmTesting
import Sessions
import Testing

@testable import Store

@Suite struct SessionStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-sessions-\(UUID())").path

    private func id(_ number: Int) throws -> SessionID {
        let digits = "\(number)"
        return try #require(SessionID(String(repeating: "A", count: 21 - digits.count) + digits + "A"))
    }

    private func record(
        _ number: Int,
        _ name: String = "ann",
        realm: String = "town",
        groups: [String] = [],
        stamp: SaltedStamp? = nil
    ) throws -> SessionRecord {
        SessionRecord(
            try id(number),
            token: try Digest.sha256([UInt8(number)]),
            user: SignedInUser(realm: realm, username: try Username(name), groups: groups),
            client: SessionClient(address: number == 1 ? nil : "192.0.2.7", userAgent: "browser"),
            created: 100,
            lastSeen: 200,
            idleExpiry: 300,
            absoluteExpiry: 400,
            stamp: stamp
        )
    }

    private func numbers(_ store: GatehouseStore) async throws -> Set<SessionID> {
        Set(try await store.loadSessions().sessions.map(\.id))
    }

    @Test func `a session comes back as it went in, groups in their order`() async throws {
        let stamp = SaltedStamp(salt: [0, 1, 2], digest: try Digest.sha256([7]))
        let records = [
            try record(1, groups: ["Staff", "Admin", "staff"], stamp: stamp),
            try record(2, "e\u{301}", realm: "\u{e9}"),
        ]
        let store = try GatehouseStore.open(folder: folder)
        for record in records { try await store.saveSession(record) }
        for store in [store, try GatehouseStore.open(folder: folder), try GatehouseStore.openExisting(folder: folder)] {
            let loaded = try await store.loadSessions()
            #expect(Set(loaded.sessions) == Set(records))
            #expect(loaded.lastOrder == 0)
        }
    }

    @Test func `uses and tokens are changed where there is a session, and make none`() async throws {
        let store = try GatehouseStore.inMemory()
        try await store.saveSession(try record(1, groups: ["Staff"]))
        try await store.saveSession(try record(2))
        try await store.renewSession(try id(1), token: try Digest.sha256([9]))
        try await store.renewSession(try id(3), token: try Digest.sha256([9]))
        await #expect(throws: SessionStoreError.self) { try await store.saveSession(try record(1)) }
        try await store.touchSessions([])
        try await store.removeSessions([])
        try await store.removeSessions([try id(2), try id(4)])
        let loaded = try await store.loadSessions().sessions
        #expect(loaded.map(\.id) == [try id(1)])
        #expect(loaded.map(\.token) == [try Digest.sha256([9])])
        #expect(loaded.map(\.user.groups) == [["Staff"]])
        // Groups go with their session.
        try await store.removeSessions([try id(1)])
        try await store.saveSession(try record(1))
        #expect(try await store.loadSessions().sessions.map(\.user.groups) == [[]])
    }

    @Test func `an order is told once, in order, and what is to end is gone`() async throws {
        let store = try GatehouseStore.inMemory()
        try await store.saveSession(try record(1, "ann", groups: ["Staff"]))
        try await store.saveSession(try record(2, "ann"))
        try await store.saveSession(try record(3, "bob"))
        try await store.saveSession(try record(4, "ann", realm: "city"))
        try await store.saveSession(try record(5, "cy", realm: "dale"))
        let (ann, bob) = (try Username("ann"), try Username("bob"))
        let orders: [(what: SessionOrder.What, count: Int)] = [
            (.message(.all, "hello"), 5), (.message(.user(realm: "town", name: ann), "you"), 2),
            (.end(.one(try id(1))), 1), (.end(.one(try id(1))), 0), (.end(.user(realm: "town", name: ann)), 1),
            (.end(.user(realm: "city", name: bob)), 0), (.end(.realm("city")), 1), (.end(.all), 2),
        ]
        for order in orders { #expect(try await store.orderSessions(order.what) == order.count) }
        #expect(try await numbers(store).isEmpty)
        let told = try await store.sessionOrders(after: 0)
        #expect(told.map(\.what) == orders.map(\.what))
        #expect(told.map(\.number) == Array(1...8))
        #expect(try await store.sessionOrders(after: 6).map(\.number) == [7, 8])
        #expect(try await store.sessionOrders(after: 8).isEmpty)
        #expect(try await store.loadSessions().lastOrder == 8)
    }

    @Test func `of many orders the last are kept, and their numbers go on`() async throws {
        let store = try GatehouseStore.inMemory()
        try await store.write { database in
            for _ in 0..<GatehouseStore.rememberedOrders + 4 {
                try database.execute(
                    sql: "INSERT INTO session_orders (kind, id, realm, name, message) VALUES ('all', '', '', '', 'x')"
                )
            }
        }
        _ = try await store.orderSessions(.message(.all, "x"))
        let told = try await store.sessionOrders(after: 0)
        #expect(told.first?.number == 6)
        #expect(told.count == GatehouseStore.rememberedOrders)
    }

    @Test func `rows of somebody else's writing are no sessions`() async throws {
        let store = try GatehouseStore.open(folder: folder)
        try await store.saveSession(try record(1, stamp: SaltedStamp(salt: [1], digest: try Digest.sha256([7]))))
        for change in ["token = x'00'", "name = ' '", "stamp = x'00'", "id = 'x'"] {
            try await store.write { database in try database.execute(sql: "UPDATE sessions SET \(change)") }
            #expect(try await store.loadSessions().sessions.isEmpty)
            try await store.write { database in try database.execute(sql: "DELETE FROM sessions") }
            try await store.saveSession(
                try record(1, stamp: SaltedStamp(salt: [1], digest: try Digest.sha256([7])))
            )
        }
        #expect(try await store.loadSessions().sessions.count == 1)
    }

    @Test func `a store that is replaced under a server is an error`() async throws {
        let store = try GatehouseStore.open(folder: folder)
        let path = "\(folder)/\(GatehouseStore.fileName)"
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        await #expect(throws: SessionStoreError.self) { _ = try await store.loadSessions() }
        await #expect(throws: SessionStoreError.self) { try await store.saveSession(try record(1)) }
        await #expect(throws: SessionStoreError.self) { try await store.removeSessions([try id(1)]) }
        await #expect(throws: SessionStoreError.self) { _ = try await store.sessionOrders(after: 0) }
        await #expect(throws: SessionStoreError.self) { _ = try await store.orderSessions(.end(.all)) }
    }

    /// A table with this store, for somebody whom a stack has let in.
    private func table(_ store: GatehouseStore) -> SessionTable {
        SessionTable(
            SessionSettings(),
            store: store,
            clock: ManualClock(now: 1_000_000_000),
            wall: WallClock { 1_800_000_000 },
            onEnd: { _, _ in }
        )
    }

    private func begin(_ table: SessionTable, stamp: UserStamp) async throws -> (Session, OpaqueToken) {
        let stack = LoginStack(name: "s", [.init(Friendly(), .required)], clock: ManualClock())
        let request = LoginRequest(realm: "town", username: try Username("ann"))
        let report = await stack.login(request, asking: PreparedConversation(password: Secret(utf8: "x")))
        let client = SessionClient(address: nil, userAgent: "browser")
        let identity = try #require(report.identity)
        let mark = table.mark()
        return try await table.begin(identity, client, stamp: stamp, since: mark, replacing: nil)
    }

    @Test func `neither token nor stamp is anywhere in the files, and the session goes on with the next server`()
        async throws
    {
        let stamp = UserStamp(try Digest.sha256(Array("a stored hash".utf8)).bytes)
        let store = try GatehouseStore.open(folder: folder)
        let first = table(store)
        let (session, token) = try await begin(first, stamp: stamp)
        let renewed = try await first.renew(session)
        let path = "\(folder)/\(GatehouseStore.fileName)"
        var bytes = Data()
        for file in [path, path + "-wal"] { bytes += try Data(contentsOf: URL(filePath: file)) }
        for token in [token, renewed] {
            #expect(bytes.range(of: Data(token.text.utf8)) == nil)
            let raw = try #require(Data(base64Encoded: Self.padded(token.text)))
            #expect(try Digest.sha256(Array(raw)) == token.digest())
            #expect(bytes.range(of: raw) == nil)
        }
        #expect(bytes.range(of: Data(stamp.bytes)) == nil)
        // What is looked for would be found.
        #expect(bytes.range(of: Data(try renewed.digest().bytes)) != nil)
        #expect(bytes.range(of: Data(session.id.description.utf8)) != nil)

        let next = table(try GatehouseStore.open(folder: folder))
        try await next.restore { _ in .user(.present(stamp)) }
        #expect(next.session(renewed, isActivity: true)?.id == session.id)
        #expect(next.session(token, isActivity: true) == nil)
        #expect(next.session(id: session.id)?.user.groups == ["Staff"])
        let last = table(try GatehouseStore.open(folder: folder))
        try await last.restore { _ in .user(.present(UserStamp([1]))) }
        #expect(last.count == 0)
    }

    private static func padded(_ text: String) -> String {
        text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/") + "="
    }
}

/// Lets in everybody.
private struct Friendly: LoginModule {
    init() {}

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        attempt.commit(groups: ["Staff"])
    }
}
