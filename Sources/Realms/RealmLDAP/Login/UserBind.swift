// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import RealmKit
internal import Synchronization
internal import Workers

/// The reason why a bind as a user does not count as a login.
struct BindProblem: Sendable, Hashable {
    let failure: LoginFailure
    /// For the administrator.
    let text: String
    /// How the user can change the password now; nil if that is not possible.
    var change: PasswordChange?

    enum PasswordChange: String, Sendable {
        /// By the bind of the user, which the server has accepted for this purpose only.
        case ownBind
        /// By the old password, in Active Directory.
        case activeDirectory
    }

    /// The refusal of a login to a locked account after a bind with the right password.
    static let lockedLogin = BindProblem(.wrongCredentials, "the account is locked here")

    /// The refusal of a login under another spelling than that of the entry: the failed logins of each spelling would be
    /// counted apart, so the answer must not differ from that to a wrong password.
    static let otherSpelling = BindProblem(.wrongCredentials, "the entry has another name than the typed one")

    init(_ failure: LoginFailure, _ text: String, change: PasswordChange? = nil) {
        self.failure = failure
        self.text = text
        self.change = change
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

    /// The problem of an account whose entry says that it is disabled.
    static let disabled = BindProblem(.disabled, "an administrator has disabled the account")

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

extension LDAPSettings {
    /// Returns whether a user can change a password that has expired or must be changed.
    ///
    /// Active Directory takes the change only from another account, and OpenLDAP needs the distinguished name.
    func canChangePassword(by change: BindProblem.PasswordChange) -> Bool {
        guard mayChangePassword else { return false }
        switch location {
        case .search: return true
        case .directBind(let pattern, _): return pattern.isDistinguishedName && change == .ownBind
        }
    }
}

/// The times that the last binds took, in nanoseconds, by which all refusals take as long.
///
/// For an unknown user there is nothing to bind as, and a directory refuses some binds without computing the hash of
/// the password, for example those of locked users. Such answers would come early, and reveal which users exist. They
/// wait as long as one of the last binds with a wrong password took. Binds begin at times of `MonotonicTime`.
final class BindTimes: Sendable {
    private struct Times {
        private(set) var all: [UInt64] = []
        private var next = 0

        mutating func add(_ time: UInt64) {
            if all.count < BindTimes.count {
                all.append(time)
            } else {
                all[next] = time
                next = (next + 1) % BindTimes.count
            }
        }
    }

    private struct State {
        var accepted = Times()
        var refused = Times()
        /// A refusal in less time has computed no hash: half of the median of the accepted binds.
        var limit: UInt64 = 0
    }

    private static let count = 32
    /// A bind that has waited for a server would delay the logins of unknown users for no reason.
    private static let maximum: UInt64 = 2_000_000_000

    private let state = Mutex(State())

    /// Records an accepted bind, for which the directory has computed a hash.
    func addAccepted(since start: UInt64) {
        let time = Self.time(since: start)
        state.withLock { state in
            state.accepted.add(time)
            state.limit = state.accepted.all.sorted()[state.accepted.all.count / 2] / 2
        }
    }

    /// Records a refused bind, and returns the time for which the answer must wait.
    func addRefused(since start: UInt64) -> Duration {
        let time = Self.time(since: start)
        return state.withLock { state in
            guard time < state.limit else {
                state.refused.add(time)
                return .zero
            }
            return Self.missing(state, after: time)
        }
    }

    /// Returns the time by which a bind with a wrong password would have taken longer.
    func missing(since start: UInt64) -> Duration {
        let time = Self.time(since: start)
        return state.withLock { Self.missing($0, after: time) }
    }

    private static func missing(_ state: State, after time: UInt64) -> Duration {
        let sample = sample(state)
        return .nanoseconds(Int64(clamping: sample > time ? sample - time : 0))
    }

    /// Returns the time for which the answer for an unknown user must wait; zero if no bind is known.
    func sample() -> Duration { state.withLock { .nanoseconds(Int64(clamping: Self.sample($0))) } }

    private static func sample(_ state: State) -> UInt64 {
        // Early refusals may have been recorded before the first accepted bind.
        state.refused.all.filter { $0 >= state.limit }.randomElement() ?? state.accepted.all.randomElement() ?? 0
    }

    private static func time(since start: UInt64) -> UInt64 { min(MonotonicTime.now &- start, maximum) }
}

/// Passwords as the attribute `unicodePwd` of Active Directory takes them: in quotes, as UTF-16, the low byte first.
enum QuotedPassword {
    /// Returns the value for a password; nil if the password is not UTF-8.
    static func make(_ password: Secret) -> Secret? {
        password.withBytes { bytes in
            guard Self.isUTF8(bytes) else { return nil }
            // UTF-16 has at most two bytes for one byte of UTF-8.
            return Secret(capacity: 2 * bytes.count + 4) { output in
                func append(_ unit: UInt16) {
                    output.append(UInt8(truncatingIfNeeded: unit))
                    output.append(UInt8(truncatingIfNeeded: unit >> 8))
                }
                append(UInt16(UInt8(ascii: "\"")))
                var index = 0
                while index < bytes.count {
                    let scalar = Self.scalar(bytes, at: &index)
                    if scalar < 0x10000 {
                        append(UInt16(scalar))
                    } else {
                        append(UInt16(0xD7C0 + (scalar >> 10)))
                        append(UInt16(0xDC00 + (scalar & 0x3FF)))
                    }
                }
                append(UInt16(UInt8(ascii: "\"")))
            }
        }
    }

    private static func isUTF8(_ bytes: Span<UInt8>) -> Bool { (try? UTF8Span(validating: bytes)) != nil }

    /// Returns the next character of valid UTF-8.
    private static func scalar(_ bytes: Span<UInt8>, at index: inout Int) -> UInt32 {
        let first = UInt32(bytes[index])
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var value = length == 1 ? first : first & (0x7F >> UInt32(length))
        for offset in 1..<max(length, 1) { value = value << 6 | UInt32(bytes[index + offset] & 0x3F) }
        index += length
        return value
    }
}
#endif
