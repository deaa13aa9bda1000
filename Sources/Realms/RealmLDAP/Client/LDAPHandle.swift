// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import Glibc
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
    let transport: LDAPTransport
    /// The call that uses the connection now.
    var call: ServerCall
    private(set) var isClosed = false
    /// The number of searches whose answers have not been received.
    var unanswered = 0
    /// The number of bytes of entries that may still be received for one login.
    var bytesLeft = LDAPHandle.maximumBytes

    /// The maximum size of one message, in bytes; without it, a server could make this program use up its memory by a
    /// number alone.
    private static let maximumMessage: ber_len_t = 16 << 20

    /// The maximum size of all entries of one login, in bytes.
    static let maximumBytes = 64 << 20

    private static let isPrepared = gatehouse_ldap_prepare() != 0

    /// Opens a connection, with TLS if the settings ask for it; the attempt ends at a time of `MonotonicTime`.
    init(_ url: LDAPServerURL, transport: LDAPTransport, call: ServerCall, until time: UInt64) throws(ServerFault) {
        guard Self.isPrepared else { throw ServerFault(.failed, "libldap cannot be used") }
        (self.transport, self.call) = (transport, call)
        descriptor = try LDAPSocket.open(url, call: call, until: time)
        var made: OpaquePointer?
        let kind = url.scheme == .ldapi ? LDAP_PROTO_IPC : LDAP_PROTO_TCP
        let status = unsafe ldap_init_fd(descriptor, kind, url.scheme == .ldapi ? nil : url.text, &made)
        guard status == LDAP_SUCCESS, let made = unsafe made else {
            Glibc.close(descriptor)
            throw ServerFault(.failed, "libldap cannot use the connection: \(Self.text(of: status))")
        }
        unsafe handle = made
        do throws(ServerFault) {
            guard unsafe gatehouse_ldap_set_options(handle, Self.maximumMessage) != 0 else {
                throw ServerFault(.failed, "libldap does not take its options")
            }
            try startTLS(url, until: time)
        } catch {
            close(isBroken: true)
            throw error
        }
    }

    deinit { close(isBroken: true) }

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

    // MARK: Binds and changes of passwords

    /// Binds with a name, or the name that the server takes instead, and a password (RFC 4513 section 5.1.3).
    ///
    /// The password must not be empty, because the server would then accept any name (RFC 4513 section 5.1.2).
    func bind(_ name: String, password: Secret, asksForPolicy: Bool = true) throws(ServerFault) -> LDAPReply {
        guard !name.isEmpty, !password.isEmpty, !name.utf8.contains(0) else {
            throw ServerFault(.failed, "a bind needs a name and a password")
        }
        return try unsafe request(LDAP_RES_BIND, asksForPolicy: asksForPolicy) { controls, number in
            unsafe withValue(password) { unsafe ldap_sasl_bind(handle, name, nil, $0, controls, nil, &number) }
        }
    }

    /// Binds by the client certificate of the connection (RFC 4513 section 5.2.3).
    func bindExternal() throws(ServerFault) -> LDAPReply {
        try unsafe request(LDAP_RES_BIND, asksForPolicy: false) { _, number in
            // Without credentials, even empty ones, the server would ask for them.
            var nothing: CChar = 0
            return unsafe withUnsafeMutablePointer(to: &nothing) { nothing in
                var value = unsafe berval(bv_len: 0, bv_val: nothing)
                return unsafe ldap_sasl_bind(handle, nil, "EXTERNAL", &value, nil, nil, &number)
            }
        }
    }

    /// Changes the password of an entry by the extended operation of RFC 3062.
    func changePassword(of name: String, from old: Secret, to new: Secret) throws(ServerFault) -> LDAPReply {
        try unsafe request(LDAP_RES_EXTENDED, asksForPolicy: true) { controls, number in
            unsafe withValue(Secret(utf8: name)) { user in
                unsafe withValue(old) { old in
                    unsafe withValue(new) { new in
                        unsafe ldap_passwd(handle, user, old, new, controls, nil, &number)
                    }
                }
            }
        }
    }

    /// Replaces one value of an attribute of an entry by another one, in one operation.
    func replace(
        _ attribute: String,
        of name: String,
        from old: Secret,
        to new: Secret
    ) throws(ServerFault) -> LDAPReply {
        try unsafe request(LDAP_RES_MODIFY, asksForPolicy: false) { _, number in
            unsafe withValue(old) { old in
                unsafe withValue(new) { unsafe gatehouse_ldap_replace(handle, name, attribute, old, $0, &number) }
            }
        }
    }

    typealias Controls = UnsafeMutablePointer<UnsafeMutablePointer<LDAPControl>?>

    /// Sends a request, which gets the number of its message, and waits for the reply.
    private func request(
        _ kind: ber_tag_t,
        asksForPolicy: Bool,
        _ send: (Controls?, inout Int32) -> Int32
    ) throws(ServerFault) -> LDAPReply {
        var control: UnsafeMutablePointer<LDAPControl>?
        if asksForPolicy { _ = unsafe ldap_create_passwordpolicy_control(handle, &control) }
        defer { if let control = unsafe control { unsafe ldap_control_free(control) } }
        var controls = unsafe [control, nil]
        var number: Int32 = 0
        let status = unsafe controls.withUnsafeMutableBufferPointer { unsafe send($0.baseAddress, &number) }
        guard status == LDAP_SUCCESS else { throw lost(status) }
        let message = try unsafe waiting(transport.bindTimeout) { end throws(ServerFault) in
            try unsafe next(number, kind: LDAP_MSG_ALL, until: end)
        }
        defer { unsafe _ = ldap_msgfree(message) }
        return try unsafe parse(message, as: kind).reply
    }

    private func withValue<Result>(_ secret: Secret, _ body: (UnsafeMutablePointer<berval>) -> Result) -> Result {
        secret.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                // libldap does not write to the value.
                let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                let text = unsafe start?.assumingMemoryBound(to: CChar.self)
                var value = unsafe berval(bv_len: ber_len_t(bytes.count), bv_val: text)
                return unsafe body(&value)
            }
        }
    }

    // MARK: Messages

    /// Calls a function with the time, of `MonotonicTime`, until which it waits for messages.
    func waiting<Value>(
        _ limit: Duration,
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
        ServerFault(.lost, "the connection has ended: \(Self.text(of: status))")
    }

    /// Returns the text of libldap for a result code.
    static func text(of code: Int32) -> String { unsafe String(cString: ldap_err2string(code)) }

    static func bytes(_ value: berval) -> [UInt8] {
        guard let base = unsafe value.bv_val else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: base, count: Int(value.bv_len)))
    }
}

/// The connection to a server: TLS and the time limits of each step.
///
/// The certificate of the server is always checked: its chain, its dates, its names against the host of the URL, and its
/// purpose.
struct LDAPTransport: Sendable {
    /// True to use StartTLS (RFC 4511 section 4.14) with `ldap` URLs.
    var startsTLS = false
    /// A PEM file with the trusted authorities.
    var authorities: String
    /// The files of this program's own certificate; nil for none.
    var certificate: ClientCertificateFiles?
    /// The time for the connection and the handshake.
    var connectTimeout = Duration.seconds(3)
    /// The time for a bind or a change of a password.
    var bindTimeout = Duration.seconds(5)
    /// The time for the answer to a search.
    var searchTimeout = Duration.seconds(5)
    /// False only for a connection that reads the certificate of a server for a message, and sends nothing.
    var checksCertificate = true
}
#endif
