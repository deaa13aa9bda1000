// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct AuthenticatorTests {
    private struct Town: Realm {
        static let properties: PropertySchema = [.jaasContext(default: "lane")]
        let jaasContext: String
        var authType: String { "Town" }

        init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
    }

    private func bound(
        _ name: String,
        _ entries: [LoginStack.Entry],
        assigned: [String] = [],
        mapping: [String] = []
    ) throws -> BoundRealm {
        BoundRealm(
            name: name,
            className: "Town",
            realm: try Town(RealmProperties(schema: Town.properties, realmName: name)),
            stack: LoginStack(name: "lane", entries, clock: ManualClock()),
            assignedGroups: assigned,
            groupMapping: try GroupMapping(rules: mapping)
        )
    }

    @Test(arguments: ["Town", "", "village", "town "])
    func `a login to an unknown realm never uses another realm`(name: String) async throws {
        let authenticator = Authenticator([try bound("town", [.required(ScriptedModule())]), try bound("city", [])])
        let request = try request(realm: name)
        let error = await #expect(throws: RealmError.self) {
            try await authenticator.login(request, asking: PreparedConversation.silent)
        }
        #expect(error?.code == .noSuchRealm)
        #expect(error?.message == "there is no realm \(name); there are city, town")
        #expect(throws: RealmError.noSuchRealm("", known: [])) { try authenticator.realm(name) }
    }

    @Test func `if there are no realms, the error message states this`() {
        let error = #expect(throws: RealmError.self) { try Authenticator([]).realm("town") }
        #expect(error?.message == "there is no realm town; there are none")
    }

    @Test func `every user of a realm gets the assigned groups and the derived groups`() async throws {
        let stack = [LoginStack.Entry.required(FixedVerdictModule(.success))]
        let realm = try bound(
            "town",
            stack,
            assigned: ["Staff", "Staff"],
            mapping: ["Staff->All", "g0->All", "All->Some"]
        )
        let authenticator = Authenticator([realm])
        let report = try await authenticator.login(try request(), asking: PreparedConversation.silent)
        let identity = try #require(report.identity)
        #expect(identity.subject.principals.first == .user("ann"))
        #expect(identity.groups == ["g0", "Staff", "All", "Some"])
        #expect(["g0", "Staff", "All", "Some", "None"].map(identity.isMember) == [true, true, true, true, false])
    }

    @Test func `a refused user gets no groups`() async throws {
        let realm = try bound("town", [.required(FixedVerdictModule(.failure(.locked)))], assigned: ["Staff"])
        let report = try await Authenticator([realm]).login(try request(), asking: PreparedConversation.silent)
        #expect(report.identity == nil)
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .locked))
    }

    @Test func `a logout calls the modules of the login, even if the realm was removed`() async throws {
        let module = ScriptedModule()
        let old = Authenticator([try bound("town", [.required(module)])])
        let report = try await old.login(try request(), asking: PreparedConversation.silent)
        let identity = try #require(report.identity)
        let logout = await Authenticator([]).logout(identity)
        #expect(logout.refusal == nil)
        #expect(module.phases == [.login, .commit, .logout])
    }

    @Test func `a module for another type of realm cannot be created`() throws {
        let kind = ModuleKind(Picky.self)
        let town = try Town(RealmProperties(schema: Town.properties, realmName: "town"))
        let options = try ModuleOptions(schema: [], realmName: "town")
        let error = #expect(throws: BadModule.self) { try kind.makeModule(realm: town, options: options) }
        #expect(error?.message == "works with a Village only, not with a Town")
        #expect(kind.names == ["Picky"])
    }

    private struct Village: Realm {
        static let properties: PropertySchema = []
        let jaasContext = "lane"
        let authType = "Village"

        init(_ properties: RealmProperties) throws(BadRealm) {}
    }

    private struct Picky: LoginModule {
        init(realm: Village, options: ModuleOptions) throws(BadModule) {}

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict { .ignored }
    }
}
