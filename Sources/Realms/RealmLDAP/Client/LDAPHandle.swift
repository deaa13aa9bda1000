// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import Glibc
internal import OpenSSLKit
internal import RealmKit
internal import ServerConnections
internal import Workers

/// One connection of libldap, used by one thread at a time.
///
/// All waits are limited, and end when the call is cancelled. After a ``ServerFault`` the connection must be closed,
/// unless its code is `failed`.
@safe
final class LDAPHandle {
    let handle: OpaquePointer
    let descriptor: Int32
    private(set) var isClosed = false
    /// The number of searches whose answers have not been received.
    var unanswered = 0
    /// The number of bytes of entries that may still be received for one login.
    var bytesLeft = LDAPHandle.maximumBytes

    /// Opens a connection, with TLS if the settings ask for it; the attempt ends at a time of `MonotonicTime`.
    init(_ url: LDAPServerURL, transport: LDAPTransport, call: ServerCall, until time: UInt64) throws(ServerFault) {
        guard Self.isPrepared else { throw ServerFault(.failed, "libldap cannot be used") }
        descriptor = try LDAPSocket.open(url, call: call, until: time)
        var made: OpaquePointer?
        let kind = url.scheme == .ldapi ? LDAP_PROTO_IPC : LDAP_PROTO_TCP
        let status = unsafe ldap_init_fd(descriptor, kind, url.scheme == .ldapi ? nil : url.text, &made)
        guard status == LDAP_SUCCESS, let made = unsafe made else {
            Glibc.close(descriptor)
            let cause = unsafe String(cString: ldap_err2string(status))
            throw ServerFault(.failed, "libldap cannot use the connection: \(cause)")
        }
        unsafe handle = made
        do throws(ServerFault) {
            guard unsafe gatehouse_ldap_limit(made, Self.maximumAnswer) != 0 else {
                throw ServerFault(.failed, "libldap does not take the maximum size of an answer")
            }
            try setOptions()
            let isTrusted = try unsafe transport.start(on: handle, url: url) { wait throws(ServerFault) in
                try call.guarding(descriptor, until: time) { () throws(ServerFault) in wait() }
            }
            guard isTrusted else {
                let certificate = Self.presentedCertificate(url, transport: transport, call: call, until: time)
                let now = Int(Glibc.time(nil))
                let text = LDAPTransport.rejection(of: certificate, host: url.host, now: now)
                throw ServerFault(.unreachable, "no TLS connection: \(text)")
            }
        } catch {
            close(isBroken: true)
            throw error
        }
    }

    /// Returns the certificate of a server that was rejected; nil if it cannot be read.
    ///
    /// libldap does not keep it, so it is read on another connection, on which nothing is sent.
    private static func presentedCertificate(
        _ url: LDAPServerURL,
        transport: LDAPTransport,
        call: ServerCall,
        until time: UInt64
    ) -> Certificate? {
        // This is that connection itself, which a server may end as well.
        guard transport.checksCertificate else { return nil }
        let handle = try? LDAPHandle(url, transport: transport.withoutChecks, call: call, until: time)
        guard let handle else { return nil }
        defer { handle.close(isBroken: true) }
        return unsafe LDAPTransport.certificate(of: handle.handle)
    }

    deinit { close(isBroken: true) }

    /// The maximum size of one message, in bytes; without it, a server could make this program use up its memory by a
    /// number alone.
    private static let maximumAnswer: ber_len_t = 16 << 20

    /// The maximum size of all entries of one login, in bytes.
    static let maximumBytes = 64 << 20

    private static let isPrepared = gatehouse_ldap_prepare() != 0

    /// Sets all options that libldap might have read from files or from the environment.
    ///
    /// The time limits are those of the calls: with a time limit of its own, libldap waits for TLS without sleeping.
    private func setOptions() throws(ServerFault) {
        let none = timeval(tv_sec: -1, tv_usec: 0)
        let numbers = [
            (LDAP_OPT_PROTOCOL_VERSION, LDAP_VERSION3), (LDAP_OPT_DEREF, LDAP_DEREF_NEVER), (LDAP_OPT_SIZELIMIT, 0),
            (LDAP_OPT_TIMELIMIT, 0),
        ]
        for (option, value) in numbers {
            guard unsafe gatehouse_ldap_set_number(handle, option, value) == LDAP_OPT_SUCCESS else {
                throw ServerFault(.failed, "libldap does not take the option \(option)")
            }
        }
        guard unsafe gatehouse_ldap_set_off(handle, LDAP_OPT_REFERRALS) == LDAP_OPT_SUCCESS,
            unsafe gatehouse_ldap_set_time(handle, LDAP_OPT_NETWORK_TIMEOUT, none) == LDAP_OPT_SUCCESS,
            unsafe gatehouse_ldap_set_time(handle, LDAP_OPT_TIMEOUT, none) == LDAP_OPT_SUCCESS
        else { throw ServerFault(.failed, "libldap does not take its options") }
    }

    /// True if the server has neither closed the connection nor sent anything unasked.
    var isUsable: Bool {
        guard !isClosed else { return false }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) == 0
    }

    /// Closes the connection; nothing is sent to a server that may not read any more (`isBroken`).
    func close(isBroken: Bool) {
        guard !isClosed else { return }
        isClosed = true
        if isBroken { shutdown(descriptor, Int32(SHUT_RDWR)) }
        _ = unsafe ldap_unbind_ext(handle, nil, nil)
    }

    // MARK: Operations

    /// Binds with a name, or the name that the server takes instead, and a password (RFC 4513 section 5.1.3).
    ///
    /// The password must not be empty, because the server would then accept any name (RFC 4513 section 5.1.2).
    func bind(
        _ name: String,
        password: Secret,
        asksForPolicy: Bool,
        call: ServerCall,
        limit: Duration
    ) throws(ServerFault) -> LDAPReply {
        guard !name.isEmpty, !password.isEmpty, !name.utf8.contains(0) else {
            throw ServerFault(.failed, "a bind needs a name and a password")
        }
        var control: UnsafeMutablePointer<LDAPControl>?
        if asksForPolicy { _ = unsafe ldap_create_passwordpolicy_control(handle, &control) }
        defer { if let control = unsafe control { unsafe ldap_control_free(control) } }
        var controls = unsafe [control, nil]
        var number: Int32 = 0
        let status = unsafe Self.withValue(password) {
            unsafe ldap_sasl_bind(handle, name, nil, $0, &controls, nil, &number)
        }
        return try reply(LDAP_RES_BIND, to: status, number: number, call: call, limit: limit)
    }

    /// Binds by the client certificate of the connection (RFC 4513 section 5.2.3).
    func bindExternal(call: ServerCall, limit: Duration) throws(ServerFault) -> LDAPReply {
        var number: Int32 = 0
        // Without credentials, even empty ones, the server would ask for them.
        let status = unsafe Self.withValue("") { unsafe ldap_sasl_bind(handle, nil, "EXTERNAL", $0, nil, nil, &number) }
        return try reply(LDAP_RES_BIND, to: status, number: number, call: call, limit: limit)
    }

    /// Uses the extended operation of RFC 3062.
    func changePassword(
        of name: String,
        from old: Secret,
        to new: Secret,
        call: ServerCall,
        limit: Duration
    ) throws(ServerFault) -> LDAPReply {
        var control: UnsafeMutablePointer<LDAPControl>?
        _ = unsafe ldap_create_passwordpolicy_control(handle, &control)
        defer { if let control = unsafe control { unsafe ldap_control_free(control) } }
        var controls = unsafe [control, nil]
        var number: Int32 = 0
        let status = unsafe Self.withValue(name) { user in
            unsafe Self.withValue(old) { old in
                unsafe Self.withValue(new) { new in
                    unsafe ldap_passwd(handle, user, old, new, &controls, nil, &number)
                }
            }
        }
        return try reply(LDAP_RES_EXTENDED, to: status, number: number, call: call, limit: limit)
    }

    /// Replaces one value of an attribute by another one, in one operation.
    func replace(
        _ attribute: String,
        of name: String,
        from old: Secret,
        to new: Secret,
        call: ServerCall,
        limit: Duration
    ) throws(ServerFault) -> LDAPReply {
        var number: Int32 = 0
        let status = unsafe Self.withValue(old) { old in
            unsafe Self.withValue(new) { new in
                unsafe Self.withText(attribute) { attribute in
                    var oldValues = unsafe [old, nil]
                    var newValues = unsafe [new, nil]
                    return unsafe oldValues.withUnsafeMutableBufferPointer { oldValues in
                        unsafe newValues.withUnsafeMutableBufferPointer { newValues in
                            var removal = unsafe LDAPMod()
                            unsafe removal.mod_op = LDAP_MOD_DELETE | LDAP_MOD_BVALUES
                            unsafe removal.mod_type = attribute
                            unsafe removal.mod_vals.modv_bvals = oldValues.baseAddress
                            var addition = unsafe LDAPMod()
                            unsafe addition.mod_op = LDAP_MOD_ADD | LDAP_MOD_BVALUES
                            unsafe addition.mod_type = attribute
                            unsafe addition.mod_vals.modv_bvals = newValues.baseAddress
                            return unsafe withUnsafeMutablePointer(to: &removal) { removal in
                                unsafe withUnsafeMutablePointer(to: &addition) { addition in
                                    var changes = unsafe [removal, addition, nil]
                                    return unsafe ldap_modify_ext(handle, name, &changes, nil, nil, &number)
                                }
                            }
                        }
                    }
                }
            }
        }
        return try reply(LDAP_RES_MODIFY, to: status, number: number, call: call, limit: limit)
    }

    // MARK: Replies

    /// Waits for the reply to an operation, whose request was made with a status and a number.
    private func reply(
        _ kind: ber_tag_t,
        to status: Int32,
        number: Int32,
        call: ServerCall,
        limit: Duration
    ) throws(ServerFault) -> LDAPReply {
        guard status == LDAP_SUCCESS else { throw lost(status) }
        let message = try unsafe waiting(call, limit: limit) { end throws(ServerFault) in
            try unsafe next(number, kind: LDAP_MSG_ALL, until: end)
        }
        defer { unsafe _ = ldap_msgfree(message) }
        return try unsafe parse(message, as: kind).reply
    }

    /// Calls a function with the time, of `MonotonicTime`, until which it waits for messages.
    func waiting<Value>(
        _ call: ServerCall,
        limit: Duration,
        _ body: (UInt64) throws(ServerFault) -> Value
    ) throws(ServerFault) -> Value {
        let end = MonotonicTime.now &+ (try call.timeLeft(atMost: limit)).nanoseconds
        // libldap keeps the time, unless the server sends a part of an answer only.
        return try call.guarding(descriptor, until: end &+ 100_000_000) { () throws(ServerFault) in try body(end) }
    }

    /// Waits for one message or all messages of an operation.
    func next(_ number: Int32, kind: Int32, until end: UInt64) throws(ServerFault) -> OpaquePointer {
        let now = MonotonicTime.now
        let nanoseconds = end > now ? end - now : 0
        var time = timeval(tv_sec: Int(nanoseconds / 1_000_000_000), tv_usec: Int(nanoseconds % 1_000_000_000 / 1000))
        var message: OpaquePointer?
        errno = 0
        let result = unsafe ldap_result(handle, number, kind, &time, &message)
        guard result != 0 else {
            // Nothing more is sent to a server that may not read, not even the end of the connection.
            shutdown(descriptor, Int32(SHUT_RDWR))
            throw ServerFault(.timedOut, "no answer in time")
        }
        guard result > 0, let message = unsafe message else {
            // liblber sets this error for a message that is larger than the maximum.
            if kind == LDAP_MSG_ONE, errno == ERANGE { throw tooLarge("a message of more than 16 MiB") }
            throw lost(unsafe gatehouse_ldap_error(handle))
        }
        return unsafe message
    }

    /// Counts the bytes of an entry, and throws if the entries of a login have too many.
    func count(_ bytes: Int) throws(ServerFault) {
        guard bytes <= bytesLeft else { throw tooLarge("entries of more than 64 MiB for one login") }
        bytesLeft -= bytes
    }

    /// Closes the connection, on which more may arrive; the server is not lost, because a user may have made the own
    /// entry so large.
    private func tooLarge(_ problem: String) -> ServerFault {
        close(isBroken: true)
        return ServerFault(.failed, "a search has failed: the server has sent \(problem)")
    }

    func lost(_ status: Int32) -> ServerFault {
        ServerFault(.lost, "the connection has ended: \(unsafe String(cString: ldap_err2string(status)))")
    }

    /// Reads the result of an operation, and the position of the next page.
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
        var controls: UnsafeMutablePointer<UnsafeMutablePointer<LDAPControl>?>?
        let status = unsafe ldap_parse_result(handle, message, &code, nil, &text, nil, &controls, 0)
        defer {
            if let text = unsafe text { unsafe ldap_memfree(text) }
            if let controls = unsafe controls { unsafe ldap_controls_free(controls) }
        }
        guard status == LDAP_SUCCESS else { throw ServerFault(.lost, "the server has sent a malformed answer") }
        let line = unsafe text.map { LDAPText.printable(unsafe String(cString: $0)) }
        var reply = LDAPReply(code: code, message: line ?? "")
        try Self.check(reply)
        reply.policy = unsafe policy(controls)
        return (reply, unsafe cookie(controls))
    }

    /// Throws if a server cannot serve now.
    private static func check(_ reply: LDAPReply) throws(ServerFault) {
        switch reply.code {
        case LDAP_BUSY: throw ServerFault(.overloaded, "the server has answered \(reply.description)")
        case LDAP_UNAVAILABLE, LDAP_SERVER_DOWN, LDAP_CONNECT_ERROR:
            throw ServerFault(.unavailable, "the server has answered \(reply.description)")
        case LDAP_TIMELIMIT_EXCEEDED, LDAP_TIMEOUT:
            throw ServerFault(.timedOut, "the server has answered \(reply.description)")
        default: break
        }
    }

    private func policy(_ controls: UnsafeMutablePointer<UnsafeMutablePointer<LDAPControl>?>?) -> LDAPReply.Policy? {
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

    // MARK: Values

    static func bytes(_ value: berval) -> [UInt8] {
        guard let base = unsafe value.bv_val else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: base, count: Int(value.bv_len)))
    }

    private static func withValue<Result>(_ text: String, _ body: (UnsafeMutablePointer<berval>) -> Result) -> Result {
        // With the final NUL an empty text has an address, too.
        var bytes = Array(text.utf8) + [0]
        return unsafe bytes.withUnsafeMutableBytes { bytes in
            var value = unsafe berval(
                bv_len: ber_len_t(bytes.count - 1),
                bv_val: bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            )
            return unsafe body(&value)
        }
    }

    private static func withValue<Result>(
        _ secret: Secret,
        _ body: (UnsafeMutablePointer<berval>) -> Result
    ) -> Result {
        secret.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                // libldap does not write to the value.
                var value = unsafe berval(
                    bv_len: ber_len_t(bytes.count),
                    bv_val: UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
                )
                return unsafe body(&value)
            }
        }
    }

    private static func withText<Result>(_ text: String, _ body: (UnsafeMutablePointer<CChar>) -> Result) -> Result {
        var bytes = Array(text.utf8CString)
        return unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            // At least the final NUL.
            unsafe body(bytes.baseAddress.unsafelyUnwrapped)
        }
    }
}
#endif
