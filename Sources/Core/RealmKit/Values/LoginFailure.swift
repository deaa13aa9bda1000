// SPDX-License-Identifier: Apache-2.0

/// The reason why a module or a login failed.
///
/// It is for stacks, logs, the throttle and fail-over. It is not shown to users: all refusals are the same for a
/// client, except ``unavailable`` and ``overloaded``. Each case names the JAAS exception and the PAM code.
public enum LoginFailure: UInt8, Sendable, Hashable, CaseIterable {
    /// The password, code or certificate is not this user's. JAAS FailedLoginException, PAM_AUTH_ERR.
    case wrongCredentials
    /// The realm has no such user. JAAS AccountNotFoundException, PAM_USER_UNKNOWN.
    case unknownUser
    /// A required credential was not presented. JAAS CredentialNotFoundException, PAM_CRED_UNAVAIL.
    case missingCredential
    /// The credential is malformed or of a kind that cannot be checked. JAAS CredentialException, PAM_CRED_ERR.
    case unusableCredential
    /// The account is locked after too many failures. JAAS AccountLockedException, PAM_MAXTRIES.
    case locked
    /// The account is disabled. JAAS AccountException, PAM_ACCT_EXPIRED.
    case disabled
    /// The account has expired. JAAS AccountExpiredException, PAM_ACCT_EXPIRED.
    case accountExpired
    /// The password has expired. JAAS CredentialExpiredException, PAM_NEW_AUTHTOK_REQD.
    case credentialExpired
    /// The user is authenticated but not allowed here. JAAS LoginException, PAM_PERM_DENIED.
    case permissionDenied
    /// A backend could not be reached or did not answer in time. It never means a wrong password. PAM_AUTHINFO_UNAVAIL.
    case unavailable
    /// Too much was to be done: a queue was full, or the login waited too long for its turn.
    ///
    /// It says nothing about the back end, and a user can cause it. So it never counts as an outage, for which a
    /// remembered login may be used or a realm left out. PAM and JAAS have no code for it.
    case overloaded
    /// The module has a defect. JAAS: any exception that is not a LoginException; PAM_SYSTEM_ERR.
    case internalError

    /// The code of the failure in logs and reports, as in `wrong-credentials`.
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
        case .overloaded: "overloaded"
        case .internalError: "internal-error"
        }
    }

    /// True if the login could not be decided now, and may be tried again: a web client gets 503.
    package var isTemporary: Bool { self == .unavailable || self == .overloaded }

    /// Reads a failure from its ``code``; nil for an unknown one.
    public init?(code: String) {
        guard let kind = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = kind
    }
}

/// A fault of a module, a realm or a conversation, thrown when a login could not be decided.
///
/// A fault thrown by a module counts as a failure of that module under its control flag; the module is never treated as
/// absent. Two faults are equal if their kinds are equal, so tests need not compare texts.
public struct LoginFault: Error, Sendable {
    /// The failure that the fault counts as in a stack.
    public let kind: LoginFailure
    /// True if the engine has ended the call at its module's deadline, which need not be an outage; here it adds no size.
    var isLate = false
    /// The event for the log, without secrets; users never see it.
    public let log: String

    /// Creates a fault.
    public init(_ kind: LoginFailure, log: String) {
        self.kind = kind
        self.log = log
    }

    /// A fault of a backend: a directory is down, a file cannot be read, the time is up.
    public static func unavailable(_ log: String) -> LoginFault { LoginFault(.unavailable, log: log) }

    /// A fault of load: a queue is full, or the login has waited too long for its turn.
    public static func overloaded(_ log: String) -> LoginFault { LoginFault(.overloaded, log: log) }

    /// A fault of the program itself: a state that must not occur.
    public static func internalError(_ log: String) -> LoginFault { LoginFault(.internalError, log: log) }
}

extension LoginFault: Hashable, CustomStringConvertible {
    /// Compares the kinds.
    public static func == (left: LoginFault, right: LoginFault) -> Bool { left.kind == right.kind }

    /// Hashes the kind.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    /// The code of the kind, and the log text.
    public var description: String { "\(kind.code): \(log)" }
}
