// SPDX-License-Identifier: Apache-2.0

import RealmBasics
import RealmKit
import RealmTesting
import Testing

struct StartWithTests {
    private func realm(_ start: String = "z") throws -> StartWithRealm {
        let values: [String: PropertyValue] = ["startWith": .string(start)]
        return try StartWithRealm(RealmProperties(values, schema: StartWithRealm.properties, realmName: "xtech"))
    }

    private func module(_ start: String = "z") throws -> StartWithLoginModule {
        let options = try ModuleOptions(schema: StartWithLoginModule.options, realmName: "xtech")
        return try StartWithLoginModule(realm: try realm(start), options: options)
    }

    @Test func `the realm passes the conformance tests`() async {
        let conformance = RealmConformance(
            StartWithRealm.self,
            properties: ["startWith": ["z"]],
            members: ["zed": ["User"], "z": ["User"]],
            unknownUsers: ["ann", "Zed"]
        )
        #expect(await conformance.violations() == [])
    }

    @Test func `the module passes the conformance tests`() async throws {
        let conformance = LoginModuleConformance(
            try module(),
            accepts: ["zed", "zorro", "z", "z\u{E9}"].map { .init($0) },
            refuses: ["ann", "Zed", "az", "\u{17E}ed"].map { .init($0, password: "lilac") },
            isPasswordless: true
        )
        #expect(await conformance.violations() == [])
    }

    @Test func `the realm answers 100 logins at once and refuses hostile names`() async {
        var conformance = RealmBackEndConformance(
            users: [.init("zed", groups: ["User"]), .init("zorro", groups: ["User"])],
            unknownUsers: ["ann", "Zed", "\u{17E}ed"],
            deadline: .seconds(10)
        ) { services in
            try .forConformance(
                RealmKind(StartWithRealm.self, modules: StartWithLoginModule.self),
                properties: ["startWith": ["z"]],
                services: services,
                deadline: .seconds(10)
            )
        }
        conformance.isPasswordless = true
        conformance.isUser = { $0.text.utf8.first == UInt8(ascii: "z") }
        conformance.skip(.outages, .deadline, .cancellation, .release, reason: "the realm has no back end")
        conformance.skip(.secrets, .processes, reason: "the realm reads no secret")
        let report = await conformance.check()
        #expect(report.violations == [])
        #expect(report.checked.count == 3, "\(report)")
    }

    @Test func `the realm has the defaults and names of the Java example`() throws {
        let realm = try StartWithRealm(RealmProperties(schema: StartWithRealm.properties, realmName: "xtech"))
        #expect([realm.jaasContext, realm.startWith, realm.authType] == ["xtechMyRealm", "z", "X-TECH MyRealm"])
        #expect(StartWithRealm.classNames == ["StartWithRealm"])
        let names = ["StartWithLoginModule", "org.xtech.examples.gfloginmodule.MyLoginModule"]
        #expect(StartWithLoginModule.moduleNames == names)
        #expect(RealmKind(StartWithRealm.self, modules: StartWithLoginModule.self).modules.map(\.names) == [names])
    }

    @Test func `an empty startWith is rejected`() {
        #expect(throws: BadRealm("is empty, so every name would match", setting: "startWith")) { try realm("") }
    }

    /// Names are compared by bytes, as in the Java module.
    @Test(arguments: [
        ("z", "zed", true), ("z", "Zed", false), ("zed", "ze", false), ("\u{E9}", "\u{E9}a", true),
        ("e", "e\u{301}a", true), ("\u{E9}", "e\u{301}a", false), ("z", "\u{17E}ed", false), ("z", "z\u{301}", true),
    ])
    func `a name is accepted only if it begins with the bytes of startWith`(
        start: String,
        name: String,
        isAccepted: Bool
    ) async throws {
        let stack = LoginStack(
            name: "xtechMyRealm",
            [LoginStack.Entry(try module(start), .required)],
            clock: ManualClock()
        )
        let request = LoginRequest(realm: "xtech", username: try Username(name))
        let report = try #require(stack.loginNow(request))
        #expect(report.groups == (isAccepted ? ["User"] : nil))
        #expect(report.refusal?.failure == (isAccepted ? nil : .wrongCredentials))
        let user = try Username(name)
        let groups = try? await realm(start).groupNames(of: user)
        #expect(groups == (isAccepted ? ["User"] : nil))
    }
}

extension LoginReport {
    fileprivate var groups: [String]? { identity?.groups }
}
