// SPDX-License-Identifier: Apache-2.0

internal import HelperProcesses
public import RealmKit

/// Checks the names and passwords of an ``ExecRealm``'s users by its program.
///
/// An empty password is rejected without a call of the program. If the program answers with a challenge, the user is
/// asked for the response, and the program is called again; it is called at most five times in one login. The options are those of
/// `FirstPass`.
public struct ExecLoginModule: PasswordLoginModule {
    /// The settings for sharing the password with the other modules of the stack.
    public let firstPass: FirstPass
    private let realm: ExecRealm

    /// The maximum length of a password or a response, in bytes.
    private static let maximumSecret = 4096
    private static let maximumCalls = 5

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose users are checked.
    ///   - options: The options of `FirstPass`.
    /// - Throws: Nothing: the options have been checked against the schema.
    public init(realm: ExecRealm, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.realm = realm
    }

    /// Succeeds if the program accepts the password or the response to its challenge.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        try await realm.outages.watching { () async throws(LoginFault) in
            try await verdict(attempt, password: password)
        }
    }

    private func verdict(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        var (challenge, response) = ("", password)
        var earlier: [Secret] = []
        for _ in 0..<Self.maximumCalls {
            guard Self.isUsable(response) else {
                return .failed(response.isEmpty ? .wrongCredentials : .unusableCredential)
            }
            let answer = try await ask(attempt, challenge: challenge, response: response, after: earlier)
            switch answer.decision {
            case .accepted:
                return attempt.commit(
                    as: answer.user ?? attempt.username,
                    groups: answer.groups,
                    attributes: answer.attributes
                )
            case .refused(.unavailable), nil:
                throw .unavailable("the helper program: \(answer.reason ?? "unavailable")")
            case .refused(.overloaded):
                throw .overloaded("the helper program: \(answer.reason ?? "overloaded")")
            case .refused(let failure):
                return .failed(failure)
            case .challenge(let text):
                challenge = text
                earlier.append(response)
                response = try await attempt.oneTimeCode(prompt: text)
            }
        }
        throw .unavailable("the helper program has answered \(Self.maximumCalls) calls with a challenge")
    }

    private func ask(
        _ attempt: LoginAttempt,
        challenge: String,
        response: Secret,
        after earlier: [Secret]
    ) async throws(LoginFault) -> ExecAnswer {
        let request = ExecLoginRequest(
            user: attempt.username,
            service: realm.serviceName ?? attempt.service,
            realm: attempt.realm,
            peer: attempt.peer,
            challenge: challenge,
            response: response,
            earlier: earlier
        )
        do throws(HelperFault) {
            return try await realm.helpers.answer(to: request)
        } catch {
            throw error.loginFault("the helper program: ")
        }
    }

    /// A secret with the character NUL would be read as two.
    private static func isUsable(_ secret: Secret) -> Bool {
        guard !secret.isEmpty, secret.count <= maximumSecret else { return false }
        return secret.withBytes { bytes in !bytes.indices.contains { bytes[$0] == 0 } }
    }
}

extension ExecLoginModule: NonblockingLoginModule {}
