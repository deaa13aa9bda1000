// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import SeededRandom
import Testing

@testable import Prover

/// Compares proofs with the enumeration of all answers by the engine.
struct StackProofTests {
    /// GATEHOUSE_PROOFS sets the number of stacks, which then have up to eight modules.
    private static let wanted = ProcessInfo.processInfo.environment["GATEHOUSE_PROOFS"].flatMap { Int($0) }
    private static let seed = ProcessInfo.processInfo.environment["GATEHOUSE_PROOFS_SEED"].flatMap { UInt64($0) } ?? 1

    @Test func `a proof equals the enumeration of all answers by the engine`() throws {
        var random = Random(seed: Self.seed)
        var seen: Set<String> = []
        for _ in 0..<(Self.wanted ?? 250) {
            let stack = RandomStack(modules: 1 + random.below(Self.wanted == nil ? 4 : 8), using: &random)
            let enumeration = try Enumeration(stack)
            var proof = try StackProof(StackModel(enumeration.stack))
            let leaves = try enumeration.leaves()
            seen.insert(proof.canGrant ? "grants" : "refuses")
            try #require(proof.canGrant == leaves.contains(where: \.grants))
            try #require(proof.grantingSets?.sets == minimal(leaves))
            try #require((proof.decision.undecided != .no) == leaves.contains(where: \.isUndecided))
            let reached = leaves.reduce(into: Set<Int>()) { $0.formUnion($1.reached) }
            for (index, entry) in stack.entries.enumerated() where entry.hasModule {
                try #require(proof.decision.isReached[index] == reached.contains(index))
                guard entry.onlyOutcome == nil else { continue }
                try check(index, in: &proof, by: enumeration)
            }
            try checkSmallestChange(of: proof, by: enumeration, using: &random)
            let findings = try proof.findings()
            if stack.entries.count <= 6 {
                try #require(try enumeration.findings() == findings.filter { $0.entry != nil }.map(\.summary))
                findings.forEach { seen.insert($0.kind.rawValue) }
            }
        }
        #expect(
            seen.isSuperset(of: ["grants", "refuses", "vacuous", "redundant", "overridden", "undecided"])
        )
    }

    private func check(_ entry: Int, in proof: inout StackProof, by enumeration: Enumeration) throws {
        let down = try enumeration.leaves(fixing: [entry: .failure(.unavailable)])
        let effect = try proof.whileUnavailable([entry])
        try #require(effect.grantingSets?.sets == minimal(down))
        let opens = try enumeration.contains {
            try enumeration.login(fixing: [entry: .failure(.unavailable)]).grants
                && !enumeration.login(fixing: [entry: .failure(.wrongCredentials)]).grants
        }
        try #require((effect.opening != nil) == opens)
        if var opening = effect.opening.map(outcomes) {
            opening[entry] = .failure(.unavailable)
            try #require(try enumeration.login(fixing: opening).grants)
            opening[entry] = .failure(.wrongCredentials)
            try #require(try !enumeration.login(fixing: opening).grants)
        }
        let accepting = try enumeration.leaves(fixing: [entry: .success])
        try #require(try proof.whileAccepting([entry])?.sets == minimal(accepting))
        let without = try proof.grantWithoutSuccess(of: [entry])
        let isPossible = try enumeration.leaves().contains { $0.grants && !$0.successes.contains(entry) }
        try #require((without != nil) == isPossible)
        if let example = without.map(outcomes) {
            try #require(example[entry] != .success)
            try #require(try enumeration.login(fixing: example).grants)
        }
    }

    private func checkSmallestChange(
        of proof: StackProof,
        by enumeration: Enumeration,
        using random: inout Random
    ) throws {
        let names = enumeration.stack.entries.indices.filter {
            enumeration.stack.entries[$0].hasModule && enumeration.stack.entries[$0].onlyOutcome == nil
        }
        guard names.count <= 4 else { return }
        let all = names.reduce(into: [[:]] as [[Int: Outcome]]) { all, entry in
            all = all.flatMap { outcomes in RandomStack.answers.map { outcomes.merging([entry: $0]) { $1 } } }
        }
        let actual = random.pick(all)
        guard try !enumeration.login(fixing: actual).grants else { return }
        let granting = try all.filter { try enumeration.login(fixing: $0).grants }
        guard let change = proof.smallestChange(of: actual) else { return try #require(granting.isEmpty) }
        try #require(try enumeration.login(fixing: actual.merging(change) { $1 }).grants)
        let distances = granting.map { outcomes in outcomes.count { actual[$0.key] != $0.value } }
        try #require(distances.min() == change.count)
    }

    private func outcomes(_ answers: [Int: Int]) -> [Int: Outcome] { answers.mapValues { Outcome.all[$0] } }

    /// The minimal sets of successes of the logins that are granted.
    private func minimal(_ leaves: [Enumeration.Leaf]) -> [[Int]] {
        let sets = Set(leaves.filter(\.grants).map(\.successes))
        return sets.filter { set in !sets.contains { $0.isStrictSubset(of: set) } }.map { $0.sorted() }
            .sorted { $0.count == $1.count ? $0.lexicographicallyPrecedes($1) : $0.count < $1.count }
    }
}

extension StackFinding {
    fileprivate var summary: String { "\(kind.rawValue) \(entry ?? -1)" }
}

/// All logins in a stack, by the engine.
private struct Enumeration {
    struct Leaf {
        let grants: Bool
        let isUndecided: Bool
        /// The modules that were called.
        let reached: Set<Int>
        /// Those of them that succeeded, without those that always have the same answer.
        let successes: Set<Int>
    }

    let random: RandomStack
    let stack: LoginStack
    private let request: LoginRequest

    init(_ random: RandomStack) throws {
        self.random = random
        stack = LoginStack(name: "random", random.entries, clock: ManualClock())
        request = LoginRequest(realm: "random", username: try Username("ann"))
    }

    /// Logs in with the current combination of answers, of which some are fixed.
    func login(fixing fixed: [Int: Outcome] = [:], in other: LoginStack? = nil) throws -> Leaf {
        random.script.fix(Dictionary(uniqueKeysWithValues: fixed.map { (self.stack.entries[$0].name, $1) }))
        defer { random.script.fix([:]) }
        let stack = other ?? stack
        let report = try #require(stack.loginNow(request))
        let steps = report.steps.filter { $0.phase == .login }
        let successes = steps.filter { $0.outcome == .success && stack.entries[$0.index].onlyOutcome == nil }
        return Leaf(
            grants: report.identity != nil,
            isUndecided: steps.last.map { $0.state == .undecided } ?? true,
            reached: Set(steps.map(\.index)),
            successes: Set(successes.map(\.index))
        )
    }

    /// The logins with all combinations of answers.
    func leaves(fixing fixed: [Int: Outcome] = [:]) throws -> [Leaf] {
        var leaves: [Leaf] = []
        _ = try contains {
            leaves.append(try login(fixing: fixed))
            return false
        }
        // A fixed success is no condition.
        return leaves.map {
            Leaf(
                grants: $0.grants,
                isUndecided: $0.isUndecided,
                reached: $0.reached,
                successes: $0.successes.subtracting(fixed.keys)
            )
        }
    }

    /// Returns whether a condition holds for one of the combinations of answers.
    func contains(_ condition: () throws -> Bool) throws -> Bool {
        random.script.begin()
        defer { random.script.begin() }
        repeat {
            if try condition() { return true }
        } while random.script.advance()
        return false
    }

    /// The findings about entries, each as its kind and the number of the entry.
    func findings() throws -> [String] {
        let all = try leaves()
        guard all.contains(where: \.grants) else { return [] }
        let reached = all.reduce(into: Set<Int>()) { $0.formUnion($1.reached) }
        return try stack.entries.indices.filter { stack.entries[$0].hasModule }.compactMap { index in
            guard reached.contains(index) else { return "shadowed \(index)" }
            let isConstant = stack.entries[index].onlyOutcome != nil
            let matters =
                try !isConstant
                && contains {
                    let results = try RandomStack.answers.map { try login(fixing: [index: $0]).grants }
                    return Set(results).count > 1
                }
            if matters {
                let mayGrant = try leaves(fixing: [index: .success]).contains(where: \.grants)
                return mayGrant ? nil : "overridden \(index)"
            }
            let ignoring = LoginStack(name: "ignoring", random.ignoring(index), clock: ManualClock())
            let isNeeded = try contains { try login().grants != login(in: ignoring).grants }
            return isNeeded ? (isConstant ? nil : "vacuous \(index)") : "redundant \(index)"
        }
    }
}
