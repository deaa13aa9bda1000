// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// One module's view of one login: who wants in, whom to ask, what the stack shares, and the way to say yes.
///
/// An attempt is good for the one call it is handed to. What a module commits after it has thrown, timed out or answered
/// counts for nothing. It may be used from any thread.
public struct LoginAttempt: Sendable {
    let record: LoginRecord
    let module: Int
    let round: Int

    /// Whether this module has succeeded in this login; meaningful in commit, abort and logout.
    public let succeeded: Bool

    /// Who somebody wants to be.
    public var username: Username { record.request.username }

    /// The name of the realm that is asked.
    public var realm: String { record.request.realm }

    /// What is signed in to, as in `https` or `authcheck`.
    public var service: String { record.request.service }

    /// The network address the request came from, if it came over one.
    public var peer: String? { record.request.peer }

    /// Says yes: the user is who they say, and belongs to these groups.
    ///
    /// - Parameter groups: The user's groups as this module knows them.
    /// - Returns: The verdict to return.
    public func commit(groups: [String] = []) -> Verdict {
        success(Contribution(module: module, round: round, name: .asGiven, isCommit: true, groups: groups))
    }

    /// Says yes: this is the user, under the name the realm uses.
    ///
    /// - Parameters:
    ///   - user: The user's name as the realm spells it, which may differ from what was typed.
    ///   - groups: The user's groups as this module knows them.
    ///   - others: Further principals.
    /// - Returns: The verdict to return.
    public func commit(as user: Username, groups: [String] = [], others: [Principal] = []) -> Verdict {
        success(
            Contribution(
                module: module,
                round: round,
                name: .known(user),
                isCommit: true,
                groups: groups,
                others: others
            )
        )
    }

    /// Says yes without saying who: for a module that checks something else, such as a one-time code or the hour.
    ///
    /// A stack in which no other module names the user grants the name that was given.
    ///
    /// - Parameter principals: Principals to add.
    /// - Returns: The verdict to return.
    public func commit(only principals: [Principal]) -> Verdict {
        success(Contribution(module: module, round: round, name: .unsaid, isCommit: true, others: principals))
    }

    private func success(_ contribution: Contribution) -> Verdict {
        .success(Verdict.Success(record: record, round: round, number: record.add(contribution)))
    }

    /// Adds principals, which count if the call this attempt was handed to ends well.
    ///
    /// That is: ``LoginModule/authenticateUser(_:)`` with a success, or ``LoginModule/commit(_:)`` with done. While a login
    /// is aborted or undone it has no effect.
    ///
    /// - Parameter principals: The principals to add.
    public func add(_ principals: [Principal]) {
        record.add(Contribution(module: module, round: round, name: .unsaid, others: principals))
    }

    /// Notes something about this call for the administrator, as `authcheck --trace` shows it.
    ///
    /// - Parameter text: How something was done, as in "argon2id, 25 ms"; without secrets.
    public func note(_ text: String) {
        record.note(text, module: module, round: round)
    }

    /// What the modules of this login share; reading gives a copy.
    public var shared: SharedState { record.withShared(round) { $0 } }

    /// Reads and changes what the modules of this login share, in one step.
    ///
    /// - Parameter body: Does the reading and changing; it must not call back into this attempt.
    /// - Returns: What `body` returns.
    public func updateShared<Result: Sendable>(_ body: (inout SharedState) -> Result) -> Result {
        record.withShared(round, body)
    }

    /// Asks the other end.
    ///
    /// The time it takes does not count against this module's deadline.
    ///
    /// - Parameter callbacks: What is asked, at once.
    /// - Returns: As many answers, in their order.
    /// - Throws: ``LoginFault`` when the other end is gone, or does not answer as it must.
    public func ask(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        record.beginAsking(round: round)
        defer { record.endAsking(round: round) }
        let answers = try await record.conversation().answer(callbacks)
        guard answers.count == callbacks.count else {
            throw .internalError("the conversation gave \(answers.count) answers to \(callbacks.count) callbacks")
        }
        return answers
    }

    /// Asks for the password.
    ///
    /// - Parameter prompt: What to show where a person is asked.
    /// - Returns: The password; it may be empty.
    /// - Throws: ``LoginFault`` of kind `missingCredential` when there is none.
    public func password(prompt: String = "Password") async throws(LoginFault) -> Secret {
        guard case .secret(let secret) = try await ask([.password(prompt: prompt)])[0] else {
            throw LoginFault(.missingCredential, log: "no password was given")
        }
        return secret
    }

    /// Asks for a code that is good once.
    ///
    /// - Parameter prompt: What to show where a person is asked.
    /// - Returns: The code; it may be empty.
    /// - Throws: ``LoginFault`` of kind `missingCredential` when there is none.
    public func oneTimeCode(prompt: String = "One-time code") async throws(LoginFault) -> Secret {
        guard case .secret(let secret) = try await ask([.oneTimeCode(prompt: prompt)])[0] else {
            throw LoginFault(.missingCredential, log: "no one-time code was given")
        }
        return secret
    }
}
