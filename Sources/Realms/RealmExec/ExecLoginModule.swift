// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HelperProcesses
package import RealmKit

/// Checks the names and passwords of an ``ExecRealm``'s users by its program.
///
/// An empty password is rejected without a call of the program. If the program answers with a challenge, the user is
/// asked for the response, and the program is called again; it is called at most five times in one login. The options are those of
/// `FirstPass`.
package struct ExecLoginModule: PasswordLoginModule {
    package let firstPass: FirstPass
    private let realm: ExecRealm

    /// The maximum length of a password or a response, in bytes.
    private static let maximumSecret = 4096
    private static let maximumCalls = 5

    package init(realm: ExecRealm, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.realm = realm
    }

    /// Succeeds if the program accepts the password or the response to its challenge.
    package func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
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
                let user = answer.user ?? attempt.username
                return attempt.commit(as: user, groups: answer.groups, attributes: answer.attributes)
            case .refused(.unavailable), nil:
                throw .unavailable("the helper program: \(answer.reason ?? "unavailable")")
            case .refused(.overloaded): throw .overloaded("the helper program: \(answer.reason ?? "overloaded")")
            case .refused(let failure): return .failed(failure)
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
        return secret.withBytes { !$0.containsNUL }
    }
}

extension ExecLoginModule: NonblockingLoginModule {}

/// A login for a helper program: a user with a password, or with the response to a challenge.
struct ExecLoginRequest: Sendable {
    let user: Username
    let service: String
    let realm: String
    let peer: String?
    /// The text of the challenge; empty for a password.
    let challenge: String
    let response: Secret
    /// The secrets of earlier calls in the same login: the password before the response to a challenge.
    var earlier: [Secret] = []

    /// The arguments of a program that is started for this request, as in BSD authentication.
    ///
    /// The name follows after `--`, so a name that begins with a hyphen is no option (CVE-2019-19521).
    var arguments: [String] {
        var arguments = ["-s", "response", "-v", "service=\(service)", "-v", "realm=\(realm)"]
        if let peer { arguments += ["-v", "peer=\(peer)"] }
        return arguments + ["--", user.text]
    }

    /// The message on descriptor 3 of a program that is started for this request: challenge NUL response NUL.
    var message: Secret {
        Secret(capacity: challenge.utf8.count + response.count + 2) { output in
            for byte in challenge.utf8 { output.append(byte == 0 ? 0x20 : byte) }
            output.append(0)
            response.withBytes { bytes in for index in bytes.indices { output.append(bytes[index]) } }
            output.append(0)
        }
    }

    /// The forms of the secrets of the login that are not logged: their bytes, base64 without padding, and their lines,
    /// because a program may write a part of a secret on a line.
    var secrets: [Secret] { (earlier + [response]).flatMap(Self.forms) }

    private static func forms(of response: Secret) -> [Secret] {
        let padded = Base64.padded.length(ofBytes: response.count)
        let encoded = Secret(capacity: padded) { output in response.withBytes { append($0, to: &output) } }
        let padding = (3 - response.count % 3) % 3
        let unpadded = Secret(capacity: padded) { output in
            encoded.withBytes { bytes in for index in 0..<(bytes.count - padding) { output.append(bytes[index]) } }
        }
        let lines = response.withBytes { bytes in
            bytes.indices.split { bytes[$0] == UInt8(ascii: "\n") }.map { line in
                Secret(capacity: line.count) { output in for index in line { output.append(bytes[index]) } }
            }
        }
        return [response, unpadded] + (lines.count > 1 ? lines : [])
    }

    /// Returns the line for a program that answers by lines: the number of the request and six fields in base64, a
    /// hyphen for an empty field.
    func line(_ number: UInt64) -> Secret {
        let fields = [
            Array(service.utf8), Array(user.text.utf8), nil, Array(challenge.utf8), Array((peer ?? "").utf8),
            Array(realm.utf8),
        ]
        let base64 = Base64.padded
        let length = fields.reduce(24) { $0 + 2 + base64.length(ofBytes: $1?.count ?? response.count) }
        return Secret(capacity: length) { output in
            for byte in "\(number)".utf8 { output.append(byte) }
            for field in fields {
                output.append(UInt8(ascii: " "))
                if let field {
                    Self.append(field.span, to: &output)
                } else {
                    response.withBytes { Self.append($0, to: &output) }
                }
            }
            output.append(UInt8(ascii: "\n"))
        }
    }

    private static func append(_ field: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        guard field.count > 0 else {
            output.append(UInt8(ascii: "-"))
            return
        }
        let base64 = Base64.padded
        var text = [UInt8](repeating: 0, count: base64.length(ofBytes: field.count))
        var span = text.mutableSpan
        base64.encode(field, into: &span)
        for index in text.indices {
            output.append(text[index])
            text[index] = 0
        }
    }
}
