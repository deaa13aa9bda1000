// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import RealmKit
import RealmTesting
import TestTools
import Testing

@testable import Passwords
@testable import RealmFile

/// The realm and its file, and the slots for hashes, under the conformance test for back ends.
struct BackEndTests {
    @Test func `the realm keeps the contract while its file is lost and while all slots are taken`() async throws {
        let folder = try TemporaryFolder()
        var settings = HashingSettings(workers: 2)
        settings.wait = .seconds(600)
        let pool = HashingPool(settings) { DispatchTime.now().uptimeNanoseconds }
        let policy = HashPolicy(.argon2id(memory: 64, passes: 1, lanes: 1))
        let passwords = try PasswordService(policy: policy, pool: pool)
        let slots = TakenSlots(pool)
        let secrets = (0..<3).map { _ in RealmBackEndConformance.randomPassword() }
        var hashes: [String] = []
        for secret in secrets { hashes.append(try await passwords.hash(Secret(utf8: secret))) }
        let path = try folder.write(
            "ann;\(hashes[0]);staff\nbob;\(hashes[1]);staff,crew\nold;\(KnownHashes.ssha);old\noff;!\(hashes[2]);staff\n"
                + "weak;\(KnownHashes.ssha);old\n"
        )

        var conformance = RealmBackEndConformance(
            users: [
                .init("ann", password: secrets[0], groups: ["staff"]),
                .init("bob", password: secrets[1], groups: ["staff", "crew"]),
                .init("old", password: "secret", groups: ["old"]),
            ],
            rejectedUsers: [.init("off", password: secrets[2])],
            faults: [
                BackEndFault("the file is removed", effect: .none, causes: ["No such file or directory"]) {
                    try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
                } end: {
                    try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
                },
                BackEndFault("the file is damaged", effect: .none, causes: ["users:1: it is not a text file"]) {
                    try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
                    try folder.write([0xFF, 0x00, 0x0A])
                } end: {
                    unsafe rename(path + ".old", path)
                },
                BackEndFault("all slots are taken", hangs: true, causes: ["did not answer within"]) {
                    await slots.take()
                } end: {
                    await slots.release()
                },
            ],
            deadline: .seconds(3)
        ) { services in
            var services = services
            services[PasswordService.self] = passwords
            return try .forConformance(
                RealmKind(FileRealm.self, modules: FileLoginModule.self),
                properties: ["file": [path], "rehash": ["true"]],
                services: services,
                deadline: .seconds(3)
            )
        }
        conformance.openCalls = { pool.statistics.waiting }
        conformance.computations = { pool.statistics.computed }
        // An accepted login would replace the hash of this user, who is locked at every login.
        conformance.usersWithProblems = [.init("weak", password: "secret")]
        conformance.stored = {
            // The hash of "old" may be replaced at any time after an accepted login.
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("old;") }
                .joined(separator: "\n")
        }
        let report = await conformance.check()
        #expect(report.violations == [])
        #expect(report.checked.count == RealmBackEndConformance.Check.allCases.count, "\(report)")
        let text = try folder.text()
        #expect(text.contains("weak;\(KnownHashes.ssha)") && !text.contains("old;\(KnownHashes.ssha)"))
    }

    @Test func `a single digest is computed at once, also while the threads for hashes are busy`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("alice;\(KnownHashes.ssha);users\n")
        let pool = HashingPool(HashingSettings(workers: 1)) { DispatchTime.now().uptimeNanoseconds }
        var services = RealmServices()
        services[PasswordService.self] = try PasswordService(policy: .standard, pool: pool)
        let realm = try FileRealm.make(folder, ["rehash": .boolean(false)], services: services, log: RecordedLog())
        let module = try FileLoginModule(
            realm: realm,
            options: try ModuleOptions([:], schema: FileLoginModule.options, realmName: "files")
        )
        let slots = TakenSlots(pool)
        await slots.take()
        let stack = LoginStack(name: "files", [LoginStack.Entry(module, .required)], clock: ManualClock())
        let request = LoginRequest(realm: "files", username: try Username("alice"))
        for (password, isAccepted) in [("secret", true), ("Secret", false)] {
            let conversation = PreparedConversation(name: "alice", password: Secret(utf8: password))
            let report = await stack.login(request, asking: conversation)
            #expect((report.identity != nil) == isAccepted)
        }
        await slots.release()
        #expect(pool.statistics.computed == 3)
    }
}

/// Takes all slots of a pool for as long as a test wants.
private final class TakenSlots: Sendable {
    private let pool: HashingPool
    private let gate = DispatchSemaphore(value: 0)

    init(_ pool: HashingPool) { self.pool = pool }

    func take() async {
        for _ in 0..<pool.settings.workers {
            Task { [pool, gate] in
                _ = try await pool.run(memory: 0, source: "test", key: nil) {
                    gate.wait()
                    return .checked(false)
                }
            }
        }
        try? await Waiting.until { pool.statistics.running == pool.settings.workers }
    }

    func release() async {
        for _ in 0..<pool.settings.workers { gate.signal() }
        try? await Waiting.until { pool.statistics.running == 0 }
    }
}
