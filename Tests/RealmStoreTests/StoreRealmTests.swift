// SPDX-License-Identifier: Apache-2.0

import Foundation
import Passwords
import RealmKit
import RealmStore
import RealmTesting
import Store
import Synchronization
import Testing

@Suite struct StoreRealmTests {
    private final class StoreFixture: Sendable {
        let time = Atomic(1_000_000)
        let logged = Mutex<[String]>([])
        let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-realm-\(UUID())").path
        let services: RealmServices
        let realm: StoreRealm
        let module: StoreLoginModule
        let stack: LoginStack
        let passwords: PasswordService

        /// Creates a realm in a new store.
        ///
        /// By default the computation of a hash takes very little time.
        init(
            _ policy: HashPolicy = HashPolicy(.argon2id(memory: 64, passes: 1, lanes: 1)),
            properties: [String: PropertyValue] = [:]
        ) throws {
            let pool = HashingPool(HashingSettings(workers: 2)) { DispatchTime.now().uptimeNanoseconds }
            passwords = try PasswordService(policy: policy, pool: pool)
            var services = RealmServices()
            services[PasswordService.self] = passwords
            services[LazyStore.self] = LazyStore(folder: folder, access: .createIfMissing)
            let box = Box()
            services[WallClock.self] = WallClock { box.fixture?.time.load(ordering: .relaxed) ?? 0 }
            services[RealmLog.self] = RealmLog { _, message in box.fixture?.logged.withLock { $0.append(message) } }
            self.services = services
            realm = try StoreRealm(
                RealmProperties(properties, schema: StoreRealm.properties, realmName: "people", services: services)
            )
            module = try StoreLoginModule(
                realm: realm,
                options: try ModuleOptions(schema: StoreLoginModule.options, realmName: "people")
            )
            stack = LoginStack(name: "people", [.init(module, .required)], clock: ManualClock())
            box.fixture = self
        }

        final class Box: @unchecked Sendable {
            // The fixture is set once, before the first login.
            weak var fixture: StoreFixture?
        }

        func add(_ name: String, _ password: String, _ change: (inout UserRecord) -> Void = { _ in }) async throws {
            var record = UserRecord(try Username(name), groups: ["User"])
            change(&record)
            try await realm.add(record, hash: try await passwords.hash(Secret(utf8: password)))
        }

        /// Creates a second realm with the same users.
        func another(_ properties: [String: PropertyValue] = [:]) throws -> StoreRealm {
            try StoreRealm(
                RealmProperties(properties, schema: StoreRealm.properties, realmName: "people", services: services)
            )
        }

        func login(_ name: String, _ password: String) async throws -> LoginReport {
            let request = LoginRequest(realm: "people", username: try Username(name))
            return await stack.login(request, asking: PreparedConversation(password: Secret(utf8: password)))
        }

        func login(_ name: String, asking conversation: any Conversation) async throws -> LoginReport {
            await stack.login(LoginRequest(realm: "people", username: try Username(name)), asking: conversation)
        }

        func failure(_ name: String, _ password: String) async throws -> LoginFailure? {
            try await login(name, password).refusal?.failure
        }
    }

    @Test func `a cancelled login does not mark the store as broken`() async throws {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse")
        let realm = fixture.realm
        let ann = try Username("ann")
        let (state, changed) = await Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return (await realm.state(of: ann), await realm.refresh())
        }.value
        #expect(state == .unknown && changed == .all)
        #expect(fixture.logged.withLock { $0 }.isEmpty)
    }

    @Test func `the correct password is accepted with the user's groups, and other passwords are rejected`()
        async throws
    {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse")
        #expect(try await fixture.login("ann", "correct horse").identity?.groups == ["User"])
        #expect(try await fixture.failure("ann", "wrong horse") == .wrongCredentials)
        #expect(try await fixture.failure("ann", "") == .wrongCredentials)
        #expect(try await fixture.failure("Ann", "correct horse") == .unknownUser)
        #expect(try await fixture.failure("bob", "correct horse") == .unknownUser)
    }

    private static let ignoringCase: [String: PropertyValue] = ["case-sensitive": .boolean(false)]

    @Test func `with case-sensitive false the user signs in with the stored name, and every call finds the user`()
        async throws
    {
        let fixture = try StoreFixture(properties: Self.ignoringCase)
        let realm = fixture.realm
        let kim = UserRecord(try Username("kim@Example.org"), groups: ["Staff"])
        try await realm.add(kim, hash: "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==")
        try await fixture.add("zo\u{EB}", "secret")
        for (typed, stored) in [("KIM@example.ORG", "kim@Example.org"), ("ZO\u{CB}", "zo\u{EB}")] {
            let name = try Username(typed)
            #expect(try await fixture.login(typed, "secret").identity?.username == Username(stored))
            #expect(try await fixture.failure(typed, "wrong") == .wrongCredentials)
            #expect(try await realm.user(name)?.name == Username(stored))
            #expect(try await realm.groupNames(of: name) == [stored.hasPrefix("kim") ? "Staff" : "User"])
            #expect(try await realm.attributes(of: name) == [])
            // One counter of failed logins, whatever the spelling.
            #expect(try realm.accountKey(of: name) == realm.accountKey(of: Username(stored)))
        }
        // The weak hash was replaced under the stored name.
        #expect(try await realm.users().map(\.format) == Array(repeating: "argon2id m=64,t=1,p=1", count: 2))
        #expect(try await fixture.failure("kin@example.org", "secret") == .unknownUser)
        for other in ["Kim@example.org", "kim@Example.org"] {
            await #expect(throws: RealmError.userExists(try Username(other))) { try await fixture.add(other, "x") }
        }
        let twins = try ["Bob", "bob"].map { NewUser(UserRecord(try Username($0)), hash: nil, place: "f:\($0)") }
        let refused = await #expect(throws: RealmError.self) { try await realm.add(all: twins) }
        #expect(refused?.message == "f:bob: the user Bob exists already")
        var changes = UserChanges()
        changes.isEnabled = false
        try await realm.change(try Username("KIM@EXAMPLE.ORG"), changes)
        #expect(try await fixture.failure("kim@example.org", "secret") == .disabled)
        #expect(await realm.refresh() == .all)
        try await realm.remove(try Username("KIM@EXAMPLE.ORG"))
        #expect(await realm.refresh() == .some([try Username("kim@Example.org")]))
    }

    @Test func `with case-sensitive false a new password is stored under the stored name`() async throws {
        let fixture = try StoreFixture(properties: Self.ignoringCase)
        try await fixture.add("kim", "correct horse") { $0.mustChangePassword = true }
        let conversation = RecordingConversation([
            Self.secrets("correct horse"), Self.secrets("battery staple", "battery staple"),
        ])
        #expect(try await fixture.login("KIM", asking: conversation).identity?.username == Username("kim"))
        #expect(try await fixture.failure("Kim", "battery staple") == nil)
    }

    @Test func `users whose names differ in case only are an error if case is ignored, and none of them is preferred`()
        async throws
    {
        let fixture = try StoreFixture(properties: Self.ignoringCase)
        let sensitive = try fixture.another()
        for name in ["kim", "Kim", "Bob", "BOB", "eve", "Zed"] {
            let hash = try await fixture.passwords.hash(Secret(utf8: "x"))
            try await sensitive.add(UserRecord(try Username(name)), hash: hash)
        }
        let fault = #expect(throws: BadRealm.self) { try fixture.another(Self.ignoringCase) }
        #expect(fault?.setting == "case-sensitive")
        #expect(fault?.message == "there are users whose names differ in case only: BOB and Bob, Kim and kim")
        // Another program has added them while this realm is in use.
        for name in ["kim", "Kim", "KIM"] { #expect(try await fixture.failure(name, "x") == .unavailable) }
        #expect(try await fixture.login("EVE", "x").identity?.username == Username("eve"))
        for name in ["Kim", "BOB"] { try await sensitive.remove(try Username(name)) }
        _ = try fixture.another(Self.ignoringCase)
        #expect(try await fixture.login("KIM", "x").identity?.username == Username("kim"))
    }

    @Test func `with truncated-passwords the old password is accepted, and from then on as a whole`() async throws {
        // The bcrypt hash of 72 letters `a`.
        let hash = "$2b$04$CCCCCCCCCCCCCCCCCCCCC.mDyzbhj.9K0apb9O/AGMWwoLXiYAu6u"
        let long = String(repeating: "a", count: 80)
        let ann = UserRecord(try Username("ann"))
        let refusing = try StoreFixture()
        try await refusing.realm.add(ann, hash: hash)
        #expect(try await refusing.failure("ann", long) == .unusableCredential)
        let fixture = try StoreFixture(properties: ["truncated-passwords": .boolean(true)])
        try await fixture.realm.add(ann, hash: hash)
        #expect(try await fixture.failure("ann", long) == nil)
        #expect(try await fixture.failure("ann", long + "b") == .wrongCredentials)
        #expect(try await fixture.failure("ann", long) == nil)
        let needed = "needs rehash true, so that such a hash is replaced"
        #expect(throws: BadRealm(needed, setting: "truncated-passwords")) {
            try fixture.another(["truncated-passwords": .boolean(true), "rehash": .boolean(false)])
        }
    }

    @Test func `a login has the attributes of the user, and so has a lookup`() async throws {
        let fixture = try StoreFixture()
        let attributes = [
            try UserAttribute(name: UserAttribute.displayName, values: ["Ann Ä"]),
            try UserAttribute(name: UserAttribute.mail, values: ["ann@example.org"]),
        ]
        try await fixture.add("ann", "correct horse") { $0.attributes = attributes }
        try await fixture.add("bob", "correct horse")
        #expect(try await fixture.login("ann", "correct horse").identity?.attributes == attributes)
        #expect(try await fixture.login("bob", "correct horse").identity?.attributes == [])
        #expect(try await fixture.realm.attributes(of: try Username("ann")) == attributes)
        #expect(try await fixture.realm.exportUsers().map(\.record.attributes) == [attributes, []])
        await #expect(throws: RealmError.noSuchUser(try Username("carl"))) {
            try await fixture.realm.attributes(of: try Username("carl"))
        }
    }

    @Test func `users and groups are kept apart byte by byte`() async throws {
        let fixture = try StoreFixture()
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let mail = try UserAttribute(name: UserAttribute.mail, values: ["c@x.example"])
        try await fixture.realm.add(
            UserRecord(try Username(composed), groups: ["Admin", composed, decomposed], attributes: [mail]),
            hash: nil
        )
        try await fixture.realm.add(UserRecord(try Username(decomposed), groups: ["Guest"]), hash: nil)
        let users = try await fixture.realm.users()
        #expect(users.count == 2)
        for user in users {
            let isComposed = user.name.text.utf8.count == composed.utf8.count
            #expect(user.groups.count == (isComposed ? 3 : 1) && user.attributes.count == (isComposed ? 1 : 0))
            #expect(user.groups.contains("Guest") == !isComposed)
        }
    }

    @Test func `CVE-2025-53942: disabled users, expired users, and users who must change the password cannot log in`()
        async throws
    {
        let fixture = try StoreFixture()
        try await fixture.add("off", "correct horse") { $0.isEnabled = false }
        try await fixture.add("past", "correct horse") { $0.expiry = 1_000_000 }
        try await fixture.add("last", "correct horse") { $0.expiry = 1_000_001 }
        try await fixture.add("new", "correct horse") { $0.mustChangePassword = true }
        try await fixture.realm.add(UserRecord(try Username("none")), hash: nil)
        #expect(try await fixture.failure("off", "correct horse") == .disabled)
        #expect(try await fixture.failure("off", "wrong horse") == .wrongCredentials)
        #expect(try await fixture.failure("past", "correct horse") == .accountExpired)
        #expect(try await fixture.failure("last", "correct horse") == nil)
        fixture.time.store(1_000_001, ordering: .relaxed)
        #expect(try await fixture.failure("last", "correct horse") == .accountExpired)
        #expect(try await fixture.failure("new", "correct horse") == .credentialExpired)
        #expect(try await fixture.failure("none", "correct horse") == .wrongCredentials)
        #expect(try await fixture.failure("none", "") == .wrongCredentials)
    }

    private static func secrets(_ texts: String...) -> RecordingConversation.Reply {
        let secrets = texts.map { Answer.secret(Secret(utf8: $0)) }
        return .answers(secrets.count == 1 ? secrets : [.none] + secrets)
    }

    @Test func `a user who must change the password is asked for a new one after the old one was right`() async throws {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse") { $0.mustChangePassword = true }
        let ann = try Username("ann")
        let old = try await fixture.realm.exportUsers()[0].hash
        // HTTP Basic gives the same password again.
        #expect(try await fixture.failure("ann", "correct horse") == .credentialExpired)
        let wrong = RecordingConversation([Self.secrets("wrong horse")])
        #expect(try await fixture.login("ann", asking: wrong).refusal?.failure == .wrongCredentials)
        #expect(wrong.questions.count == 1)
        // Different, short and old passwords, and control characters.
        let bad = RecordingConversation([
            Self.secrets("correct horse"), Self.secrets("battery staple", "battery stable"),
            Self.secrets("short", "short"), Self.secrets("battery\tstaple", "battery\tstaple"),
        ])
        #expect(try await fixture.login("ann", asking: bad).refusal?.failure == .credentialExpired)
        #expect(bad.questions.count == 4)
        let same = RecordingConversation([
            Self.secrets("correct horse"), Self.secrets("correct horse", "correct horse"),
        ])
        #expect(try await fixture.login("ann", asking: same).refusal?.failure == .credentialExpired)
        #expect(same.questions.count == 2)
        #expect(try await fixture.realm.exportUsers()[0].hash == old)
        #expect(await fixture.realm.state(of: ann) == .gone)

        let good = RecordingConversation([
            Self.secrets("correct horse"), Self.secrets("battery staple", "battery staple"),
        ])
        _ = await fixture.realm.refresh()
        #expect(try await fixture.login("ann", asking: good).identity?.groups == ["User"])
        // The session of this login must not end as one of the old password would.
        #expect(await fixture.realm.refresh() == .none)
        #expect(try await fixture.failure("ann", "battery staple") == nil)
        #expect(try await fixture.failure("ann", "correct horse") == .wrongCredentials)
        #expect(await fixture.realm.state(of: ann) != .gone)
    }

    @Test func `a login that another module or a lock refuses neither asks for a new password nor stores one`()
        async throws
    {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse") { $0.mustChangePassword = true }
        let before = try await fixture.realm.exportUsers()[0]
        let request = LoginRequest(realm: "people", username: try Username("ann"))
        let replies = [Self.secrets("correct horse"), Self.secrets("battery staple", "battery staple")]
        let stack = LoginStack(
            name: "people",
            [.init(fixture.module, .required), .init(ScriptedModule(.refuse(.wrongCredentials)), .required)],
            clock: ManualClock()
        )
        let asked = RecordingConversation(replies)
        #expect(await stack.login(request, asking: asked).refusal?.failure == .wrongCredentials)
        #expect(asked.questions.count == 1)
        let locked = RecordingConversation(replies)
        let report = await fixture.stack.login(request, asking: locked, mayGrant: false)
        #expect(report.identity == nil && locked.questions.count == 1)
        let after = try await fixture.realm.exportUsers()[0]
        #expect(after.hash == before.hash && after.record.mustChangePassword)
    }

    @Test func `a new password is not stored over another change, and the login fails`() async throws {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse") { $0.mustChangePassword = true }
        let held = PreparedConversation(password: Secret(utf8: "battery staple"))
        let conversation = RecordingConversation([Self.secrets("correct horse"), .held(held)])
        let realm = fixture.realm
        // The answers to the second question are the same text twice, given after the change of the administrator.
        let login = Task { try await fixture.login("ann", asking: conversation) }
        await conversation.untilCalled(2)
        var changes = UserChanges()
        changes.hash = try await fixture.passwords.hash(Secret(utf8: "of the administrator"))
        try await realm.change(try Username("ann"), changes)
        conversation.release()
        let report = try await login.value
        #expect(report.identity == nil)
        #expect(try await realm.exportUsers()[0].record.mustChangePassword)
        #expect(try await fixture.failure("ann", "of the administrator") == .credentialExpired)
        #expect(fixture.logged.withLock { $0 }.contains { $0.contains("the new password of ann was not stored") })
    }

    @Test func `a user who is disabled while the new password is asked for gets none`() async throws {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse") { $0.mustChangePassword = true }
        let held = PreparedConversation(password: Secret(utf8: "battery staple"))
        let conversation = RecordingConversation([Self.secrets("correct horse"), .held(held)])
        let login = Task { try await fixture.login("ann", asking: conversation) }
        await conversation.untilCalled(2)
        let before = try await fixture.realm.exportUsers()[0].hash
        var changes = UserChanges()
        changes.isEnabled = false
        try await fixture.realm.change(try Username("ann"), changes)
        conversation.release()
        #expect(try await login.value.identity == nil)
        let after = try await fixture.realm.exportUsers()[0]
        #expect(after.hash == before && after.record.mustChangePassword)
    }

    @Test func `CVE-2026-32595, CVE-2026-41263: every login checks one hash of every cost`() async throws {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse")
        // The hash is the {SSHA} of "secret" with the salt 01..08, from GlassFish's realm.
        try await fixture.realm.add(
            UserRecord(try Username("old")),
            hash: "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA=="
        )
        let costs = try await ["ann", "old", "nobody"].asyncMap { name in
            let note = try #require(try await fixture.login(name, "wrong horse").notes.first).text
            return String(note.prefix { $0 != ":" })
        }
        #expect(Set(costs).count == 1)
        #expect(costs[0].contains("argon2id m=64,t=1,p=1"))
        #expect(costs[0].contains("sha1"))
        let empty = try #require(try await fixture.login("ann", "").notes.first).text
        #expect(empty.hasPrefix(costs[0]))
    }

    @Test func `a weak hash is replaced at sign-in, and the password stays valid`()
        async throws
    {
        let fixture = try StoreFixture()
        try await fixture.realm.add(
            UserRecord(try Username("alice")),
            hash: "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA=="
        )
        #expect(try await fixture.failure("alice", "wrong") == .wrongCredentials)
        #expect(try await fixture.realm.users()[0].format == "sha1")
        #expect(await fixture.realm.refresh() == .all)
        #expect(try await fixture.failure("alice", "secret") == nil)
        #expect(try await fixture.realm.users()[0].format == "argon2id m=64,t=1,p=1")
        #expect(try await fixture.failure("alice", "secret") == nil)
        #expect(try await fixture.failure("alice", "wrong") == .wrongCredentials)
        // A rehash is not reported as a change.
        #expect(await fixture.realm.refresh() == .none)
    }

    @Test func `an unreadable hash is not stored`() async throws {
        let fixture = try StoreFixture()
        await #expect(throws: RealmError(.invalidOperation, "")) {
            try await fixture.realm.add(UserRecord(try Username("ann")), hash: "hello")
        }
        // A check of this hash takes 1 GiB, which is more than the limit for all checks.
        let greedy =
            "$argon2id$v=19$m=1048576,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
        await #expect(throws: RealmError(.invalidOperation, "")) {
            try await fixture.realm.add(UserRecord(try Username("ann")), hash: greedy)
        }
        #expect(try await fixture.realm.users().isEmpty)
    }

    @Test func `a hash that would take too long for every login is not stored`() async throws {
        let fixture = try StoreFixture()
        let dear = "$2b$17$" + String(repeating: ".", count: 53)
        let fault = await #expect(throws: RealmError.self) {
            try await fixture.realm.add(UserRecord(Username("eve"), groups: []), hash: dear)
        }
        #expect(fault?.message.contains("bcrypt cost=17 takes about 7.9 s") == true)
    }

    @Test func `a user with a damaged hash cannot log in, and other users can`() async throws {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse")
        try await fixture.add("bob", "correct horse")
        let store = try GatehouseStore.open(folder: fixture.folder)
        var damaged = UserChanges()
        damaged.hash = "$argon2id$broken"
        try await store.change(try Username("ann"), in: "people", changes: damaged, cost: "argon2id m=64,t=1,p=1")
        #expect(try await fixture.failure("ann", "correct horse") == .wrongCredentials)
        #expect(try await fixture.failure("ann", "$argon2id$broken") == .wrongCredentials)
        #expect(try await fixture.failure("bob", "correct horse") == nil)
        #expect(fixture.logged.withLock { $0.contains { $0.contains("ann") && $0.contains("cannot be read") } })
    }

    @Test func `the names of users whom another program has changed are reported`() async throws {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse")
        try await fixture.add("bob", "correct horse")
        // Changes before the first refresh are unknown. A user may have signed in and been removed before the first
        // refresh.
        #expect(await fixture.realm.refresh() == .all)
        #expect(await fixture.realm.refresh() == .none)
        let other = try GatehouseStore.open(folder: fixture.folder)
        try await other.remove(try Username("ann"), from: "people")
        #expect(await fixture.realm.refresh() == .some([try Username("ann")]))
        #expect(await fixture.realm.refresh() == .none)
        #expect(try await fixture.failure("ann", "correct horse") == .unknownUser)
    }

    @Test func `the realm passes the conformance tests`() async throws {
        let fixture = try StoreFixture()
        // The tests create realms of this name.
        let realm = try StoreRealm(
            RealmProperties(schema: StoreRealm.properties, realmName: "conformance", services: fixture.services)
        )
        for name in ["ann", "bob"] {
            try await realm.add(UserRecord(try Username(name), groups: ["User"]), hash: nil)
        }
        let conformance = RealmConformance(
            StoreRealm.self,
            members: ["ann": ["User"], "bob": ["User"]],
            unknownUsers: ["carl", "User"],
            services: fixture.services
        )
        #expect(await conformance.violations() == [])
    }

    @Test func `the module passes the conformance tests`() async throws {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse")
        try await fixture.add("bob", "battery staple")
        try await fixture.add("off", "correct horse") { $0.isEnabled = false }
        let conformance = LoginModuleConformance(
            fixture.module,
            accepts: [.init("ann", password: "correct horse"), .init("bob", password: "battery staple")],
            refuses: [
                .init("ann", password: "battery staple"), .init("ann", password: ""), .init("carl", password: "x"),
                .init("off", password: "correct horse"), .init("User", password: "correct horse"),
            ]
        )
        #expect(await conformance.violations() == [])
    }

    @Test func `the realm returns the groups of known users, and cannot be created without a store`() async throws {
        let fixture = try StoreFixture()
        try await fixture.add("ann", "correct horse")
        #expect(try await fixture.realm.groupNames(of: try Username("ann")) == ["User"])
        await #expect(throws: RealmError(.noSuchUser, "")) {
            try await fixture.realm.groupNames(of: try Username("bob"))
        }
        #expect(throws: BadRealm.self) {
            _ = try StoreRealm(RealmProperties(schema: StoreRealm.properties, realmName: "people"))
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
