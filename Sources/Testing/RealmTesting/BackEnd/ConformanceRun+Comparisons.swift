// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

extension ConformanceRun {
    /// Makes 100 logins at once, of every kind in turn.
    func concurrency() async -> [String] {
        let kinds = everyKind()
        guard !kinds.isEmpty else { return [] }
        let trials = (0..<100).map { kinds[$0 % kinds.count] }
        return await violations(of: trials, atOnce: trials.count).map { "among 100 logins at once: \($0)" }
    }

    /// Returns whether hash computations can be compared: the test counts them, or a login names them.
    func computesHashes() async -> Bool {
        guard test.computations == nil else { return true }
        guard let user = test.users.first, let trial = right(user) else { return false }
        return await !HashCosts.costs(of: report(of: trial)).isEmpty
    }

    func equalWork() async -> [String] {
        guard let user = test.users.first else { return [] }
        var trials = everyKind()
        if let empty = wrong(user, password: [], what: "an empty password") { trials.append(empty) }
        if let empty = unknown(test.unknownUsers.first ?? "no-such-user", password: []) { trials.append(empty) }
        var logins: [(label: String, report: LoginReport)] = []
        var work: [(label: String, count: Int)] = []
        for trial in trials + trials {
            let before = await test.computations?()
            let reports = await reports(of: [trial])
            if let report = reports[0] { logins.append((trial.label, report)) }
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

extension ConformanceRun {
    /// Logs in to locked accounts with the right and with a wrong password; nothing may tell the two apart.
    func locks() async -> [String] {
        var violations: [String] = []
        for user in test.users + test.rejectedUsers + test.usersWithProblems {
            guard let name = username(user.username), let password = user.password else { continue }
            let stored: String?
            do {
                stored = try await test.stored?()
                let right = await lockedLogin(name, password, of: user)
                let wrong = await lockedLogin(name, wrongPassword(), of: user)
                if right != wrong {
                    violations.append(
                        "the locked account of \(name): the right password gives \(right), a wrong one \(wrong)"
                    )
                }
                if try await test.stored?() != stored {
                    violations.append("a login to the locked account of \(name) changes the back end")
                }
            } catch {
                violations.append("what the back end stores cannot be read: \(error)")
            }
        }
        return violations
    }

    /// Returns everything that a client can observe of a login to a locked account.
    private func lockedLogin(
        _ name: Username,
        _ password: [UInt8],
        of user: RealmBackEndConformance.User
    ) async -> String {
        let answers = PreparedConversation(name: name.text, password: Secret(password), certificate: user.certificate)
        let conversation = RecordingConversation([.prepared(answers)])
        let computed = await test.computations?()
        let report = await realm.stack.login(
            LoginRequest(realm: realm.name, username: name, service: "conformance"),
            asking: conversation,
            mayGrant: false
        )
        secrets.examine(report)
        // The outcome of a step is for the administrator only.
        let steps = report.steps.map { "\($0.phase.name) \($0.index)" }
        var text = "\(report.refusal?.failure.code ?? "a success") \(steps), \(conversation.questions.count) questions"
        if report.isUnavailable { text += ", 503" }
        text += HashCosts.costs(of: report).map { ", \($0)" }.joined()
        if let computed, let now = await test.computations?() { text += ", \(now - computed) hashes" }
        return text
    }
}
