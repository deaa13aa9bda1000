// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Synchronization
import Testing

@testable import Passwords

@Suite struct CheckPlanTests {
    /// An algorithm with a fixed result that counts its checks.
    fileprivate final class FixedHash: PasswordAlgorithm {
        let cost: HashCost
        let answer: Result<Bool, HashFault>
        let checks = Atomic(0)

        init(_ cost: String, _ answer: Result<Bool, HashFault> = .success(false), milliseconds: Int = 0) {
            self.cost = HashCost(format: cost, memory: 1, time: .milliseconds(milliseconds))
            self.answer = answer
        }

        func isDerived(from password: Span<UInt8>) throws(HashFault) -> Bool {
            checks.add(1, ordering: .relaxed)
            return try answer.get()
        }
    }

    private func isRight(_ result: HashingResult) -> Bool? {
        guard case .checked(let isRight) = result else { return nil }
        return isRight
    }

    @Test func `one check of every cost is computed, and only the check of the user's own hash decides`() {
        let (a, b) = (FixedHash("a", .success(true)), FixedHash("b", .success(true)))
        for (own, expected) in [
            (nil, false), (FixedHash("b", .success(true)), true), (FixedHash("b", .success(false)), false),
        ] {
            let before = (a.checks.load(ordering: .relaxed), b.checks.load(ordering: .relaxed))
            let plan = CheckPlan(own: own, hashPerCost: [a, b])
            #expect(isRight(plan.compute(Secret(utf8: "x"))) == expected)
            #expect(a.checks.load(ordering: .relaxed) == before.0 + 1)
            #expect(b.checks.load(ordering: .relaxed) == before.1 + (own == nil ? 1 : 0))
            #expect(own.map { $0.checks.load(ordering: .relaxed) } ?? 1 == 1)
            #expect(plan.description == "a, b")
        }
    }

    @Test func `of many costs each login computes eight checks, and a user's own instead of a dearer one`() {
        let many = (1...12).map { FixedHash("\($0)", milliseconds: $0) }
        #expect(CheckPlan(own: nil, hashPerCost: many).description == "5, 6, 7, 8, 9, 10, 11, 12")
        for (own, description) in [
            (FixedHash("12", .success(true), milliseconds: 12), "5, 6, 7, 8, 9, 10, 11, 12"),
            (FixedHash("2", .success(true), milliseconds: 2), "2, 6, 7, 8, 9, 10, 11, 12"),
            (FixedHash("new", .success(true), milliseconds: 8), "5, 6, 7, new, 9, 10, 11, 12"),
        ] {
            let plan = CheckPlan(own: own, hashPerCost: many)
            #expect(plan.description == description)
            #expect(isRight(plan.compute(Secret(utf8: "x"))) == true)
        }
    }

    @Test func `an empty password is rejected after the same computation`() {
        let own = FixedHash("a", .success(true))
        let plan = CheckPlan(own: own, hashPerCost: [FixedHash("a", .success(true))])
        #expect(isRight(plan.compute(Secret(utf8: ""))) == false)
        #expect(own.checks.load(ordering: .relaxed) == 1)
    }

    @Test func `if one hash cannot be computed, the login fails in the same way for known and unknown users`() {
        let broken = FixedHash("a", .failure(HashFault(.failed, "no memory")))
        for own in [nil, broken, FixedHash("b", .success(true))] {
            guard case .failed(let fault) = CheckPlan(own: own, hashPerCost: [broken]).compute(Secret(utf8: "x")) else {
                Issue.record("the check did not fail")
                continue
            }
            #expect(fault.code == .failed)
        }
    }

    @Test func `a password that a format cannot hash is an error only for users with a hash of that format`() {
        let short = FixedHash("bcrypt", .failure(HashFault(.unusable, "too long")))
        #expect(isRight(CheckPlan(own: nil, hashPerCost: [short]).compute(Secret(utf8: "x"))) == false)
        #expect(
            isRight(CheckPlan(own: FixedHash("a", .success(true)), hashPerCost: [short]).compute(Secret(utf8: "x")))
                == true
        )
        guard case .failed(let fault) = CheckPlan(own: short, hashPerCost: [short]).compute(Secret(utf8: "x")) else {
            Issue.record("the check did not fail")
            return
        }
        #expect(fault.code == .unusable)
    }
}

extension CheckPlan {
    fileprivate init(own: CheckPlanTests.FixedHash?, hashPerCost: [CheckPlanTests.FixedHash]) {
        let hashes = hashPerCost.map { PasswordHash(algorithm: $0) }
        self.init(own: own.map { PasswordHash(algorithm: $0) }, hashPerCost: hashes)
    }
}
