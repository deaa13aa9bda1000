// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Passwords
import RealmKit
import RealmStore
import Store
import Testing

/// Tests of the state of users, which determines whether their sessions end.
@Suite struct UserStateTests {
    private let realm: StoreRealm
    private let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-state-\(UUID())").path

    private static let hashes = [
        "$6$rounds=1000$saltsalt$x1gmqBtmHmZxR5SnBzx1i5gwD7SZuUvqFKaSv1gWxW5YBDc4Qqtq0Wn0BX5MFy4JkpVvYXGNEyMlOMOwxKnp50",
        "{SHA}rLfHliJBkMFMcs6yZScXcKfFRCQ=",
    ]

    private init(second: Int) throws {
        let pool = HashingPool(HashingSettings(workers: 1)) { DispatchTime.now().uptimeNanoseconds }
        var services = RealmServices()
        services[PasswordService.self] = try PasswordService(
            policy: HashPolicy(.argon2id(memory: 64, passes: 1, lanes: 1)),
            pool: pool
        )
        services[LazyStore.self] = LazyStore(folder: folder, access: .createIfMissing)
        services[WallClock.self] = WallClock { second }
        realm = try StoreRealm(RealmProperties(schema: StoreRealm.properties, realmName: "people", services: services))
    }

    init() throws { try self.init(second: 1000) }

    private func change(_ body: (inout UserChanges) -> Void) async throws -> UserState {
        var changes = UserChanges()
        body(&changes)
        let ann = try Username("ann")
        try await realm.change(ann, changes)
        return await realm.state(of: ann)
    }

    @Test func `a stamp depends on hash, groups and expiry, and a user who cannot sign in has the state gone`()
        async throws
    {
        let ann = try Username("ann")
        #expect(await realm.state(of: ann) == .gone)
        try await realm.add(UserRecord(ann, groups: ["a", "b"]), hash: nil)
        #expect(await realm.state(of: ann) == .gone)
        let first = try await change { $0.hash = Self.hashes[0] }
        #expect(first.stamp?.bytes.count == 32)
        #expect(await realm.state(of: ann) == first)
        var seen: Set<UserState> = [first]
        #expect(seen.insert(try await change { $0.groups = ["ab"] }).inserted)
        #expect(seen.insert(try await change { $0.groups = ["a"] }).inserted)
        #expect(seen.insert(try await change { $0.expiry = 1001 }).inserted)
        #expect(seen.insert(try await change { $0.hash = Self.hashes[1] }).inserted)
        // A rule may require an attribute, so a change of it ends sessions.
        for (name, values) in [("mail", ["a"]), ("mail", ["a", "b"]), ("cn", ["a"]), ("a", ["mail"])] {
            let attribute = try UserAttribute(name: name, values: values)
            #expect(seen.insert(try await change { $0.attributes = [.set(attribute)] }).inserted)
        }
        _ = try await change { $0.attributes = [.remove("mail"), .remove("cn"), .remove("a")] }
        #expect(!seen.contains(.gone) && !seen.contains(.unknown))
        #expect(try await change { $0.expiry = 1000 } == .gone)
        _ = try await change { $0.expiry = .some(nil) }
        #expect(try await change { $0.isEnabled = false } == .gone)
        _ = try await change { $0.isEnabled = true }
        #expect(try await change { $0.mustChangePassword = true } == .gone)
        _ = try await change { $0.mustChangePassword = false }
        _ = try await change { $0.hash = Self.hashes[0] }
        #expect(try await change { $0.groups = ["a", "b"] } == first)
        try await realm.remove(ann)
        #expect(await realm.state(of: ann) == .gone)
    }

    @Test func `the state of a user is unknown after the store was removed`() async throws {
        let ann = try Username("ann")
        try await realm.add(UserRecord(ann), hash: Self.hashes[0])
        let path = "\(folder)/\(GatehouseStore.fileName)"
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        #expect(await realm.state(of: ann) == .unknown)
    }
}
