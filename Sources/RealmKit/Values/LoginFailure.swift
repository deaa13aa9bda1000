// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Why a login or a module said no.
///
/// The kinds are for stacks, logs, lock-outs and fail-over. To the one who tries to sign in all of them look the same,
/// ``unavailable`` excepted. Each names the JAAS exception and the PAM code it stands for.
public enum LoginFailure: UInt8, Sendable, Hashable, CaseIterable {
    /// What was presented is not this user's. JAAS FailedLoginException, PAM_AUTH_ERR.
    case wrongCredentials
    /// There is no such user. JAAS AccountNotFoundException, PAM_USER_UNKNOWN.
    case unknownUser
    /// Nothing was presented where something is needed. JAAS CredentialNotFoundException, PAM_CRED_UNAVAIL.
    case missingCredential
    /// What was presented cannot be used, whosever it is. JAAS CredentialException, PAM_CRED_ERR.
    case unusableCredential
    /// Too many failures: the account is closed for a time. JAAS AccountLockedException, PAM_MAXTRIES.
    case locked
    /// The account is switched off or not to be used. JAAS AccountException, PAM_ACCT_EXPIRED.
    case disabled
    /// The account's time is over. JAAS AccountExpiredException, PAM_ACCT_EXPIRED.
    case accountExpired
    /// The password's time is over. JAAS CredentialExpiredException, PAM_NEW_AUTHTOK_REQD.
    case credentialExpired
    /// The user is who they say, and is not wanted here. JAAS LoginException, PAM_PERM_DENIED.
    case permissionDenied
    /// Whoever knows could not be asked, or did not answer in time. Never a wrong password. PAM_AUTHINFO_UNAVAIL.
    case unavailable
    /// The module broke. JAAS: any exception that is no LoginException; PAM_SYSTEM_ERR.
    case internalError

    /// The kind as logs and reports spell it, as in `wrong-credentials`.
    public var code: String {
        switch self {
        case .wrongCredentials: "wrong-credentials"
        case .unknownUser: "unknown-user"
        case .missingCredential: "missing-credential"
        case .unusableCredential: "unusable-credential"
        case .locked: "locked"
        case .disabled: "disabled"
        case .accountExpired: "account-expired"
        case .credentialExpired: "credential-expired"
        case .permissionDenied: "permission-denied"
        case .unavailable: "unavailable"
        case .internalError: "internal-error"
        }
    }

    /// Reads a kind as ``code`` spells it.
    ///
    /// - Parameter code: The spelling; nil is returned for any other.
    public init?(code: String) {
        guard let kind = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = kind
    }
}

/// Something went wrong in a module, a realm or a conversation: not a "no", but a fault.
///
/// A fault thrown by a module is a failure of that module under its control flag: never a success, never a skip. Two
/// faults are equal when their kinds are, so that tests need not compare texts.
public struct LoginFault: Error, Sendable {
    /// What the fault counts as in a stack.
    public let kind: LoginFailure
    /// What happened, for the log; without secrets.
    ///
    /// Nobody who tries to sign in gets to see it.
    public let log: String

    /// A fault of some kind.
    ///
    /// - Parameters:
    ///   - kind: What it counts as in a stack.
    ///   - log: What happened, for the log; without secrets.
    public init(_ kind: LoginFailure, log: String) {
        self.kind = kind
        self.log = log
    }

    /// Whoever knows could not be asked: a directory is down, a file cannot be read, time ran out.
    ///
    /// - Parameter log: What happened, for the log; without secrets.
    /// - Returns: The fault.
    public static func unavailable(_ log: String) -> LoginFault { LoginFault(.unavailable, log: log) }

    /// A thing that must not happen has happened.
    ///
    /// - Parameter log: What happened, for the log; without secrets.
    /// - Returns: The fault.
    public static func internalError(_ log: String) -> LoginFault { LoginFault(.internalError, log: log) }
}

extension LoginFault: Hashable, CustomStringConvertible {
    /// Whether the kinds are the same.
    public static func == (left: LoginFault, right: LoginFault) -> Bool { left.kind == right.kind }

    /// Hashes the kind.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    /// Kind and log text.
    public var description: String { "\(kind.code): \(log)" }
}
