// SPDX-License-Identifier: Apache-2.0

import Passwords
import RealmKit
import RealmTesting
import Testing

/// The conformance tests find a realm whose logins compute different password checks.
struct PasswordCheckTests {
    private static let policies = [
        "ann": HashPolicy(.bcrypt(cost: 4)), "bob": HashPolicy(.argon2id(memory: 64, passes: 1, lanes: 1)),
    ]

    /// The hashes that the module passes on as `hashPerCost`.
    enum Work: CaseIterable {
        case allCosts, none, onlyKnownUsers
    }

    /// A module for two users with hashes of different costs.
    private static func module(_ work: Work, _ services: RealmServices) async throws -> ScriptedModule {
        let passwords = try #require(services[PasswordService.self])
        let stored = try policies.mapValues { try StoredPassword($0.hash(Secret(utf8: "correct horse"))) }
        return ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                let password = try await attempt.password()
                let own = stored[attempt.username.text]
                if work == .onlyKnownUsers, own == nil { return .failed(.unknownUser) }
                let isRight = try await passwords.check(
                    password,
                    against: own,
                    hashPerCost: work == .none ? [] : stored.values.sorted { $0.text < $1.text }.map(\.hash),
                    for: attempt
                )
                return isRight ? attempt.commit(groups: []) : .failed(own == nil ? .unknownUser : .wrongCredentials)
            }
        )
    }

    private static let differences: [(Work, [String])] = [
        (.allCosts, []),
        (.none, ["the login of bob checks argon2id m=64,t=1,p=1, and the login of ann checks bcrypt cost=4"]),
        (.onlyKnownUsers, ["the login of zed checks no hash, and the login of ann checks bcrypt cost=4, argon2id"]),
    ]

    @Test(arguments: differences)
    func `a module whose logins check hashes of different costs is reported`(
        work: Work,
        begins: [String]
    ) async throws {
        let found = await LoginModuleConformance(
            try await Self.module(work, .forTests()),
            accepts: [.init("ann", password: "correct horse"), .init("bob", password: "correct horse")],
            refuses: [.init("zed", password: "correct horse"), .init("ann", password: "x"), .init("zed")]
        ).violations()
        #expect(found.isEmpty == begins.isEmpty, "\(found)")
        for text in begins { #expect(found.contains { $0.hasPrefix(text) }, "\(found)") }
    }

    @Test(arguments: [(Work.allCosts, true), (.none, false)])
    func `a realm with a back end is checked without a count of its hashes`(work: Work, isEqual: Bool) async throws {
        var conformance = RealmBackEndConformance(
            users: [.init("ann", password: "correct horse"), .init("bob", password: "correct horse")],
            deadline: .seconds(10)
        ) { services in
            .forConformance(TwoUsers(), modules: [try await Self.module(work, services)], deadline: .seconds(10))
        }
        conformance.skip(.outages, .deadline, .cancellation, .release, reason: "the realm has no back end")
        conformance.skip(.hostileInput, .randomInput, .secrets, .processes, reason: "only the hashes are tested")
        let report = await conformance.check()
        #expect(report.checked.contains { $0.hasPrefix("equalWork") }, "\(report)")
        #expect(report.violations.isEmpty == isEqual, "\(report)")
    }

    private struct TwoUsers: Realm {
        static let properties: PropertySchema = [.jaasContext(default: "test")]
        let jaasContext = "test"
        let authType = "Test"

        init() {}
        init(_ properties: RealmProperties) throws(BadRealm) {}
    }
}
