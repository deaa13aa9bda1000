// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// Checks a login module against the contract of `LoginModule`.
///
/// ```swift
/// @Test func `the module keeps the contract`() async {
///     let conformance = LoginModuleConformance(
///         module,
///         accepts: [.init("ann", password: "lilac"), .init("bob", password: "basil")],
///         refuses: [.init("ann", password: "basil"), .init("ann", password: ""), .init("nobody", password: "lilac")]
///     )
///     #expect(await conformance.violations() == [])
/// }
/// ```
///
/// Checked: who must be accepted is and who must not is not; an accepted login commits, and can be undone; two hundred
/// logins of different users at the same time get their own principals and no one else's; nobody comes in without a
/// credential, or when the conversation fails or answers nonsense; all refused logins look the same from outside, the kind
/// of failure aside; a cancelled login is refused, calls no later module, and the module returns.
public struct LoginModuleConformance: Sendable {
    /// What somebody presents.
    public struct Credential: Sendable {
        /// The user name.
        public let username: String
        let password: String?
        let code: String?
        let certificate: [UInt8]?

        /// A credential; what is nil is not presented.
        ///
        /// - Parameters:
        ///   - username: The user name.
        ///   - password: The password.
        ///   - code: The one-time code.
        ///   - certificate: The certificate, in DER.
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
    let patience: Duration

    /// A check of one module.
    ///
    /// - Parameters:
    ///   - module: The module, made as a configuration would make it.
    ///   - accepts: Who must be accepted; the more users with different groups, the sharper the check for mixed-up logins.
    ///   - refuses: Who must be refused: wrong passwords, empty ones, users there are not.
    ///   - isPasswordless: Whether the module decides without asking anything.
    ///   - patience: How long one login may take, in real time.
    public init(
        _ module: any LoginModule,
        accepts: [Credential],
        refuses: [Credential],
        isPasswordless: Bool = false,
        patience: Duration = .seconds(10)
    ) {
        self.module = module
        accepted = accepts
        refused = refuses
        self.isPasswordless = isPasswordless
        self.patience = patience
    }

    /// Checks everything.
    ///
    /// - Returns: What is wrong, a sentence each; empty if nothing is.
    public func violations() async -> [String] {
        guard !accepted.isEmpty, !refused.isEmpty else {
            return ["nothing can be said without somebody to accept and somebody to refuse"]
        }
        let badNames = (accepted + refused).filter { request($0) == nil }.map { "\($0.username) is no user name" }
        guard badNames.isEmpty else { return badNames }
        let type = type(of: module)
        var violations = NameRules.violations(of: type.moduleNames, "module name")
        violations += SchemaRules(type.options, reserved: []).violations()
        violations += await decisions()
        violations += await sameness()
        violations += await conversations()
        violations += await concurrency()
        violations += await cancellation()
        return violations
    }

    // MARK: Logging in

    func request(_ credential: Credential) -> LoginRequest? {
        do throws(BadUsername) {
            return LoginRequest(
                realm: "conformance",
                username: try Username(credential.username),
                service: "conformance"
            )
        } catch {
            return nil
        }
    }

    /// One login through a stack of this module alone, or with others behind it.
    func login(
        _ credential: Credential,
        _ conversation: any Conversation,
        through module: (any LoginModule)? = nil,
        before others: [any LoginModule] = []
    ) async -> LoginReport? {
        let modules = [module ?? self.module] + others
        let entries = modules.map { LoginStack.Entry($0, .required, deadline: patience) }
        guard let request = request(credential) else { return nil }
        return await LoginStack(name: "conformance", entries, clock: RealClock()).login(request, asking: conversation)
    }

    /// What somebody gets: principals, or nil.
    func principals(_ credential: Credential) async -> Set<Principal>? {
        await login(credential, credential.conversation())?.identity.map { Set($0.subject.principals) }
    }
}
