// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP

/// The result of one operation of a directory server.
struct LDAPReply: Sendable {
    /// The values of the password policy control (draft-behera-ldap-password-policy).
    struct Policy: Sendable, Hashable {
        /// The errors of the control.
        enum Problem: UInt32, Sendable, Hashable {
            case passwordExpired = 0
            case accountLocked = 1
            case changeAfterReset = 2
            case passwordModNotAllowed = 3
            case mustSupplyOldPassword = 4
            case insufficientPasswordQuality = 5
            case passwordTooShort = 6
            case passwordTooYoung = 7
            case passwordInHistory = 8
        }

        var problem: Problem?
        /// The seconds until the password expires.
        var secondsLeft: Int?
        /// The number of logins that are left with an expired password.
        var loginsLeft: Int?
    }

    /// The result code (RFC 4511 appendix A).
    let code: Int32
    /// The diagnostic message.
    let message: String
    /// The password policy control; nil if the server has sent none.
    var policy: Policy?

    var isSuccess: Bool { code == LDAP_SUCCESS }

    /// The code with its name and the message, for the log.
    var description: String {
        let name = unsafe String(cString: ldap_err2string(code))
        return message.isEmpty ? "\(code) (\(name))" : "\(code) (\(name)): \(message)"
    }
}

/// The entries that a search has found.
struct LDAPSearchReply: Sendable {
    let reply: LDAPReply
    let entries: [LDAPEntry]
    /// The position of the next page; empty after the last one.
    let cookie: [UInt8]
}

/// An entry of a directory.
struct LDAPEntry: Sendable {
    /// The distinguished name, as the server writes it.
    let name: String
    /// The attributes, with their names in lower case.
    let attributes: [(name: String, values: [[UInt8]])]
    /// False if the entry has more attributes or values than are read.
    var isComplete = true

    /// Returns the values of an attribute; none if there is no such attribute.
    ///
    /// - Parameter name: The name in lower case.
    /// - Returns: The values.
    func values(of name: String) -> [[UInt8]] {
        attributes.first { $0.name.hasBytes(of: name) }?.values ?? []
    }
}
#endif
