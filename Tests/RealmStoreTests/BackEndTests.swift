// SPDX-License-Identifier: Apache-2.0

import Foundation
import Passwords
import RealmKit
import RealmStore
import RealmTesting
import Store
import Testing

/// The realm and its store under the conformance test for back ends.
struct StoreBackEndTests {
    @Test func `the realm keeps the contract while the store is lost`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-realm-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let pool = HashingPool(HashingSettings(workers: 2)) { DispatchTime.now().uptimeNanoseconds }
        let policy = HashPolicy(.argon2id(memory: 64, passes: 1, lanes: 1))
        let passwords = try PasswordService(policy: policy, pool: pool)
        var services = RealmServices()
        services[PasswordService.self] = passwords
        services[LazyStore.self] = LazyStore(folder: folder, access: .createIfMissing)
        services[WallClock.self] = WallClock { 1_000_000 }
        let realm = try StoreRealm(
            RealmProperties(schema: StoreRealm.properties, realmName: "conformance", services: services)
        )
        var users: [RealmBackEndConformance.User] = []
        let table: [(name: String, change: @Sendable (inout UserRecord) -> Void)] = [
            ("ann", { $0.groups = ["staff"] }), ("bob", { $0.groups = ["staff", "crew"] }),
            ("off", { $0.isEnabled = false }), ("past", { $0.expiry = 1_000_000 }),
            ("new", { $0.mustChangePassword = true }),
        ]
        for (name, change) in table {
            var record = UserRecord(try Username(name), groups: [])
            change(&record)
            let secret = RealmBackEndConformance.randomPassword()
            try await realm.add(record, hash: try await passwords.hash(Secret(utf8: secret)))
            users.append(.init(name, password: secret, groups: record.groups))
        }
        let path = "\(folder)/\(GatehouseStore.fileName)"
        let given = services

        var conformance = RealmBackEndConformance(
            users: Array(users[..<2]),
            rejectedUsers: Array(users[2...]),
            faults: [
                BackEndFault("the store is removed", causes: ["was removed or replaced"]) {
                    try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
                } end: {
                    try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
                }
            ],
            deadline: .seconds(10)
        ) { services in
            var all = given
            all[RealmLog.self] = services[RealmLog.self]
            return try .forConformance(
                RealmKind(StoreRealm.self, modules: StoreLoginModule.self),
                services: all,
                deadline: .seconds(10)
            )
        }
        conformance.computations = { pool.statistics.computed }
        conformance.stored = {
            try await realm.exportUsers().map { "\($0.record) \($0.hash ?? "none")" }.joined(separator: "\n")
        }
        conformance.skip(
            .deadline,
            .cancellation,
            .release,
            reason: "readers of the store never wait; FileRealm is tested with hashing slots that hang"
        )
        let report = await conformance.check()
        #expect(report.violations == [])
        #expect(report.checked.count == RealmBackEndConformance.Check.allCases.count - 3, "\(report)")
    }
}
