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
            let count = 1 + random.below(Self.wanted == nil ? 4 : 8)
            let stack = RandomStack(modules: count, hasParts: random.below(3) == 0, using: &random)
            let enumeration = try Enumeration(stack)
            var proof = try StackProof(StackModel(enumeration.stack))
            seen.insert(proof.canGrant ? "grants" : "refuses")
            try #require(proof.canGrant == enumeration.leaves.contains(where: \.grants))
            try #require(proof.grantingSets?.sets == enumeration.minimalSuccesses())
            try #require((proof.decision.undecided != .no) == enumeration.leaves.contains(where: \.isUndecided))
            for (index, entry) in stack.entries.enumerated() where entry.hasModule {
                try #require(proof.decision.isReached[index] == enumeration.reached.contains(index))
                guard entry.onlyOutcome == nil else { continue }
                try check(index, in: &proof, by: enumeration)
            }
            try checkSmallestChange(of: proof, by: enumeration, using: &random)
            let findings = try proof.findings()
            try #require(try enumeration.findings() == findings.filter { $0.entry != nil }.map(\.summary))
            findings.forEach { seen.insert($0.kind.rawValue) }
        }
        #expect(
            seen.isSuperset(of: ["grants", "refuses", "vacuous", "redundant", "overridden", "undecided"])
        )
    }

    private func check(_ entry: Int, in proof: inout StackProof, by enumeration: Enumeration) throws {
        let effect = try proof.whileUnavailable([entry])
        let down = enumeration.minimalSuccesses(fixing: entry, .failure(.unavailable))
        try #require(effect.grantingSets?.sets == down)
        let opens = enumeration.differ(entry) { grants in
            grants(.failure(.unavailable)) && !grants(.failure(.wrongCredentials))
        }
        try #require((effect.opening != nil) == opens)
        if var opening = effect.opening.map(outcomes) {
            opening[entry] = .failure(.unavailable)
            try #require(try enumeration.login(opening).grants)
            opening[entry] = .failure(.wrongCredentials)
            try #require(try !enumeration.login(opening).grants)
        }
        let accepting = enumeration.minimalSuccesses(fixing: entry, .success)
        try #require(try proof.whileAccepting([entry])?.sets == accepting)
        let without = try proof.grantWithoutSuccess(of: [entry])
        let isPossible = enumeration.leaves.contains { $0.grants && $0.answers[entry] != .success }
        try #require((without != nil) == isPossible)
        if let example = without.map(outcomes) {
            try #require(example[entry] != .success)
            try #require(try enumeration.login(example).grants)
        }
    }

    private func checkSmallestChange(
        of proof: StackProof,
        by enumeration: Enumeration,
        using random: inout Random
    ) throws {
        let actual = enumeration.outcomes(random.below(enumeration.grants.count))
        guard try !enumeration.login(actual).grants else { return }
        guard let change = proof.smallestChange(of: actual) else {
            return try #require(!enumeration.grants.contains(true))
        }
        try #require(try enumeration.login(actual.merging(change) { $1 }).grants)
        try #require(enumeration.distance(from: actual) == change.count)
        let stack = enumeration.stack
        let text = actual.map { "\(stack.entries[$0].name)=\($1)" }.joined(separator: " ")
        let report = try ModuleAnswers(text, for: stack).login(enumeration.request)
        try #require(report.identity == nil)
        // Modules that were not reached count as if they had given wrong credentials.
        guard case .answers(let answers)? = RefusalExplanation(report)?.change else { throw NoExplanation() }
        let entries = answers.map { answer in
            (stack.entries.firstIndex { $0.name == answer.name } ?? -1, answer.outcome)
        }
        let reached = Set(report.steps.map(\.index))
        let assumed = actual.map { ($0, reached.contains($0) ? $1 : .failure(.wrongCredentials)) }
        let replayed = Dictionary(uniqueKeysWithValues: assumed).merging(entries) { $1 }
        let granted = replayed.map { "\(stack.entries[$0].name)=\($1)" }.joined(separator: " ")
        try #require(try enumeration.login(replayed).grants)
        try #require(try ModuleAnswers(granted, for: stack).login(enumeration.request).identity != nil)
    }

    private struct NoExplanation: Error {}

    private func outcomes(_ answers: [Int: Int]) -> [Int: Outcome] { answers.mapValues { Outcome.all[$0] } }
}

extension StackFinding {
    fileprivate var summary: String { "\(kind.rawValue) \(entry ?? -1)" }
}

/// All logins in a stack, by the engine.
private struct Enumeration {
    struct Leaf {
        let grants: Bool
        let isUndecided: Bool
        /// The answers of the modules that were called, by entry, without those that always have the same answer.
        let answers: [Int: Outcome]
    }

    let random: RandomStack
    let stack: LoginStack
    let request: LoginRequest
    /// The entries whose modules can have any answer.
    private let asked: [Int]
    /// One login for each combination of answers that logins can tell apart.
    private(set) var leaves: [Leaf] = []
    /// The modules that a login has called.
    private(set) var reached: Set<Int> = []
    /// Whether a login is granted, by the number of the combination, whose digits are the answers of ``asked``.
    private(set) var grants: [Bool] = []

    init(_ random: RandomStack) throws {
        self.random = random
        stack = LoginStack(name: "random", random.entries, clock: ManualClock())
        request = LoginRequest(realm: "random", username: try Username("ann"))
        asked = stack.entries.indices.filter { random.entries[$0].hasModule && random.entries[$0].onlyOutcome == nil }
        (leaves, reached) = try all(in: stack)
        grants = table(leaves)
    }

    private func all(in stack: LoginStack) throws -> (leaves: [Leaf], reached: Set<Int>) {
        var (leaves, reached): ([Leaf], Set<Int>) = ([], [])
        random.script.begin()
        defer { random.script.begin() }
        repeat {
            let report = try #require(stack.loginNow(request))
            leaves.append(Leaf(report, in: stack))
            reached.formUnion(report.steps.map(\.index))
        } while random.script.advance()
        return (leaves, reached)
    }

    /// Logs in with some answers; other modules refuse.
    func login(_ answers: [Int: Outcome]) throws -> Leaf {
        let all = asked.map { (stack.entries[$0].name, answers[$0] ?? .failure(.wrongCredentials)) }
        random.script.fix(Dictionary(uniqueKeysWithValues: all))
        defer { random.script.fix([:]) }
        return Leaf(try #require(stack.loginNow(request)), in: stack)
    }

    // MARK: Combinations

    /// The answers of a combination.
    func outcomes(_ number: Int) -> [Int: Outcome] {
        var (outcomes, rest): ([Int: Outcome], Int) = ([:], number)
        for entry in asked {
            outcomes[entry] = RandomStack.answers[rest % RandomStack.answers.count]
            rest /= RandomStack.answers.count
        }
        return outcomes
    }

    /// The number that an answer of an entry adds to that of a combination.
    private func weight(of entry: Int) -> Int {
        let position = asked.firstIndex(of: entry) ?? 0
        return (0..<position).reduce(1) { weight, _ in weight * RandomStack.answers.count }
    }

    private func number(of answer: Outcome) -> Int { RandomStack.answers.firstIndex(of: answer) ?? 0 }

    /// Whether each combination is granted, by logins of which each stands for all combinations with its answers.
    private func table(_ leaves: [Leaf]) -> [Bool] {
        let base = RandomStack.answers.count
        var table = Array(repeating: false, count: asked.reduce(1) { count, _ in count * base })
        for leaf in leaves where leaf.grants {
            var numbers = [leaf.answers.reduce(0) { $0 + weight(of: $1.key) * number(of: $1.value) }]
            for entry in asked where leaf.answers[entry] == nil {
                let weight = weight(of: entry)
                numbers = numbers.flatMap { number in (0..<base).map { number + $0 * weight } }
            }
            for number in numbers { table[number] = true }
        }
        return table
    }

    /// Returns whether a condition about the results for the answers of one entry holds for some answers of the others.
    func differ(_ entry: Int, _ condition: ((Outcome) -> Bool) -> Bool) -> Bool {
        let (weight, base) = (weight(of: entry), RandomStack.answers.count)
        for number in grants.indices where (number / weight) % base == 0 {
            if condition({ grants[number + weight * self.number(of: $0)] }) { return true }
        }
        return false
    }

    /// The least number of answers by which a combination that is granted differs from given answers.
    func distance(from answers: [Int: Outcome]) -> Int? {
        let (wanted, base) = (asked.map { number(of: answers[$0] ?? .success) }, RandomStack.answers.count)
        return grants.indices.filter { grants[$0] }.map { number in
            var (rest, distance) = (number, 0)
            for digit in wanted {
                if rest % base != digit { distance += 1 }
                rest /= base
            }
            return distance
        }.min()
    }

    /// The minimal sets of successes of the logins that are granted, while one entry has a fixed answer.
    func minimalSuccesses(fixing fixed: Int? = nil, _ answer: Outcome = .success) -> [[Int]] {
        let granted = leaves.filter { leaf in
            leaf.grants && fixed.flatMap { leaf.answers[$0] }.map { $0 == answer } ?? true
        }
        var sets: [Set<Int>] = []
        let all = Set(granted.map { Set($0.answers.filter { $0.value == .success && $0.key != fixed }.keys) })
        for set in all.sorted(by: { $0.count < $1.count }) where !sets.contains(where: { $0.isSubset(of: set) }) {
            sets.append(set)
        }
        return sets.map { $0.sorted() }
            .sorted { $0.count == $1.count ? $0.lexicographicallyPrecedes($1) : $0.count < $1.count }
    }

    /// The findings about entries, each as its kind and the number of the entry.
    func findings() throws -> [String] {
        guard leaves.contains(where: \.grants) else { return [] }
        let boundary = stack.entries.firstIndex { $0.level < 0 } ?? stack.entries.endIndex
        let refusals = try asked.filter { $0 > boundary }.filter { index in
            let strict = LoginStack(name: "strict", random.refusing(index), clock: ManualClock())
            return try zip(grants, table(all(in: strict).leaves)).contains { $0 && !$1 }
        }
        return try entryFindings() + refusals.map { "overridden \($0)" }
    }

    private func entryFindings() throws -> [String] {
        try stack.entries.indices.filter { stack.entries[$0].hasModule }.compactMap { index in
            guard reached.contains(index) else { return "shadowed \(index)" }
            let isConstant = !asked.contains(index)
            let matters = !isConstant && differ(index) { grants in Set(RandomStack.answers.map(grants)).count > 1 }
            if matters {
                let mayGrant = leaves.contains { $0.grants && $0.answers[index] ?? .success == .success }
                return mayGrant ? nil : "overridden \(index)"
            }
            let ignoring = LoginStack(name: "ignoring", random.ignoring(index), clock: ManualClock())
            // The answer of the entry itself does not matter in either stack.
            let others = try all(in: ignoring).leaves.map { leaf in
                Leaf(grants: leaf.grants, isUndecided: false, answers: leaf.answers.filter { asked.contains($0.key) })
            }
            return table(others) == grants ? "redundant \(index)" : isConstant ? nil : "vacuous \(index)"
        }
    }
}

extension Enumeration.Leaf {
    init(_ report: LoginReport, in stack: LoginStack) {
        let steps = report.steps.filter { $0.phase == .login }
        let answers = steps.filter { stack.entries[$0.index].onlyOutcome == nil }.map { ($0.index, $0.outcome) }
        self.init(
            grants: report.identity != nil,
            isUndecided: steps.last.map { $0.state == .undecided } ?? true,
            answers: Dictionary(answers) { first, _ in first }
        )
    }
}
