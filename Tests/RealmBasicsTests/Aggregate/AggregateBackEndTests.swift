// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

@testable import RealmBasics

/// The realm and its authentication realm under the conformance test for back ends.
///
/// While an authorization realm is unavailable, a wrong password is still refused as wrong; `AggregateRealmTests` tests
/// that.
struct AggregateBackEndTests {
    @Test func `the realm keeps the contract while its authentication realm fails and hangs`() async throws {
        let (ann, bob) = (RealmBackEndConformance.randomPassword(), RealmBackEndConformance.randomPassword())
        let passwords = MemoryDirectory([
            "ann": .init(password: ann, groups: ["Login"]), "bob": .init(password: bob),
        ])
        let directory = MemoryDirectory(["ann": .init(groups: ["Staff"]), "bob": .init(groups: ["Guests"])])
        let module = passwords.guardedModule
        let deadline = Duration.seconds(5)
        var conformance = RealmBackEndConformance(
            users: [
                .init("ann", password: ann, groups: ["Login", "Staff", "People"]),
                .init("bob", password: bob, groups: ["Guests", "People"]),
            ],
            faults: [
                BackEndFault("the authentication realm is down", causes: ["the directory is down"]) {
                    passwords.set(.down)
                } end: {
                    passwords.set(.up)
                },
                BackEndFault("the authentication realm hangs", hangs: true, causes: ["did not answer within"]) {
                    passwords.set(.hanging)
                } end: {
                    passwords.set(.up)
                },
            ],
            deadline: deadline
        ) { services in
            // The accounts have a deadline that is longer than that of the aggregate.
            let accounts = BoundRealm.forConformance(
                passwords,
                modules: [module],
                deadline: .seconds(600)
            )
            return try Town(
                accounts: accounts,
                authorization: [bound("directory", directory, clock: accounts.stack.clock)],
                groups: ["People"],
                services: services,
                clock: accounts.stack.clock,
                deadline: deadline
            ).people
        }
        conformance.openCalls = { passwords.openCalls }
        // A module writes in its commit, as for a new password.
        conformance.stored = { "\(module.phases.count { $0 == .commit }) commits" }
        let report = await conformance.check()
        #expect(report.violations == [])
        #expect(report.checked.count == RealmBackEndConformance.Check.allCases.count - 1, "\(report)")
    }
}
