// SPDX-License-Identifier: Apache-2.0

internal import Passwords
internal import RealmKit

extension LoginModuleConformance {
    /// One login with each credential.
    func logins(_ credentials: [Credential]) async -> [Login] {
        var logins: [Login] = []
        for credential in credentials {
            let conversation = credential.conversation()
            guard let report = await login(credential, conversation: conversation) else { continue }
            logins.append(Login(name: credential.username, conversation: conversation, report: report))
        }
        return logins
    }

    struct Login {
        let name: String
        let conversation: RecordingConversation
        let report: LoginReport
    }

    // MARK: Decisions

    func decisions(accepted: [Login], refused: [Login]) async -> [String] {
        var violations: [String] = []
        for login in accepted {
            guard let identity = login.report.identity else {
                violations.append("\(login.name) should be accepted, but is refused: \(Self.reason(login.report))")
                continue
            }
            guard login.report.steps.contains(where: { $0.phase == .commit && $0.outcome == .success }) else {
                violations.append("the login of \(login.name) is not committed")
                continue
            }
            violations += await logout(identity)
        }
        return violations
            + refused.filter { $0.report.identity != nil }.map { "\($0.name) should be refused, but is accepted" }
    }

    private func logout(_ identity: AuthenticatedIdentity) async -> [String] {
        let faults = await stack([module]).logout(identity).steps.compactMap(\.fault)
        return faults.map { "the logout of \(identity.username) fails: \($0)" }
    }

    static func reason(_ report: LoginReport) -> String {
        if let fault = report.steps.lazy.compactMap(\.fault).first { return "\(fault)" }
        return report.refusal?.failure.code ?? "no reason"
    }

    // MARK: Differences between refusals

    /// The parts of a refusal that a client can see, except its duration.
    private struct VisibleRefusal: Hashable {
        let requests: [[Callback]]
        let isThrown: Bool
        let isUnavailable: Bool
    }

    static func visibleDifferences(_ refused: [Login]) -> [String] {
        var seen: [VisibleRefusal: String] = [:]
        for login in refused {
            // The client knows that it presented nothing, so this refusal may look different.
            guard let reason = login.report.refusal?.failure, reason != .missingCredential else { continue }
            let refusal = VisibleRefusal(
                requests: login.conversation.questions,
                isThrown: login.report.steps.contains { $0.phase == .login && $0.fault != nil },
                isUnavailable: reason == .unavailable
            )
            if seen[refusal] == nil { seen[refusal] = login.name }
        }
        guard seen.count > 1 else { return [] }
        return ["the client can distinguish refusals: \(seen.values.sorted().joined(separator: ", "))"]
    }

    /// Compares the password checks of all credentials, whose time a client can measure.
    static func passwordChecks(_ logins: [Login]) -> [String] {
        let checked = logins.filter { login in
            let failure = login.report.refusal?.failure
            return failure != .missingCredential && failure?.isTemporary != true
        }
        return HashCosts.differences(checked.map { ("of \($0.name)", $0.report) })
    }

    // MARK: Faulty conversations

    func conversations() async -> [String] {
        guard !isPasswordless, let credential = accepted.first else { return [] }
        let nonsense: [Answer] = [.certificate([0]), .certificate([0]), .certificate([0])]
        let table: [(fault: String, reply: RecordingConversation.Reply)] = [
            ("that has no answers", .prepared(.silent)),
            ("that fails", .fault(.unavailable("the client is gone"))),
            ("that returns an empty list", .answers([])),
            ("that returns too many answers", .answers(nonsense)),
            ("that answers every callback with a certificate", .answers([.certificate([0])])),
        ]
        var violations: [String] = []
        for (fault, reply) in table {
            let report = await login(credential, conversation: RecordingConversation([reply]))
            if report?.identity != nil {
                violations.append("\(credential.username) is accepted with a conversation \(fault)")
            }
        }
        return violations
    }

    // MARK: Concurrent logins

    func concurrency() async -> [String] {
        let credentials = accepted + refused
        var expected: [Set<Principal>?] = []
        for credential in credentials { expected.append(await principals(credential)) }
        let mixed = await withTaskGroup(of: String?.self) { group in
            for number in 0..<200 {
                let place = number % credentials.count
                let wanted = expected[place]
                group.addTask {
                    let given = await principals(credentials[place])
                    return given == wanted ? nil : credentials[place].username
                }
            }
            return await group.reduce(into: Set<String>()) { names, name in
                if let name { names.insert(name) }
            }
        }
        return mixed.sorted().map {
            "among 200 concurrent logins, \($0) gets a different result than in a single login"
        }
    }

    // MARK: Cancellation

    func cancellation() async -> [String] {
        // A module that makes no requests never waits for the conversation, so there is no wait to cancel.
        guard let credential = accepted.first else { return [] }
        let usual = credential.conversation()
        _ = await login(credential, conversation: usual)
        guard !usual.questions.isEmpty else { return [] }

        let conversation = RecordingConversation([.never])
        let ended = Journal<LoginPhase>()
        let observed = ScriptedModule(
            .run { [module] (attempt) async throws(LoginFault) in
                defer { ended.add(.login) }
                return try await module.authenticateUser(attempt)
            },
            commit: .run { [module] (attempt) async throws(LoginFault) in try await module.commit(attempt) },
            abort: .run { [module] (attempt) async throws(LoginFault) in try await module.abort(attempt) }
        )
        let later = ScriptedModule()
        let task = Task { await login(credential, conversation: conversation, through: observed, before: [later]) }
        await conversation.untilCalled()
        task.cancel()
        var violations: [String] = []
        let report = await task.value
        if report?.identity != nil { violations.append("a cancelled login is accepted") }
        if later.phases.contains(.login) { violations.append("the next module is called after a cancellation") }
        if await !RealTimeLimit(timeLimit).wait(until: { ended.count > 0 }) {
            violations.append("the module does not return when its login is cancelled")
        }
        return violations
    }
}

/// The comparison of the password checks that logins compute with a `PasswordService`.
///
/// A service adds a note to the report of a login. Checks of different costs take different times, so a client could
/// find out which users exist, or whose password is stored in which way.
enum HashCosts {
    /// Returns the costs of the checks of one login, in the order in which they were computed.
    static func costs(of report: LoginReport) -> [String] {
        report.notes.compactMap { PasswordService.costs(inNote: $0.text) }
    }

    /// Returns a sentence for each login whose checks differ from those of the first login.
    static func differences(_ logins: [(label: String, report: LoginReport)]) -> [String] {
        guard let first = logins.first else { return [] }
        let expected = costs(of: first.report)
        return logins.dropFirst().compactMap { label, report in
            let given = costs(of: report)
            guard given != expected else { return nil }
            return "the login \(label) checks \(text(given)), and the login \(first.label) checks "
                + "\(text(expected)): pass hashPerCost a hash of each cost in the realm"
        }
    }

    private static func text(_ costs: [String]) -> String {
        costs.isEmpty ? "no hash" : costs.joined(separator: ", ")
    }
}
