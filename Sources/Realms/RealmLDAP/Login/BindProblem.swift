// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import RealmKit

/// The reason why a bind as a user does not count as a login.
struct BindProblem: Sendable, Hashable {
    let failure: LoginFailure
    /// For the administrator.
    let text: String
    /// The way in which the user can change the password now; nil if that is not possible.
    var change: PasswordChange?
    /// The time by which the bind of a user with a wrong password would have taken longer.
    var missing = Duration.zero
    /// The name of the entry, if it was read.
    var user: Username?

    /// The refusal of a login to a locked account after a bind with the right password.
    static let lockedLogin = BindProblem(.wrongCredentials, "the account is locked here")

    /// The refusal of a login under another spelling than that of the entry: the failed logins of each spelling would be
    /// counted apart, so the answer must not differ from that to a wrong password.
    static let otherSpelling = BindProblem(.wrongCredentials, "the entry has another name than the typed one")

    /// The problem of an account whose entry says that it is disabled.
    static let disabled = BindProblem(.disabled, "an administrator has disabled the account")

    init(
        _ failure: LoginFailure,
        _ text: String,
        change: PasswordChange? = nil,
        missing: Duration = .zero
    ) {
        (self.failure, self.text, self.change, self.missing) = (failure, text, change, missing)
    }

    /// Returns the problem of a bind; nil if the user has signed in.
    ///
    /// The entry of the user tells whether an administrator has disabled the account.
    static func problem(_ reply: LDAPReply, isDisabled: Bool) -> BindProblem? {
        if reply.isSuccess {
            // A server whose password policy has no locks would let the user in.
            guard !isDisabled else { return disabled }
            guard reply.policy?.problem == .changeAfterReset else { return nil }
            return BindProblem(.credentialExpired, "the password must be changed", change: .ownBind)
        }
        if let problem = reply.policy?.problem {
            switch problem {
            case .accountLocked:
                return isDisabled ? disabled : BindProblem(.locked, "the directory has locked the account")
            case .passwordExpired: return BindProblem(.credentialExpired, "the password has expired")
            case .changeAfterReset: return BindProblem(.credentialExpired, "the password must be changed")
            default: break
            }
        }
        if reply.code == LDAP_INVALID_CREDENTIALS, let code = activeDirectoryCode(reply.message) {
            return activeDirectory(code)
        }
        switch reply.code {
        case LDAP_INVALID_CREDENTIALS: return BindProblem(.wrongCredentials, "the directory rejects the password")
        // The entry was removed or has no password.
        case LDAP_NO_SUCH_OBJECT, LDAP_INAPPROPRIATE_AUTH:
            return BindProblem(.wrongCredentials, "the entry has no password")
        // 389 Directory Server answers so for an account that was deactivated, or has too many failures.
        case LDAP_UNWILLING_TO_PERFORM: return BindProblem(.disabled, "the directory refuses binds of this account")
        case LDAP_CONSTRAINT_VIOLATION: return BindProblem(.locked, "the directory has locked the account")
        case LDAP_INSUFFICIENT_ACCESS: return BindProblem(.permissionDenied, "the user has no right to bind")
        default: return BindProblem(.unavailable, "the directory cannot decide")
        }
    }

    /// Returns the code that Active Directory adds to a rejected bind, as in `AcceptSecurityContext error, data 52e, v`.
    static func activeDirectoryCode(_ message: String) -> UInt32? {
        let bytes = Array(message.utf8)
        guard let start = bytes.firstRange(of: Array("AcceptSecurityContext".utf8)),
            let data = bytes[start.upperBound...].firstRange(of: Array("data ".utf8))
        else { return nil }
        let digits = bytes[data.upperBound...].prefix { Hexadecimal.value(of: $0) != nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// The codes are those of Windows for a logon that fails; in decimal they begin with 1317.
    private static func activeDirectory(_ code: UInt32) -> BindProblem {
        switch code {
        case 0x525: BindProblem(.wrongCredentials, "Active Directory does not know the user (data 525)")
        case 0x52E: BindProblem(.wrongCredentials, "the directory rejects the password (data 52e)")
        case 0x530: BindProblem(.permissionDenied, "the user must not sign in at this time (data 530)")
        case 0x531: BindProblem(.permissionDenied, "the user must not sign in from here (data 531)")
        case 0x532: BindProblem(.credentialExpired, "the password has expired (data 532)", change: .activeDirectory)
        case 0x533: BindProblem(.disabled, "an administrator has disabled the account (data 533)")
        case 0x701: BindProblem(.accountExpired, "the account has expired (data 701)")
        case 0x773: BindProblem(.credentialExpired, "the password must be changed (data 773)", change: .activeDirectory)
        case 0x775: BindProblem(.locked, "the directory has locked the account (data 775)")
        default: BindProblem(.wrongCredentials, "the directory rejects the bind (data \(String(code, radix: 16)))")
        }
    }

    // MARK: Changes of passwords

    /// The code of Windows for a new password that is against the rules.
    static let passwordRestriction: UInt32 = 0x52D

    /// Returns the code at the start of a message of Active Directory, as in `0000052D: AtrErr: DSID-03190F80, ...`.
    static func changeCode(_ message: String) -> UInt32? {
        let digits = message.utf8.prefix { Hexadecimal.value(of: $0) != nil }
        guard digits.count == 8, message.utf8.dropFirst(8).first == UInt8(ascii: ":") else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// Returns the problem of a change that Active Directory refuses; nil if the old password is not the reason.
    static func ofChange(_ reply: LDAPReply) -> BindProblem? {
        switch changeCode(reply.message) {
        case 0x56: BindProblem(.wrongCredentials, "the directory rejects the old password (56)")
        case 0x775: BindProblem(.locked, "the directory has locked the account (775)")
        default: nil
        }
    }
}
#endif
