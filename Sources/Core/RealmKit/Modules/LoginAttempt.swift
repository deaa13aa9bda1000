// SPDX-License-Identifier: Apache-2.0

/// One call of a module within a login: the request, the conversation with the user and the state that modules share.
///
/// A module can succeed only by a `commit` method of its attempt. An attempt is valid during the call it was passed to: a
/// commit after the module has thrown, timed out or returned has no effect. It may be used from any thread.
public struct LoginAttempt: Sendable {
    let login: LoginRecord
    /// The module's place in its stack, from 0.
    let module: Int
    let phase: LoginPhase
    /// The number of this call in its login.
    let round: Int

    /// True if this module has succeeded in this login; meaningful in commit, abort and logout.
    public let succeeded: Bool

    /// The user name in the request.
    public var username: Username { login.request.username }
    /// The user whom an earlier module of this login has named by a success; without one, the name in the request.
    package var establishedName: Username { login.namedUser(before: round) }
    /// The name of the realm that authenticates the user.
    public var realm: String { login.request.realm }
    /// The service that the user signs in to, such as `https` or `authcheck`.
    public var service: String { login.request.service }
    /// The network address of the client; nil if the login did not come over a network.
    public var peer: String? { login.request.peer }

    /// True if the account or the client's address is locked, so that the login is refused whatever this module returns.
    ///
    /// A module that checks a secret does so as always. What it does only after a right one (reading groups, changing a
    /// password) it leaves out, and returns a failure at once: otherwise the time of the response or a trace in its back end
    /// would show that the secret was right. The engine counts every such failure as wrong credentials, and passes no
    /// question on after a secret.
    public var isLocked: Bool { !login.mayGrant }

    /// Creates a success: the user is authenticated and is a member of these groups, as far as this module knows.
    public func commit(groups: [String] = [], attributes: [UserAttribute] = []) -> Verdict {
        commit(as: username, groups: groups, attributes: attributes)
    }

    /// Creates a success for a user whose name the realm spells in another way.
    public func commit(
        as user: Username,
        groups: [String] = [],
        others: [Principal] = [],
        attributes: [UserAttribute] = []
    ) -> Verdict {
        success(for: user, groups: groups, others: others, attributes: attributes)
    }

    /// Creates a success without a user name, for a module that checks something else, such as a one-time code or the
    /// time of day.
    ///
    /// If no module of the stack names the user, the login is granted for the name in the request.
    public func commit(only principals: [Principal], attributes: [UserAttribute] = []) -> Verdict {
        success(for: nil, others: principals, attributes: attributes)
    }

    private func success(
        for user: Username?,
        groups: [String] = [],
        others: [Principal] = [],
        attributes: [UserAttribute]
    ) -> Verdict {
        let number = login.add(
            Contribution(
                module: module,
                round: round,
                isSuccess: true,
                user: user,
                groups: groups,
                others: others,
                attributes: attributes
            )
        )
        return .success(Verdict.Success(login: login, round: round, number: number))
    }

    /// Adds principals and attributes, which count if the current call succeeds.
    ///
    /// The call succeeds if ``LoginModule/authenticateUser(_:)`` returns a success or ``LoginModule/commit(_:)``
    /// returns `done`. In an abort or a logout this method has no effect.
    ///
    /// A module that learns the user's name, as the realm spells it, in its commit adds it too.
    public func add(_ principals: [Principal], attributes: [UserAttribute] = [], as user: Username? = nil) {
        login.add(
            Contribution(
                module: module,
                round: round,
                isSuccess: false,
                user: user,
                others: principals,
                attributes: attributes
            )
        )
    }

    /// Adds a note about this call for the administrator, such as "argon2id, 25 ms", without secrets.
    ///
    /// `authcheck --trace` shows it. At most 100 notes of a login are kept.
    public func note(_ text: String) { login.note(text, module: module, round: round) }

    /// A copy of the state that the modules of this login share.
    public var shared: SharedState { login.withSharedState(round: round) { $0 } }

    /// Reads and changes the state that the modules of this login share, in one step.
    ///
    /// The closure must not call this attempt.
    public func updateShared<Result: Sendable>(_ body: (inout SharedState) -> Result) -> Result {
        login.withSharedState(round: round, body)
    }

    /// Passes callbacks to the conversation, and returns one answer for each, in the same order.
    ///
    /// The wait for the answers does not count towards this module's deadline.
    ///
    /// - Throws: ``LoginFault`` if the client is gone, or the conversation breaks its contract.
    public func ask(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        try await login.ask(callbacks, round: round, isNested: false)
    }

    /// Requests the password from the user; it may be empty.
    ///
    /// - Throws: ``LoginFault`` of kind `missingCredential` if the user did not answer.
    public func password(prompt: String = "Password") async throws(LoginFault) -> Secret {
        guard case .secret(let secret) = try await ask([.password(prompt: prompt)])[0] else {
            throw LoginFault(.missingCredential, log: "no password was given")
        }
        return secret
    }

    /// Requests a one-time code from the user; it may be empty.
    ///
    /// - Throws: ``LoginFault`` of kind `missingCredential` if the user did not answer.
    public func oneTimeCode(prompt: String = "One-time code") async throws(LoginFault) -> Secret {
        guard case .secret(let secret) = try await ask([.oneTimeCode(prompt: prompt)])[0] else {
            throw LoginFault(.missingCredential, log: "no one-time code was given")
        }
        return secret
    }
}

/// The start of a login: the realm, the user name, the service and the client's address.
public struct LoginRequest: Sendable, Hashable {
    /// The name of the realm that authenticates the user.
    public let realm: String
    /// The user name as the client sent it.
    public let username: Username
    /// The service that the user signs in to, such as `https` or `authcheck`; the service name of PAM.
    public let service: String
    /// The network address of the client; nil if the login did not come over a network.
    public let peer: String?

    /// Creates a request.
    public init(realm: String, username: Username, service: String = "login", peer: String? = nil) {
        self.realm = realm
        self.username = username
        self.service = service
        self.peer = peer
    }

    package static let maximumServiceBytes = 64

    /// Returns whether a text may be the service of a login: PAM and helper programs get it as a name.
    package static func isService(_ text: String) -> Bool {
        (1...maximumServiceBytes).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

extension LoginAttempt {
    /// Requests a new password from the user, twice, in place of one that has expired or must be changed.
    ///
    /// Call it in ``LoginModule/commit(_:)``: a login that another module refuses, or that is locked, must neither show
    /// that the old password was right, nor store a new one. The user is asked at most three times. A client that has only
    /// the old password, as with HTTP Basic, is asked once.
    ///
    /// - Parameters:
    ///   - old: The password that the user has given.
    ///   - message: The text above the first prompts.
    ///   - refusal: Checks the new password, which is not empty and has no control characters, or changes it; returns the
    ///     reason for the user why it is refused, or nil if it is accepted.
    /// - Returns: The new password; nil if the user has given none that is accepted, which a note says.
    /// - Throws: ``LoginFault`` of the conversation or of `refusal`.
    public func newPassword(
        instead old: Secret,
        message: String = "The password must be changed.",
        refusal: (Secret) async throws(LoginFault) -> String?
    ) async throws(LoginFault) -> Secret? {
        var text = message
        for _ in 0..<Self.maximumNewPasswords {
            let answers = try await ask([
                .message(text), .password(prompt: "New password"), .password(prompt: "New password again"),
            ])
            guard case .secret(let new) = answers[1], case .secret(let again) = answers[2] else {
                note("the user has not answered the prompts for a new password")
                return nil
            }
            if !new.isEqual(to: again) {
                text = "The two new passwords differ."
            } else if new.isEmpty {
                text = "The new password is empty."
            } else if new.isEqual(to: old) {
                note("the new password is the old one")
                return nil
            } else if new.hasControlCharacter {
                text = "The new password has a control character."
            } else if let reason = try await refusal(new) {
                text = reason
            } else {
                return new
            }
        }
        note("the user has given no new password that is accepted")
        return nil
    }

    private static let maximumNewPasswords = 3
}
