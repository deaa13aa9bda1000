// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A return code of a PAM module, by its number in Linux-PAM.
public enum PAMCode: UInt8, Sendable, Hashable, CaseIterable {
    case success, openErr, symbolErr, serviceErr, systemErr, bufErr, permDenied, authErr
    case credInsufficient, authinfoUnavail, userUnknown, maxtries, newAuthtokReqd, acctExpired, sessionErr, credUnavail
    case credExpired, credErr, noModuleData, convErr, authtokErr, authtokRecoverErr, authtokLockBusy
    case authtokDisableAging, tryAgain, ignore, abort, authtokExpired, moduleUnknown, badItem, convAgain, incomplete

    private static let names = [
        "success", "open_err", "symbol_err", "service_err", "system_err", "buf_err", "perm_denied", "auth_err",
        "cred_insufficient", "authinfo_unavail", "user_unknown", "maxtries", "new_authtok_reqd", "acct_expired",
        "session_err", "cred_unavail", "cred_expired", "cred_err", "no_module_data", "conv_err", "authtok_err",
        "authtok_recover_err", "authtok_lock_busy", "authtok_disable_aging", "try_again", "ignore", "abort",
        "authtok_expired", "module_unknown", "bad_item", "conv_again", "incomplete",
    ]

    /// The name in a control, such as `auth_err`.
    public var name: String { Self.names[Int(rawValue)] }

    /// Reads a code from its ``name``, in lower case; nil for an unknown one.
    public init?(name: some StringProtocol) {
        guard let code = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = code
    }

    /// Returns the code that stands for an outcome in the tables of pam.d files.
    ///
    /// An overloaded module is `try_again`, not `authinfo_unavail`: a user can cause it, and `authinfo_unavail=ignore` must
    /// not let anybody leave a module out.
    public init(_ outcome: Outcome) {
        self =
            switch outcome.failure {
            case nil: outcome == .success ? .success : .ignore
            case .wrongCredentials: .authErr
            case .unknownUser: .userUnknown
            case .missingCredential: .credUnavail
            case .unusableCredential: .credErr
            case .locked: .maxtries
            case .disabled, .accountExpired: .acctExpired
            case .credentialExpired: .newAuthtokReqd
            case .permissionDenied: .permDenied
            case .unavailable: .authinfoUnavail
            case .overloaded: .tryAgain
            case .internalError: .systemErr
            }
    }
}
