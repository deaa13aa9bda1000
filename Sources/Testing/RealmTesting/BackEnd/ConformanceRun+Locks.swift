// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

extension ConformanceRun {
    /// Logs in to locked accounts with the right and with a wrong password; nothing may tell the two apart.
    func locks() async -> [String] {
        var violations: [String] = []
        for user in test.users + test.rejectedUsers + test.usersWithProblems {
            guard let name = username(user.username), let password = user.password else { continue }
            let stored: String?
            do {
                stored = try await test.stored?()
                let right = await lockedLogin(.right, name, Array(password.utf8), of: user)
                let wrong = await lockedLogin(.wrong, name, wrongPassword(), of: user)
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
        _ kind: LoginTrial.Kind,
        _ name: Username,
        _ password: [UInt8],
        of user: RealmBackEndConformance.User
    ) async -> String {
        let answers = PreparedConversation(
            name: name.text,
            password: Secret(password),
            certificate: user.certificate
        )
        let conversation = RecordingConversation([.prepared(answers)])
        let computed = await test.computations?()
        let begin = ContinuousClock.now
        let report = await realm.stack.login(
            LoginRequest(realm: realm.name, username: name, service: "conformance"),
            asking: conversation,
            mayGrant: false
        )
        secrets.examine(LoginTrial.Result(kind: kind, report: report, duration: begin.duration(to: .now)))
        // The outcome of a step is for the administrator only.
        let steps = report.steps.map { "\($0.phase.name) \($0.index)" }
        var text = "\(report.refusal?.failure.code ?? "a success") \(steps), \(conversation.questions.count) questions"
        if report.isUnavailable { text += ", 503" }
        text += HashCosts.costs(of: report).map { ", \($0)" }.joined()
        if let computed, let now = await test.computations?() { text += ", \(now - computed) hashes" }
        return text
    }
}
