// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import ServerConnections

/// The result of an operation.
struct LDAPReply: Sendable {
    /// The values of the password policy control (draft-behera-ldap-password-policy).
    struct Policy: Sendable, Hashable {
        enum Problem: UInt32, Sendable, Hashable {
            case passwordExpired = 0, accountLocked, changeAfterReset, passwordModNotAllowed, mustSupplyOldPassword
            case insufficientPasswordQuality, passwordTooShort, passwordTooYoung, passwordInHistory
        }

        var problem: Problem?
        /// The seconds until the password expires.
        var secondsLeft: Int?
        /// The number of logins that are left with an expired password.
        var loginsLeft: Int?
    }

    /// The result code (RFC 4511 appendix A).
    let code: Int32
    let message: String
    /// The password policy control; nil if the server has sent none.
    var policy: Policy?
    var isSuccess: Bool { code == LDAP_SUCCESS }

    /// The code with its name and the message, for the log.
    var description: String {
        let text = "\(code) (\(LDAPHandle.text(of: code)))"
        return message.isEmpty ? text : "\(text): \(message)"
    }
}

extension LDAPHandle {
    /// Reads the result of an operation, and the position of the next page; throws if the server cannot serve now.
    func parse(
        _ message: OpaquePointer,
        as kind: ber_tag_t
    ) throws(ServerFault) -> (reply: LDAPReply, cookie: [UInt8]) {
        // libldap takes a result of any operation for the last message.
        var last = unsafe message
        while let next = unsafe ldap_next_message(handle, last) { unsafe last = next }
        guard unsafe ldap_msgtype(last) == Int32(bitPattern: UInt32(kind)) else {
            throw ServerFault(.lost, "the server has sent the answer to another kind of request")
        }
        var code: Int32 = 0
        var text: UnsafeMutablePointer<CChar>?
        var controls: Controls?
        let status = unsafe ldap_parse_result(handle, message, &code, nil, &text, nil, &controls, 0)
        defer {
            if let text = unsafe text { unsafe ldap_memfree(text) }
            if let controls = unsafe controls { unsafe ldap_controls_free(controls) }
        }
        guard status == LDAP_SUCCESS else { throw ServerFault(.lost, "the server has sent a malformed answer") }
        let line = unsafe text.map { LDAPText.printable(unsafe String(cString: $0)) } ?? ""
        let reply = LDAPReply(code: code, message: line, policy: unsafe policy(controls))
        let fault: ServerFault.Code? =
            switch code {
            case LDAP_BUSY: .overloaded
            case LDAP_UNAVAILABLE, LDAP_SERVER_DOWN, LDAP_CONNECT_ERROR: .unavailable
            case LDAP_TIMELIMIT_EXCEEDED, LDAP_TIMEOUT: .timedOut
            default: nil
            }
        if let fault { throw ServerFault(fault, "the server has answered \(reply.description)") }
        return (reply, unsafe cookie(controls))
    }

    private func policy(_ controls: Controls?) -> LDAPReply.Policy? {
        guard unsafe controls != nil,
            let control = unsafe ldap_control_find(LDAP_CONTROL_PASSWORDPOLICYRESPONSE, controls, nil)
        else { return nil }
        var seconds: ber_int_t = -1
        var logins: ber_int_t = -1
        var problem = LDAPPasswordPolicyError(rawValue: UInt32(UInt16.max))
        guard unsafe ldap_parse_passwordpolicy_control(handle, control, &seconds, &logins, &problem) == LDAP_SUCCESS
        else { return nil }
        return LDAPReply.Policy(
            problem: LDAPReply.Policy.Problem(rawValue: problem.rawValue),
            secondsLeft: seconds >= 0 ? Int(seconds) : nil,
            loginsLeft: logins >= 0 ? Int(logins) : nil
        )
    }

    private func cookie(_ controls: Controls?) -> [UInt8] {
        guard unsafe controls != nil, let control = unsafe ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, controls, nil)
        else { return [] }
        var count: ber_int_t = 0
        var value = unsafe berval()
        guard unsafe ldap_parse_pageresponse_control(handle, control, &count, &value) == LDAP_SUCCESS else { return [] }
        defer { if let base = unsafe value.bv_val { unsafe ber_memfree(base) } }
        return unsafe Self.bytes(value)
    }
}
#endif
