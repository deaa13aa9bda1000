// SPDX-License-Identifier: Apache-2.0

import Files
import Foundation
import Passwords
import RealmKit
import RealmTesting
import Testing

@testable import RealmFile

struct LoginTests {
    private let folder: TemporaryFolder
    private let log = RecordedLog()

    init() throws { folder = try TemporaryFolder() }

    private static let cheap = HashPolicy(.argon2id(memory: 64, passes: 1, lanes: 1))

    private func services(_ policy: HashPolicy = cheap) throws -> RealmServices {
        var settings = HashingSettings(workers: 1)
        settings.wait = .seconds(60)
        settings.niceness = 0
        let pool = HashingPool(settings) { UInt64(clamping: FileStamp.systemNow()) }
        var services = RealmServices()
        services[PasswordService.self] = try PasswordService(policy: policy, pool: pool)
        return services
    }

    private func realm(
        _ text: String,
        _ properties: [String: PropertyValue] = ["rehash": .boolean(true)],
        groups: String? = nil,
        policy: HashPolicy = cheap
    ) throws -> FileRealm {
        try folder.write(text)
        if let groups { try folder.write(groups, to: "groups") }
        let name = groups == nil ? nil : "groups"
        return try FileRealm.make(folder, properties, groups: name, services: try services(policy), log: log)
    }

    private func module(_ realm: FileRealm, _ options: [String: PropertyValue] = [:]) throws -> FileLoginModule {
        let read = try ModuleOptions(options, schema: FileLoginModule.options, realmName: "files")
        return try FileLoginModule(realm: realm, options: read)
    }

    private func login(_ realm: FileRealm, _ name: String, _ password: String) async throws -> LoginReport {
        let stack = LoginStack(name: "files", [LoginStack.Entry(try module(realm), .required)], clock: ManualClock())
        let request = LoginRequest(realm: "files", username: try Username(name))
        return await stack.login(request, asking: PreparedConversation(name: name, password: Secret(utf8: password)))
    }

    private static let keyFile = """
        alice;{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==;users,admins
        bob;\(KnownHashes.glassfish);users
        admin;{SSHA256}80e0NeB6XBWXsIPa7pT54D9JZ5DR5hGQV1kN1OAsgJePNXY6Pl0EIw==;asadmin
        anonymous;{SSHA}w9WBMj/jphXlgDWPgozFSSzUgy5Fd/ONd7nPtw==;asadmin
        off;!\(KnownHashes.ssha);users
        reset;RESET;users
        broken;secret;users
        twice;\(KnownHashes.ssha);users
        twice;\(KnownHashes.ssha);admins
        ldap;{SSHA256}A7N1lAy5bBb4T6qH9e85zAvHBmzNPhRFbZ105DjjWDIBAgMEBQYHCA==;users

        """

    /// The parameters of each hash are within the bounds, but libxcrypt does not accept them together.
    @Test(arguments: [
        "$y$/.T$abcdefgh$" + String(repeating: "a", count: 43), "$gy$...$abcdefgh$" + String(repeating: "a", count: 43),
    ])
    func `a hash that crypt(3) does not accept refuses its user, and nobody else`(hash: String) async throws {
        let realm = try realm("ann;\(KnownHashes.ssha);users\nodd;\(hash);users\n", ["rehash": .boolean(false)])
        #expect(try await login(realm, "ann", "secret").identity != nil)
        for name in ["odd", "ann", "nobody"] {
            let report = try await login(realm, name, "wrong")
            #expect(report.identity == nil && !report.isUnavailable, "\(name): \(report)")
        }
    }

    @Test func `the module passes the conformance tests`() async throws {
        let realm = try realm(Self.keyFile, ["rehash": .boolean(false)])
        let conformance = LoginModuleConformance(
            try module(realm),
            accepts: [
                .init("alice", password: "secret"), .init("bob", password: "secret"),
                .init("admin", password: "glassfish"),
            ],
            refuses: [
                .init("alice", password: "Secret"), .init("alice", password: ""), .init("Alice", password: "secret"),
                .init("anonymous", password: ""), .init("off", password: "secret"), .init("off", password: "!secret"),
                .init("reset", password: "RESET"), .init("reset", password: ""), .init("broken", password: "secret"),
                .init("twice", password: "secret"), .init("nobody", password: "secret"),
                .init("users", password: "secret"),
                // This hash has one round, as in OpenLDAP. In a key file {SSHA256} means GlassFish's 100 rounds.
                .init("ldap", password: "secret"),
            ],
            timeLimit: .seconds(60)
        )
        #expect(await conformance.violations() == [])
        let names = ["FileLoginModule", "com.sun.enterprise.security.auth.login.FileLoginModule"]
        #expect(RealmKind(FileRealm.self, modules: FileLoginModule.self).modules.map(\.names) == [names])
    }

    @Test(arguments: [
        ("alice", "wrong", LoginFailure.wrongCredentials), ("alice", "", .wrongCredentials),
        ("nobody", "x", .unknownUser),
        ("off", "secret", .disabled), ("reset", "RESET", .disabled), ("broken", "secret", .disabled),
        ("twice", "secret", .disabled), ("anonymous", "", .wrongCredentials),
    ])
    func `the report of a rejected login contains the reason`(
        name: String,
        password: String,
        failure: LoginFailure
    ) async throws {
        let report = try await login(try realm(Self.keyFile), name, password)
        #expect(report.identity == nil)
        #expect(report.refusal?.failure == failure)
    }

    @Test func `the user and groups of a login come from the file`() async throws {
        let report = try await login(try realm(Self.keyFile, ["rehash": .boolean(false)]), "alice", "secret")
        #expect(report.identity?.groups == ["users", "admins"])
        #expect(report.identity?.subject.users == ["alice"])
    }

    @Test func `an htpasswd file accepts the passwords that Apache accepts`() async throws {
        let text = """
            ann:$2y$05$dJ6jUgoWXue3CjPTYjypHONVnZfT.OjQHLLeZ2QXz5ls1HB4GhDae
            bob:\(KnownHashes.lilac)

            """
        let realm = try realm(text, ["rehash": .boolean(false)], groups: "staff: ann\n")
        #expect(try await login(realm, "ann", "lilac").identity?.groups == ["staff"])
        #expect(try await login(realm, "bob", "lilac").identity?.groups == [])
        #expect(try await login(realm, "ann", "secret").identity == nil)
        #expect(try await login(realm, "bob", "secret").identity == nil)
    }

    /// The note of each check lists the hashes that were computed.
    @Test func `every login checks one hash of every cost, for known and unknown users`() async throws {
        let realm = try realm(Self.keyFile)
        var plans: Set<String> = []
        for name in ["alice", "bob", "nobody", "off", "reset", "broken", "twice"] {
            for password in ["wrong", ""] {
                let report = try await login(realm, name, password)
                let note = report.notes.map(\.text).first?.split(separator: ":").first
                plans.insert(
                    String(try #require(note)).split(separator: ",").map { $0.trimmingPrefix(" ") }.sorted().joined()
                )
            }
        }
        #expect(plans.count == 1, "\(plans)")
        #expect(realm.files.table.hashPerCost.count == 2)
    }

    @Test func `a login in a realm without users computes a hash of the policy`() async throws {
        let realm = try realm("")
        let report = try await login(realm, "ann", "lilac")
        #expect(report.refusal?.failure == .unknownUser)
        #expect(report.notes.map(\.text).first?.contains("argon2id") == true)
    }

    @Test func `a new password and new groups apply to the next login`() async throws {
        let realm = try realm("ann;\(KnownHashes.ssha);a\n", ["rehash": .boolean(false)])
        #expect(try await login(realm, "ann", "secret").identity?.groups == ["a"])
        var changes = UserChanges()
        (changes.hash, changes.groups) = (KnownHashes.lilac, ["b"])
        try await realm.change(try Username("ann"), changes)
        #expect(try await login(realm, "ann", "secret").identity == nil)
        #expect(try await login(realm, "ann", "lilac").identity?.groups == ["b"])
    }

    // MARK: Rehashing

    @Test func `a weak hash is replaced after a login, and the user is not reported as changed`() async throws {
        let realm = try realm("# top\nann;\(KnownHashes.ssha);a\n")
        #expect(try await login(realm, "ann", "wrong").identity == nil)
        await realm.rehasher?.waitUntilIdle()
        #expect(try folder.text() == "# top\nann;\(KnownHashes.ssha);a\n")
        #expect(try await login(realm, "ann", "secret").identity != nil)
        await realm.rehasher?.waitUntilIdle()
        let text = try folder.text()
        #expect(text.hasPrefix("# top\nann;$argon2id$v=19$m=64,t=1,p=1$"))
        #expect(text.hasSuffix(";a\n"))
        #expect(await realm.refresh() == .none)
        #expect(try await login(realm, "ann", "secret").identity?.groups == ["a"])
        await realm.rehasher?.waitUntilIdle()
        #expect(try folder.text() == text)
        #expect(log.entries == [])
    }

    @Test func `rehashing does not undo a change of the password`() async throws {
        let realm = try realm("ann;\(KnownHashes.ssha);a\n")
        var changes = UserChanges()
        changes.hash = KnownHashes.glassfish
        try await realm.change(try Username("ann"), changes)
        // This is the rehash of a login before the change.
        realm.rehasher?.start(try Username("ann"), password: Secret(utf8: "secret"), replacing: KnownHashes.ssha)
        await realm.rehasher?.waitUntilIdle()
        #expect(try folder.text() == "ann;\(KnownHashes.glassfish);a\n")
    }

    @Test func `no hash is replaced if rehash is off or the stack rejects the login`() async throws {
        let text = "ann;\(KnownHashes.ssha);a\n"
        let switchedOff = try realm(text, [:])
        #expect(try await login(switchedOff, "ann", "secret").identity != nil)
        #expect(switchedOff.rehasher == nil)
        let realm = try realm(text)
        let stack = LoginStack(
            name: "files",
            [
                LoginStack.Entry(try module(realm), .required),
                LoginStack.Entry(ScriptedModule(.refuse(.permissionDenied)), .required),
            ],
            clock: ManualClock()
        )
        let conversation = PreparedConversation(name: "ann", password: Secret(utf8: "secret"))
        let report = await stack.login(
            LoginRequest(realm: "files", username: try Username("ann")),
            asking: conversation
        )
        await realm.rehasher?.waitUntilIdle()
        #expect(report.identity == nil)
        #expect(try folder.text() == text)
    }

    @Test func `a failed rehash does not fail the login, and is logged once`() async throws {
        let realm = try realm("ann;\(KnownHashes.ssha);a\n")
        try FileManager.default.createDirectory(
            atPath: folder.file(".users.new-\(getpid())"),
            withIntermediateDirectories: true
        )
        for _ in 0..<2 {
            #expect(try await login(realm, "ann", "secret").identity != nil)
            await realm.rehasher?.waitUntilIdle()
        }
        #expect(log.entries.count == 1)
        #expect(
            log.entries.first?.hasPrefix("notice: a weak password hash could not be replaced: nothing is changed")
                == true
        )
    }

    @Test func `a user whose hash needs too much memory cannot log in, and other users can`() async throws {
        let big = "$argon2id$v=19$m=1048576,t=1,p=1$c2FsdHNhbHRzYWx0$" + String(repeating: "A", count: 43)
        let realm = try realm("ann;\(KnownHashes.ssha);a\nbob;\(big);b\n", ["rehash": .boolean(false)])
        #expect(realm.listing == ["ann: a", "!bob: b"])
        #expect(realm.warnings.first?.contains("users:2: bob cannot sign in: a check of argon2id") == true)
        #expect(try await login(realm, "ann", "secret").identity != nil)
        #expect(try await login(realm, "bob", "secret").refusal?.failure == .disabled)
    }

    @Test func `a user whose hash takes too long cannot log in, and others do not wait for it`() async throws {
        let dear = "$2b$17$" + String(repeating: ".", count: 53)
        let realm = try realm("ann;\(KnownHashes.ssha);a\nbob;\(dear);b\n", ["rehash": .boolean(false)])
        #expect(realm.listing == ["ann: a", "!bob: b"])
        #expect(realm.warnings.first?.contains("users:2: bob cannot sign in: a check of bcrypt cost=17 takes") == true)
        #expect(realm.files.table.hashPerCost.map(\.cost.description) == ["sha1"])
        #expect(try await login(realm, "bob", "secret").refusal?.failure == .disabled)
    }

    // MARK: Truncating hashes

    /// The DES hash of `password`, and the bcrypt hash of 72 letters `a`.
    private static let truncating =
        "ann:zZDDIZ0NOlPzw\nbob:$2b$04$CCCCCCCCCCCCCCCCCCCCC.mDyzbhj.9K0apb9O/AGMWwoLXiYAu6u\n"
    private static let long = String(repeating: "a", count: 80)

    @Test func `a password beyond the bytes of its hash is refused, and the reason is said at load`() async throws {
        let realm = try realm(Self.truncating + "cid:zZDDIZ0NOlPzw\n")
        #expect(
            realm.warnings(in: folder) == [
                "users:1: 2 users have hashes of the first 8 bytes of the password (descrypt), so a longer password is "
                    + "refused; truncated-passwords true accepts it once, and then replaces the hash"
            ]
        )
        #expect(realm.summary == ["1 user has a bcrypt hash: a password of more than 72 bytes is refused"])
        #expect(try await login(realm, "ann", "password and more").refusal?.failure == .unusableCredential)
        #expect(try await login(realm, "bob", Self.long).refusal?.failure == .unusableCredential)
        #expect(try folder.text() == Self.truncating + "cid:zZDDIZ0NOlPzw\n")
    }

    @Test func `with truncated-passwords the old password is accepted, and from then on as a whole`() async throws {
        let realm = try realm(
            Self.truncating,
            ["rehash": .boolean(true), "truncated-passwords": .boolean(true)]
        )
        #expect(realm.warnings == [])
        #expect(realm.summary == [])
        for (name, password, other) in [("ann", "password and more", "password"), ("bob", Self.long, Self.long + "b")] {
            #expect(try await login(realm, name, "wrong " + password).identity == nil)
            #expect(try await login(realm, name, password).identity != nil)
            await realm.rehasher?.waitUntilIdle()
            #expect(try await login(realm, name, other).identity == nil)
            #expect(try await login(realm, name, password).identity != nil)
        }
        #expect(try folder.text().components(separatedBy: "$argon2id$").count == 3)
    }

    @Test func `with truncated-passwords a password is refused if no new hash would cover it`() async throws {
        let realm = try realm(
            Self.truncating,
            ["rehash": .boolean(true), "truncated-passwords": .boolean(true)],
            policy: HashPolicy(.bcrypt(cost: 4))
        )
        #expect(try await login(realm, "bob", Self.long).refusal?.failure == .unusableCredential)
        #expect(try await login(realm, "bob", String(Self.long.prefix(72))).identity != nil)
        await realm.rehasher?.waitUntilIdle()
        #expect(try folder.text() == Self.truncating)
    }

    @Test func `truncated-passwords needs rehash`() throws {
        #expect(throws: BadRealm("needs rehash true, so that such a hash is replaced", setting: "truncated-passwords"))
        {
            try realm(Self.truncating, ["truncated-passwords": .boolean(true)])
        }
    }

    @Test func `with case-sensitive false the user signs in with the name of the file`() async throws {
        let realm = try realm(
            "Ann;\(KnownHashes.ssha);a\n",
            ["rehash": .boolean(true), "case-sensitive": .boolean(false)]
        )
        for name in ["ann", "ANN", "Ann"] {
            #expect(try await login(realm, name, "secret").identity?.username.text == "Ann")
            #expect(try await login(realm, name, "wrong").identity == nil)
            await realm.rehasher?.waitUntilIdle()
        }
        #expect(try folder.text().hasPrefix("Ann;$argon2id$"))
        #expect(await realm.refresh() == .none)
        let exact = try self.realm("Ann;\(KnownHashes.ssha);a\n")
        #expect(try await login(exact, "ann", "secret").refusal?.failure == .unknownUser)
    }

    @Test func `the module cannot be created without a password service`() throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n")
        let realm = try FileRealm.make(folder)
        #expect(throws: BadModule("this program has no service that checks passwords")) { try module(realm) }
    }
}
