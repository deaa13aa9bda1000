// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A TLS connection, which converts between ciphertext and plaintext.
///
/// It does no input or output. It keeps received ciphertext only while a record is incomplete. Bytes to send that do
/// not fit into the caller's buffer are returned by ``takeUnsent()``. They must be sent after the bytes in the buffer.
/// A connection may be used by only one thread at a time; it is not `Sendable`. The C objects are freed when the
/// connection is released. After a function has thrown, the connection cannot be used any more. The unsent bytes, which
/// contain an alert, should still be sent.
@safe
public final class TLSConnection {
    /// The progress of a handshake.
    public enum HandshakeStep: Sendable, Hashable {
        /// More ciphertext from the peer is needed.
        case needsInput
        /// The handshake is complete; ``info`` is available.
        case complete
    }

    /// The reason why a read has stopped.
    public enum ReadStep: Sendable, Hashable {
        /// All ciphertext is consumed and all its plaintext is read. More ciphertext from the peer is needed.
        case needsInput
        /// The buffer is full. There may be more plaintext.
        case isFull
        /// The peer has sent close_notify: no more data follows (RFC 8446 6.1).
        case endOfStream
    }

    /// The result of a write.
    public enum WriteStep: Sendable, Hashable {
        /// All bytes are encrypted.
        case written
        /// Nothing is encrypted, because a message of the peer must first be read completely. The caller must then
        /// write the same bytes again.
        case needsInput
    }

    private let ssl: OpaquePointer
    private let bioState: UnsafeMutablePointer<BIOState>
    private let context: TLSContext
    private var failed = false

    /// Makes a connection for a server.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if the context is a client's, or with code
    ///   `libraryFailure`.
    public static func server(context: TLSContext) throws(OpenSSLError) -> TLSConnection {
        guard case .server = context.configuration.role else {
            throw .invalid("TLS server with the context of a client")
        }
        let connection = try TLSConnection(context: context)
        unsafe SSL_set_accept_state(connection.ssl)
        return connection
    }

    /// Makes a connection for a client, whose handshake has not begun.
    ///
    /// The server's certificate must contain the host name or IP address. A host name is also sent to the server
    /// (RFC 6066 3).
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if the context is a server's, with code
    ///   `invalidName` for an invalid server name, or with code `libraryFailure`.
    public static func client(context: TLSContext, serverName: String) throws(OpenSSLError) -> TLSConnection {
        guard case .client = context.configuration.role else {
            throw .invalid("TLS client with the context of a server")
        }
        let connection = try TLSConnection(context: context)
        try connection.setExpectedName(serverName)
        unsafe SSL_set_connect_state(connection.ssl)
        return connection
    }

    private init(context: TLSContext) throws(OpenSSLError) {
        ErrorQueue.clear()
        let ssl = try unsafe context.withContext { context throws(OpenSSLError) in unsafe SSL_new(context) }
        guard let ssl = unsafe ssl else { throw .failed("TLS connection") }
        unsafe self.ssl = ssl
        unsafe bioState = .allocate(capacity: 1)
        unsafe bioState.initialize(to: BIOState())
        self.context = context
        // From here on deinit frees the C objects, also after an error.
        let bio = try unsafe BIOState.makeBIO(over: bioState)
        // Both directions use the same BIO. The SSL takes over its only reference.
        unsafe SSL_set_bio(ssl, bio, bio)
    }

    // SSL_free also frees the BIO. The state that the BIO points to is freed afterwards.
    deinit {
        unsafe SSL_free(ssl)
        unsafe bioState.deinitialize(count: 1)
        unsafe bioState.deallocate()
    }

    private func setExpectedName(_ name: String) throws(OpenSSLError) {
        guard !name.utf8.contains(0) else { throw OpenSSLError(.invalidName, context: "server name") }
        let parameters = unsafe SSL_get0_param(ssl)
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1 { return }
        ErrorQueue.clear()
        guard DNSName.isValid(name), unsafe SSL_set1_host(ssl, name) == 1,
            unsafe gatehouse_SSL_set_tlsext_host_name(ssl, name) == 1
        else { throw .draining(.invalidName, context: "server name \"\(name)\"") }
        // RFC 9525 2: a common name is not a host name.
        let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
        unsafe SSL_set_hostflags(ssl, UInt32(flags))
    }

    /// Continues the handshake as far as the next bytes from the peer allow, which may be none.
    ///
    /// - Returns: The progress, and the number of consumed bytes. While input is needed, all bytes are consumed. After
    ///   the handshake the caller must pass the remaining bytes to ``read(_:into:)``.
    /// - Throws: ``OpenSSLError`` if the handshake has failed.
    public func handshake(_ ciphertext: RawSpan) throws(OpenSSLError) -> (step: HandshakeStep, taken: Int) {
        try throwIfFailed()
        ErrorQueue.clear()
        var rest = 0
        let result = unsafe ciphertext.withUnsafeBytes { bytes in
            unsafe bioState.pointee.setInput(bytes)
            let result = unsafe SSL_do_handshake(ssl)
            unsafe rest = bioState.pointee.inputCount
            unsafe bioState.pointee.clearInput()
            return result
        }
        let taken = ciphertext.byteCount - rest
        if result == 1 {
            unsafe bioState.pointee.resetMessageCounts()
            return (.complete, taken)
        }
        if isWaitingForInput { return (.needsInput, taken) }
        throw failure("TLS handshake")
    }

    /// Decrypts the next bytes from the peer, which may be none, into the free space of `plaintext`, record after record.
    ///
    /// The plaintext is never longer than the ciphertext and the stored part of an incomplete record together. If the
    /// function throws, the buffer contains the plaintext before the error.
    ///
    /// - Returns: The reason why the read has stopped, and the number of consumed bytes. If input is needed, all bytes
    ///   are consumed.
    /// - Throws: ``OpenSSLError`` with code `alertReceived`, `protocolViolation` or another code.
    public func read(
        _ ciphertext: RawSpan,
        into plaintext: inout OutputRawSpan
    ) throws(OpenSSLError) -> (step: ReadStep, taken: Int) {
        try throwIfFailed()
        ErrorQueue.clearIfNeeded()
        var result: Int32 = 1
        var isDone = false
        var rest = 0
        unsafe ciphertext.withUnsafeBytes { bytes in
            unsafe bioState.pointee.setInput(bytes)
            unsafe plaintext.withUnsafeMutableBytes { buffer, initialized in
                guard let start = buffer.baseAddress else { return }
                while initialized < buffer.count {
                    var count = 0
                    unsafe result = SSL_read_ex(ssl, start + initialized, buffer.count - initialized, &count)
                    guard result == 1 else { return }
                    initialized += count
                    unsafe bioState.pointee.resetConsecutiveMessages()
                    // If space is left, the record has ended. Without further input OpenSSL need not be called again.
                    if unsafe bioState.pointee.inputCount == 0, initialized < buffer.count {
                        isDone = true
                        return
                    }
                }
            }
            unsafe rest = bioState.pointee.inputCount
            unsafe bioState.pointee.clearInput()
        }
        let taken = ciphertext.byteCount - rest
        if isDone { return (.needsInput, taken) }
        if result == 1 { return (.isFull, taken) }
        if isWaitingForInput { return (.needsInput, taken) }
        if unsafe bioState.pointee.isFlooded {
            failed = true
            throw OpenSSLError(.protocolViolation, context: "TLS read", reasons: ["too many messages without data"])
        }
        if unsafe SSL_get_error(ssl, result) == SSL_ERROR_ZERO_RETURN { return (.endOfStream, taken) }
        throw failure("TLS read")
    }

    /// Encrypts bytes in records of at most 16 KiB (RFC 8446 5.1), with an overhead of at most 29 bytes each.
    ///
    /// Either all bytes are encrypted, or none, and the result is `needsInput`. Ciphertext that does not fit into the
    /// buffer is kept as unsent bytes. If there are unsent bytes already, the buffer is not used.
    ///
    /// - Throws: ``OpenSSLError``, also after a call of ``shutdown()``.
    public func write(_ plaintext: RawSpan, into ciphertext: inout OutputRawSpan) throws(OpenSSLError) -> WriteStep {
        try throwIfFailed()
        guard plaintext.byteCount > 0 else { return .written }
        ErrorQueue.clearIfNeeded()
        var written = 0
        var result: Int32 = 0
        unsafe plaintext.withUnsafeBytes { bytes in
            unsafe ciphertext.withUnsafeMutableBytes { space, initialized in
                let free = space.count - initialized
                unsafe bioState.pointee.setOutput(space: space.baseAddress.map { unsafe $0 + initialized }, count: free)
                unsafe result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &written)
                unsafe initialized += bioState.pointee.clearOutput()
            }
        }
        // Partial writes are disabled, so a successful write is complete.
        if result == 1 { return .written }
        if isWaitingForInput { return .needsInput }
        throw failure("TLS write")
    }

    /// The number of bytes to send that did not fit into the caller's buffer.
    public var unsentCount: Int { unsafe bioState.pointee.unsent.count }

    /// Removes and returns the bytes to send that did not fit into the caller's buffer.
    public func takeUnsent() -> [UInt8] {
        defer { unsafe bioState.pointee.unsent = [] }
        return unsafe bioState.pointee.unsent
    }

    /// Frees OpenSSL's two record buffers (34 KiB), unless they contain a part of a record.
    ///
    /// Call it for idle connections. OpenSSL allocates the buffers again when they are needed. Plaintext in the
    /// buffers is wiped.
    public func releaseBuffers() { _ = unsafe SSL_free_buffers(ssl) }

    /// Sends close_notify (RFC 8446 6.1); then nothing more can be written, and reading continues.
    ///
    /// It does nothing if close_notify was already sent, if the connection has failed, or during the handshake.
    ///
    /// - Throws: ``OpenSSLError``.
    public func shutdown() throws(OpenSSLError) {
        guard !failed, unsafe SSL_is_init_finished(ssl) == 1,
            unsafe SSL_get_shutdown(ssl) & SSL_SENT_SHUTDOWN == 0
        else { return }
        ErrorQueue.clear()
        if unsafe SSL_shutdown(ssl) < 0 { throw failure("TLS close") }
    }

    /// The negotiated properties, available after the handshake.
    public var info: TLSConnectionInfo { unsafe TLSConnectionInfo(of: ssl, serverName: bioState.pointee.serverName) }

    /// Returns the verified chain of the peer's certificate, from the certificate to the authority.
    ///
    /// The chain was verified in this handshake, also if the session was resumed. It is empty if the peer has sent no
    /// certificate, or if the client has pinned the server's certificate, because no chain is then verified.
    public func verifiedPeerChain() -> [Certificate] {
        guard unsafe SSL_is_init_finished(ssl) == 1, unsafe SSL_get_verify_result(ssl) == X509_V_OK else { return [] }
        if unsafe SSL_is_server(ssl) == 1, unsafe SSL_session_reused(ssl) == 1 {
            return unsafe bioState.pointee.resumedChain
        }
        guard unsafe SSL_get0_peer_certificate(ssl) != nil else { return [] }
        return unsafe PeerVerification.certificates(SSL_get0_verified_chain(ssl)) ?? []
    }

    /// Calls `body` with the SSL, which it must not free.
    package func withSSL<R>(_ body: (OpaquePointer) -> R) -> R {
        defer { withExtendedLifetime(self) {} }
        return unsafe body(ssl)
    }

    /// True if the last call has stopped because it needs more ciphertext.
    ///
    /// SSL_get_error(3) also reports this, but only if other code has left no error in the thread's error queue.
    private var isWaitingForInput: Bool { unsafe bioState.pointee.isStarved && SSL_want(ssl) == SSL_READING }

    private func throwIfFailed() throws(OpenSSLError) {
        if failed { throw OpenSSLError(.protocolViolation, context: "TLS connection that failed before") }
    }

    private func failure(_ context: String) -> OpenSSLError {
        failed = true
        return unsafe ConnectionFailure.error(of: ssl, context: context)
    }
}
