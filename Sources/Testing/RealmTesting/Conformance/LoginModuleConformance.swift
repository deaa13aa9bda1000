// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// The conformance test for a login module: it checks the contract of `LoginModule`.
///
/// ```swift
/// @Test func `the module keeps the contract`() async {
///     let conformance = LoginModuleConformance(
///         try RealmKind.team.makeForTests(properties: ["members": ["ann", "bob"]]).module,
///         accepts: [.init("ann", password: "lilac"), .init("bob", password: "basil")],
///         refuses: [.init("ann", password: "basil"), .init("ann", password: ""), .init("nobody", password: "lilac")]
///     )
///     #expect(await conformance.violations() == [])
/// }
/// ```
///
/// It checks: credentials to accept are accepted, and credentials to refuse are refused; an accepted login is
/// committed, and its logout succeeds; in 200 concurrent logins of different users every login gets its own principals;
/// no login succeeds without a credential, or if the conversation fails or gives wrong answers; all refusals look the
/// same to the client, except the refusals of an unavailable module; all logins with a password compute the same
/// password checks, if the module computes them with a `PasswordService`; a cancelled login is refused and calls no
/// further module, and the module returns.
public struct LoginModuleConformance: Sendable {
    /// A user name, and the credentials that the user presents.
    public struct Credential: Sendable {
        /// The user name.
        public let username: String
        let password: String?
        let code: String?
        let certificate: [UInt8]?

        /// Creates a credential; a nil value is not presented, and the certificate is in DER.
        public init(_ username: String, password: String? = nil, code: String? = nil, certificate: [UInt8]? = nil) {
            self.username = username
            self.password = password
            self.code = code
            self.certificate = certificate
        }

        func conversation() -> RecordingConversation {
            RecordingConversation(name: username, password: password, code: code, certificate: certificate)
        }
    }

    let module: any LoginModule
    let accepted: [Credential]
    let refused: [Credential]
    let isPasswordless: Bool
    let timeLimit: Duration

    /// Creates a test of one module.
    ///
    /// - Parameters:
    ///   - module: The module, created as a configuration would create it.
    ///   - accepts: Credentials to accept, at least one. Several users with different groups make the check of
    ///     concurrent logins stricter.
    ///   - refuses: Credentials to refuse, at least one: wrong passwords, empty passwords, unknown users.
    ///   - isPasswordless: True if the module decides without the conversation.
    ///   - timeLimit: The time limit for one login, in real time.
    public init(
        _ module: any LoginModule,
        accepts: [Credential],
        refuses: [Credential],
        isPasswordless: Bool = false,
        timeLimit: Duration = .seconds(10)
    ) {
        self.module = module
        accepted = accepts
        refused = refuses
        self.isPasswordless = isPasswordless
        self.timeLimit = timeLimit
    }

    /// Runs all checks.
    ///
    /// - Returns: The violations, one sentence each; empty if there are none.
    public func violations() async -> [String] {
        guard !accepted.isEmpty, !refused.isEmpty else {
            return ["the test needs a credential to accept and a credential to refuse"]
        }
        let invalid = (accepted + refused).filter { request($0) == nil }.map(\.username)
        guard invalid.isEmpty else { return invalid.map { "\($0.debugDescription) is not a valid user name" } }
        let type = type(of: module)
        var violations = NameRules.violations(of: type.moduleNames, kind: "module name")
        violations += NameRules.violations(of: type.options, reserved: [])
        let (accepted, refused) = (await logins(self.accepted), await logins(self.refused))
        violations += await decisions(accepted: accepted, refused: refused)
        violations += Self.visibleDifferences(refused)
        violations += Self.passwordChecks(accepted + refused)
        violations += await conversations()
        violations += await concurrency()
        violations += await cancellation()
        return violations
    }

    // MARK: Logging in

    func request(_ credential: Credential) -> LoginRequest? {
        (try? Username(credential.username)).map { username in
            LoginRequest(realm: "conformance", username: username, service: "conformance")
        }
    }

    /// Runs a login through a stack of this module and the other modules.
    func login(
        _ credential: Credential,
        conversation: any Conversation,
        through module: (any LoginModule)? = nil,
        before others: [any LoginModule] = []
    ) async -> LoginReport? {
        guard let request = request(credential) else { return nil }
        return await stack([module ?? self.module] + others).login(request, asking: conversation)
    }

    func stack(_ modules: [any LoginModule]) -> LoginStack {
        LoginStack(required: modules, deadline: timeLimit)
    }

    /// Returns the principals of a login; nil if it was refused.
    func principals(_ credential: Credential) async -> Set<Principal>? {
        await login(credential, conversation: credential.conversation())?.identity.map { Set($0.subject.principals) }
    }
}
