// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import RealmKit
internal import ServerConnections

/// The way in which a user changes a password that has expired or must be changed.
enum PasswordChange: String, Sendable {
    /// By the bind of the user, which the server has accepted for this purpose only.
    case ownBind
    /// By the old password, in Active Directory.
    case activeDirectory

    /// The answer of a directory to a new password.
    enum Answer: Sendable {
        /// The answer to a login with the new password, or the problem of the old one.
        case login(DirectoryAnswer)
        /// The reason for the user why the new password is refused.
        case newPasswordRefused(String)
    }
}

extension LDAPSettings {
    /// Returns whether a user can change a password that has expired or must be changed.
    ///
    /// Active Directory takes the change only from another account, and OpenLDAP needs the distinguished name.
    func canChangePassword(by change: PasswordChange) -> Bool {
        guard mayChangePassword else { return false }
        switch location {
        case .search: return true
        case .directBind(let pattern, _): return pattern.isDistinguishedName && change == .ownBind
        }
    }
}

extension DirectoryLogin {
    /// Changes a password that has expired or must be changed to another one, which is not empty.
    func change(
        _ typed: TypedName,
        from old: Secret,
        to new: Secret,
        by change: PasswordChange
    ) throws(ServerFault) -> PasswordChange.Answer {
        guard change != .activeDirectory || QuotedPassword.make(new) != nil else {
            return .newPasswordRefused("The new password cannot be used.")
        }
        let name: String
        switch settings.location {
        case .search:
            guard let user = try find(typed) else {
                return .login(.refused(BindProblem(.unknownUser, "the entry of the user is gone")))
            }
            name = user.name
        case .directBind(let pattern, _):
            guard pattern.isDistinguishedName, let bindName = pattern.bindName(typed.user) else {
                throw ServerFault(.failed, "the password cannot be changed without the user's distinguished name")
            }
            name = bindName
        }
        if change == .ownBind, let problem = try bind(name, password: old), problem.change != .ownBind {
            return .login(.refused(problem))
        }
        let reply = try steps.measure(
            "change of the password of \(name)",
            try self.change(name, from: old, to: new, by: change)
        ) { $0.description }
        guard !reply.isSuccess else { return .login(try authenticate(typed, password: new)) }
        if change == .activeDirectory, let problem = BindProblem.ofChange(reply) { return .login(.refused(problem)) }
        guard let text = Self.rule(reply, change: change) else {
            throw ServerFault(.failed, "the password of \(name) cannot be changed: \(reply.description)")
        }
        return .newPasswordRefused(text)
    }

    private func change(
        _ name: String,
        from old: Secret,
        to new: Secret,
        by change: PasswordChange
    ) throws(ServerFault) -> LDAPReply {
        switch change {
        case .ownBind: return try connection.changeOwnPassword(of: name, from: old, to: new)
        case .activeDirectory:
            guard let old = QuotedPassword.make(old), let new = QuotedPassword.make(new) else {
                throw ServerFault(.failed, "a password that is not UTF-8 cannot be changed")
            }
            return try connection.changeActiveDirectoryPassword(of: name, from: old, to: new)
        }
    }

    /// Returns the reason for the user why a new password is refused; nil if the password is not the reason.
    private static func rule(_ reply: LDAPReply, change: PasswordChange) -> String? {
        if change == .activeDirectory {
            guard BindProblem.changeCode(reply.message) == BindProblem.passwordRestriction else { return nil }
            return "The new password does not meet the rules of the directory for its length, its characters or its "
                + "age, or was used before."
        }
        switch reply.policy?.problem {
        case .insufficientPasswordQuality: return "The new password is too simple."
        case .passwordTooShort: return "The new password is too short."
        case .passwordTooYoung: return "The password was changed too recently."
        case .passwordInHistory: return "The new password was used before."
        case .passwordExpired, .accountLocked, .changeAfterReset, .passwordModNotAllowed, .mustSupplyOldPassword:
            return nil
        case nil: return reply.code == LDAP_CONSTRAINT_VIOLATION ? "The directory rejects the new password." : nil
        }
    }
}

/// Passwords as the attribute `unicodePwd` of Active Directory takes them: in quotes, as UTF-16, the low byte first.
enum QuotedPassword {
    /// Returns the value for a password; nil if the password is not UTF-8.
    static func make(_ password: Secret) -> Secret? {
        password.withBytes { bytes in
            guard let text = try? UTF8Span(validating: bytes) else { return nil }
            // UTF-16 has at most two bytes for one byte of UTF-8.
            return Secret(capacity: 2 * bytes.count + 4) { output in
                func append(_ scalar: Unicode.Scalar) {
                    for unit in scalar.utf16 {
                        output.append(UInt8(truncatingIfNeeded: unit))
                        output.append(UInt8(truncatingIfNeeded: unit >> 8))
                    }
                }
                append("\"")
                var scalars = text.makeUnicodeScalarIterator()
                while let scalar = scalars.next() { append(scalar) }
                append("\"")
            }
        }
    }
}
#endif
