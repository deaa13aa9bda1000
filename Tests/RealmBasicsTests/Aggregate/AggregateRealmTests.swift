// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmBasics
import RealmFile
import RealmKit
import RealmTesting
import Synchronization
import TestTools
import Testing

@testable import RealmBasics

struct AggregateRealmTests {
    private let passwords = MemoryDirectory([
        "ann": .init(groups: ["Login"]), "Zed@example.org": .init(spelling: "ZED@example.org"),
        "kim@elsewhere.org": .init(), "@example.org": .init(), "tom": .init(),
    ])
    private let directory: MemoryDirectory
    private let staff = MemoryDirectory(["ann": .init(groups: ["Staff", "Admin"]), "zed": .init(groups: ["Admin"])])

    init() throws {
        directory = MemoryDirectory([
            "ann": .init(
                groups: ["Staff", "Login"],
                attributes: [try UserAttribute(name: "mail", values: ["ann@example.org"])]
            ),
            "zed": .init(groups: ["Guests"]),
        ])
    }

    private func town(
        _ properties: [String: PropertyValue] = [:],
        log: AggregateLog = AggregateLog(),
        clock: any LoginClock = ManualClock()
    ) throws -> Town {
        try Town(
            accounts: bound("accounts", passwords, [.required(passwords.module)], groups: ["Members"], clock: clock),
            authorization: [
                bound("directory", directory, groups: ["Directory"], mapping: ["Guests->Visitors"]),
                bound("staff", staff),
            ],
            properties,
            groups: ["People"],
            services: log.services,
            clock: clock
        )
    }

    private let mapping: [String: PropertyValue] = ["name-mapping": .list(["lower-case", "*@example.org->*"])]

    @Test func `the groups of all realms are united, each once`() async throws {
        let report = try await town().login("ann")
        let identity = try #require(report.identity)
        #expect(identity.realm == "people")
        #expect(identity.username.text == "ann")
        #expect(identity.groups == ["Login", "Members", "Staff", "Directory", "Admin", "People"])
        #expect(identity.attributes == [try UserAttribute(name: "mail", values: ["ann@example.org"])])
        #expect(identity.subject.users == ["ann"])
    }

    @Test func `the name keeps the spelling of the authentication realm, and the others are asked for the mapped name`()
        async throws
    {
        let report = try await town(mapping).login("Zed@example.org")
        let identity = try #require(report.identity)
        #expect(identity.username.text == "ZED@example.org")
        #expect(identity.groups == ["Members", "Guests", "Directory", "Visitors", "Admin", "People"])
        #expect(Set(directory.questions) == ["zed"])
        #expect(report.notes.map(\.text).contains("name in the authorization realms: zed"))
    }

    @Test func `a realm that does not know the user adds nothing`() async throws {
        #expect(try await town(mapping).login("kim@elsewhere.org").identity?.groups == ["Members", "People"])
        #expect(Set(directory.questions) == ["kim@elsewhere.org"])
    }

    @Test func `a name that maps to no valid name is refused, and no realm is asked for it`() async throws {
        let report = try await town(mapping).login("@example.org")
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .permissionDenied))
        #expect(report.steps.first?.fault?.log == "name-mapping: the user name is empty")
        #expect(directory.questions == [])
    }

    @Test func `the other realms are asked only after a right password`() async throws {
        for (name, password, failure) in [
            ("ann", "wrong", LoginFailure.wrongCredentials), ("nobody", "right", .unknownUser),
            ("ann", "", .wrongCredentials),
        ] {
            let report = try await town().login(name, password: password)
            #expect(report.refusal == .module(index: 0, phase: .login, failure: failure))
            #expect(report.presentedSecret)
            #expect(!report.isUnavailable)
        }
        #expect(directory.questions == [] && staff.questions == [])
    }

    @Test func `the steps of the other realm are notes`() async throws {
        let report = try await town().login("ann", password: "wrong")
        #expect(
            report.notes.map(\.text) == [
                "accounts: 0 ScriptedModule required login wrong-credentials",
                "accounts: 0 ScriptedModule required abort ignored",
            ]
        )
    }

    // MARK: Outages

    @Test func `a login is unavailable while an authorization realm is down`() async throws {
        let log = AggregateLog()
        let town = try town(log: log)
        staff.set(.down)
        for _ in 0..<3 {
            let report = try await town.login("ann")
            #expect(report.identity == nil)
            #expect(report.isUnavailable)
            #expect(report.outage?.excludesSuccess == true, "it is no guess")
        }
        #expect(try await !town.login("ann", password: "wrong").isUnavailable)
        await #expect(throws: RealmError.unavailable("")) {
            try await town.realm?.groupNames(of: Username("ann"))
        }
        staff.set(.up)
        #expect(try await town.login("ann").identity != nil)
        #expect(
            log.entries == [
                "error: realm people: authorization realm staff is unavailable, so nobody can sign in: the directory is down",
                "notice: realm people: authorization realm staff is available again",
            ]
        )
    }

    @Test func `with when-unavailable continue a login goes on without the realm, and the log tells it`() async throws {
        let log = AggregateLog()
        let town = try town(["when-unavailable": .string("continue")], log: log)
        directory.set(.down)
        for _ in 0..<3 {
            let identity = try #require(try await town.login("ann").identity)
            #expect(identity.groups == ["Login", "Members", "Staff", "Admin", "People"])
            #expect(identity.attributes == [])
        }
        directory.set(.up)
        #expect(try await town.login("ann").identity?.isMember(of: "Directory") == true)
        #expect(
            log.entries == [
                "warning: realm people: when-unavailable continue: while one of directory, staff is unavailable, users sign in without its groups and attributes, and their sessions stay without them",
                "error: realm people: authorization realm directory is unavailable, so users sign in without its groups: the directory is down",
                "notice: realm people: authorization realm directory is available again",
            ]
        )
    }

    @Test(arguments: [MemoryDirectory.Condition.downFor("ann"), .overloaded])
    func `with when-unavailable continue nobody can leave out a realm by a fault of load, or one of his own name`(
        condition: MemoryDirectory.Condition
    ) async throws {
        let town = try town(["when-unavailable": .string("continue")])
        directory.set(condition)
        let report = try await town.login("ann")
        #expect(report.identity == nil && report.isUnavailable)
        if case .overloaded = condition { #expect(report.refusal?.failure == .overloaded) }
        await #expect(throws: RealmError.self) { try await town.realm?.groupNames(of: Username("ann")) }
    }

    @Test(arguments: ["stop", "continue"])
    func `an authorization realm that does not answer is overloaded after authorization-deadline, and not left out`(
        reaction: String
    ) async throws {
        let clock = ManualClock()
        let town = try town(
            ["when-unavailable": .string(reaction), "authorization-deadline": .duration(.seconds(2))],
            clock: clock
        )
        directory.set(.hanging)
        let task = Task { try await town.login("ann") }
        let report = try await end(of: task, moving: clock, waits: 3)
        #expect(report.isUnavailable && report.refusal?.failure == .overloaded)
    }

    @Test func `unavailable realms are checked at the same time, and a check that is late shows no outage`()
        async throws
    {
        let clock = ManualClock()
        let town = try town(
            ["when-unavailable": .string("continue"), "authorization-deadline": .duration(.seconds(2))],
            clock: clock
        )
        directory.set(.hangingExcept("ann"))
        staff.set(.hangingExcept("ann"))
        let task = Task { try await town.login("ann") }
        try await Waiting.until { directory.openCalls == 1 && staff.openCalls == 1 }
        let report = try await end(of: task, moving: clock, waits: 4)
        #expect(report.isUnavailable && report.refusal?.failure == .unavailable)
    }

    /// Moves the clock past the authorization deadline, when all waits of a login have begun.
    private func end(
        of task: Task<LoginReport, any Error>,
        moving clock: ManualClock,
        waits: Int
    ) async throws -> LoginReport {
        // The deadline of the module is later: it must not pass, too, before a task of the shorter wait has run.
        await clock.untilAsleep(waits)
        clock.advance(by: .seconds(2))
        return try await task.value
    }

    @Test(arguments: ["stop", "continue"])
    func `a realm that gives groups only at a login lets nobody in`(reaction: String) async throws {
        let town = try town(["when-unavailable": .string(reaction)])
        staff.set(.loginOnly)
        let report = try await town.login("ann")
        #expect(report.refusal == .module(index: 0, phase: .commit, failure: .internalError))
        #expect(!report.isUnavailable)
    }

    @Test func `an outage of the authentication realm is unavailable, and no guess unless a way in is left`()
        async throws
    {
        let down = ScriptedModule(.fail(.unavailable("no connection")))
        let closed = try Town(accounts: bound("accounts", passwords, [.required(down)]))
        let report = try await closed.login("ann")
        #expect(report.outage?.mayBeShown == true && report.outage?.excludesSuccess == true)
        #expect(report.steps.first?.fault?.log == "realm accounts: ScriptedModule: no connection")

        let half = try Town(accounts: bound("accounts", passwords, [.sufficient(down), .sufficient(passwords.module)]))
        let guess = try await half.login("ann", password: "wrong")
        #expect(guess.outage?.mayBeShown == true && guess.outage?.excludesSuccess == false)
        #expect(try await half.login("ann").identity != nil)
    }

    @Test func `the authentication realm commits only if the whole stack accepts the login`() async throws {
        let accounts = passwords.module
        let realm = try #require(try Town(accounts: bound("accounts", passwords, [.required(accounts)])).realm)
        let module = try AggregateLoginModule(
            realm: realm,
            options: ModuleOptions(schema: AggregateLoginModule.options, realmName: "people")
        )
        for (code, phases) in [
            (ScriptedModule(.refuse(.wrongCredentials)), [LoginPhase.login, .abort]),
            (ScriptedModule(), [.login, .abort, .login, .commit]),
        ] {
            let stack = LoginStack(name: "both", [.required(module), .required(code)], clock: ManualClock())
            let report = await stack.login(
                LoginRequest(realm: "people", username: try Username("ann")),
                asking: PreparedConversation(password: Secret(utf8: "right"))
            )
            #expect(accounts.phases == phases)
            #expect(report.identity?.groups == (phases.last == .commit ? ["Login"] : nil))
        }
    }

    // MARK: Realms of realms

    @Test func `an aggregate may use an aggregate, with two name mappings one after the other`() async throws {
        let inner = try town(mapping)
        let outer = try Town(
            accounts: inner.people,
            authorization: [bound("more", MemoryDirectory(["zed": .init(groups: ["More"])]))],
            ["name-mapping": .list(["*@example.org->*", "lower-case"])]
        )
        let identity = try #require(try await outer.login("Zed@example.org").identity)
        #expect(identity.groups == ["Members", "Guests", "Directory", "Visitors", "Admin", "People", "More"])
        let alone = try Town(
            accounts: bound("accounts", passwords, [.required(passwords.module)]),
            authorization: [inner.people]
        )
        #expect(try await alone.login("ann").identity?.isMember(of: "Admin") == true)
    }

    @Test func `a file of groups serves as authorization realm without a login of its own`() async throws {
        let path = NSTemporaryDirectory() + "/aggregate-\(UUID().uuidString)"
        try Data("ann;RESET;Crew,Cooks\n".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let file = try FileRealm(
            RealmProperties(
                ["file": .string(path), "format": .string("glassfish")],
                schema: FileRealm.properties,
                realmName: "crew"
            )
        )
        let deny = try DenyLoginModule(realm: file, options: ModuleOptions(schema: [], realmName: "crew"))
        let crew = try bound("crew", file, [.required(deny)])
        let town = try Town(
            accounts: bound("accounts", passwords, [.required(passwords.module)]),
            authorization: [crew]
        )
        #expect(try await town.login("ann").identity?.groups == ["Login", "Crew", "Cooks"])
        #expect(try await town.login("tom").identity?.groups == [])
    }

    // MARK: States and names

    @Test func `the state changes with the user's state in every realm that is used`() async throws {
        let town = try town(mapping)
        let realm = try #require(town.realm)
        passwords.change("ZED@example.org", .init())
        let user = try Username("ZED@example.org")
        func stamp() async -> UserState { await realm.state(of: user) }
        let first = await stamp()
        #expect(first.stamp != nil)
        #expect(await stamp() == first)
        staff.change("ann", .init(groups: ["Cooks"]))
        #expect(await stamp() == first, "another user does not matter")
        staff.change("zed", .init(groups: ["Cooks"]))
        let second = await stamp()
        #expect(second != first)
        staff.change("zed", nil)
        let third = await stamp()
        #expect(third.stamp != nil && third != second)
        passwords.change("ZED@example.org", .init(password: "new"))
        #expect(await stamp() != third)
        passwords.change("ZED@example.org", nil)
        #expect(await stamp() == .gone)
    }

    @Test func `a change in another realm concerns the users who have the mapped name there`() throws {
        let town = try town(mapping)
        let (zed, ann) = (try Username("ZED@example.org"), try Username("ann"))
        #expect(town.people.isConcerned(zed, by: [try Username("zed")], of: "staff"))
        #expect(town.people.isConcerned(zed, by: [zed], of: "accounts"))
        #expect(!town.people.isConcerned(zed, by: [zed], of: "staff"))
        #expect(!town.people.isConcerned(ann, by: [zed, try Username("zed")], of: "staff"))
        #expect(!town.people.isConcerned(zed, by: [try Username("zed")], of: "elsewhere"))
        let outer = try Town(accounts: town.people)
        #expect(outer.people.isConcerned(zed, by: [try Username("zed")], of: "staff"))
        #expect(!outer.people.isConcerned(ann, by: [try Username("zed")], of: "staff"))
    }

    @Test func `failed logins are counted under the key of the authentication realm`() throws {
        let town = try town()
        let name = try Username("Ann")
        #expect(town.realm?.accountKey(of: name) == passwords.accountKey(of: name))
    }

    // MARK: Conformance

    @Test func `the realm passes the conformance tests`() async throws {
        let town = try town()
        let conformance = RealmConformance(
            AggregateRealm.self,
            properties: ["name-mapping": ["lower-case"]],
            realms: ["authentication": [town.accounts], "authorization": [try bound("staff", staff)]],
            members: ["ann": ["Login", "Members", "Staff", "Admin"]],
            unknownUsers: ["nobody"]
        )
        #expect(await conformance.violations() == [])
    }

    @Test func `the module passes the conformance tests`() async throws {
        let realm = try #require(try town().realm)
        let conformance = LoginModuleConformance(
            try AggregateLoginModule(
                realm: realm,
                options: ModuleOptions(schema: AggregateLoginModule.options, realmName: "people")
            ),
            accepts: [.init("ann", password: "right"), .init("tom", password: "right")],
            refuses: [.init("ann", password: "wrong"), .init("ann", password: ""), .init("eve", password: "right")]
        )
        #expect(await conformance.violations() == [])
    }

    @Test func `a deadline out of bounds is rejected`() throws {
        for time in [Duration.zero, .seconds(301)] {
            let error = try #require(throws: BadRealm.self) { try town(["authorization-deadline": .duration(time)]) }
            #expect(error.setting == "authorization-deadline")
        }
    }
}
