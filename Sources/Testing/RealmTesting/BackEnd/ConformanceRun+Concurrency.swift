// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

extension ConformanceRun {
    /// Makes 100 logins at once, of every kind in turn.
    func concurrency() async -> [String] {
        let kinds = everyKind()
        guard !kinds.isEmpty else { return [] }
        let trials = (0..<100).map { kinds[$0 % kinds.count] }
        let results = await results(of: trials)
        let lost = results.count { $0 == nil }
        var violations = zip(trials, results).compactMap { trial, result in
            result.flatMap { trial.violation($0, realm: realm.realm) }
        }
        if lost > 0 { violations.append("\(lost) of 100 logins get no result within \(test.deadline + test.slack)") }
        return violations.map { "among 100 logins at once: \($0)" }
    }

    /// Returns whether hash computations can be compared: the test counts them, or a login names them.
    func computesHashes() async -> Bool {
        guard test.computations == nil else { return true }
        guard let user = test.users.first, let trial = right(user) else { return false }
        return await !HashCosts.costs(of: result(of: trial).report).isEmpty
    }

    /// Compares the hash computations of logins of every kind.
    func equalWork() async -> [String] {
        guard let user = test.users.first else { return [] }
        var trials = everyKind()
        if let empty = wrong(user, password: [], what: "an empty password") { trials.append(empty) }
        if let empty = unknown(test.unknownUsers.first ?? "no-such-user", password: []) { trials.append(empty) }
        var logins: [(label: String, report: LoginReport)] = []
        var work: [(label: String, count: Int)] = []
        for trial in trials + trials {
            let before = await test.computations?()
            let results = await results(of: [trial])
            if let report = results.first??.report { logins.append((trial.label, report)) }
            if let before, let after = await test.computations?() { work.append((trial.label, after - before)) }
        }
        let differences = HashCosts.differences(logins)
        guard let first = work.first else { return differences }
        if work.allSatisfy({ $0.count == 0 }) { return ["no login computes a hash, so computations counts nothing"] }
        return differences
            + work.filter { $0.count != first.count }.map { label, count in
                "the login \(label) computes \(count) hashes, and the login \(first.label) computes \(first.count)"
            }
    }
}
