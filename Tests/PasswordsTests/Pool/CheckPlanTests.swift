// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import Synchronization
import Testing

@testable import Passwords

@Suite struct CheckPlanTests {
    /// A hash that says what it is told to, and counts who asks.
    private final class Told: PasswordHash {
        let cost: HashCost
        let answer: Result<Bool, HashFault>
        let asked = Atomic(0)

        init(_ cost: String, _ answer: Result<Bool, HashFault>) {
            self.cost = HashCost(format: cost, memory: 1)
            self.answer = answer
        }

        func matches(_ password: Secret) throws(HashFault) -> Bool {
            asked.add(1, ordering: .relaxed)
            return try answer.get()
        }

        var decoy: any PasswordHash { self }
    }

    private func isRight(_ result: HashingResult) -> Bool? {
        guard case .checked(let isRight) = result else { return nil }
        return isRight
    }

    @Test func `one check of every cost is made, and only the user's own counts`() {
        let (a, b) = (Told("a", .success(true)), Told("b", .success(true)))
        for (own, expected) in [(nil, false), (Told("b", .success(true)), true), (Told("b", .success(false)), false)] {
            let before = (a.asked.load(ordering: .relaxed), b.asked.load(ordering: .relaxed))
            let plan = CheckPlan(own: own, costs: [a, b])
            #expect(isRight(plan.compute(Secret(utf8: "x"))) == expected)
            #expect(a.asked.load(ordering: .relaxed) == before.0 + 1)
            #expect(b.asked.load(ordering: .relaxed) == before.1 + (own == nil ? 1 : 0))
            #expect(own.map { $0.asked.load(ordering: .relaxed) } ?? 1 == 1)
            #expect(plan.description == "a, b")
        }
    }

    @Test func `an empty password is refused after the same computation`() {
        let own = Told("a", .success(true))
        let plan = CheckPlan(own: own, costs: [Told("a", .success(true))])
        #expect(isRight(plan.compute(Secret(utf8: ""))) == false)
        #expect(own.asked.load(ordering: .relaxed) == 1)
    }

    @Test func `with an unsupported hash an unknown name gets the same answer as a user`() {
        let broken = Told("a", .failure(HashFault(.failed, "no memory")))
        for own in [nil, broken, Told("b", .success(true))] {
            guard case .failed(let fault) = CheckPlan(own: own, costs: [broken]).compute(Secret(utf8: "x")) else {
                Issue.record("it was decided")
                continue
            }
            #expect(fault.code == .failed)
        }
    }

    @Test func `a password that a format cannot hash is an error for its own user only`() {
        let short = Told("bcrypt", .failure(HashFault(.unusable, "too long")))
        #expect(isRight(CheckPlan(own: nil, costs: [short]).compute(Secret(utf8: "x"))) == false)
        #expect(isRight(CheckPlan(own: Told("a", .success(true)), costs: [short]).compute(Secret(utf8: "x"))) == true)
        guard case .failed(let fault) = CheckPlan(own: short, costs: [short]).compute(Secret(utf8: "x")) else {
            Issue.record("it was decided")
            return
        }
        #expect(fault.code == .unusable)
    }
}
