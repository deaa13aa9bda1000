// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// One TLS connection: an SSL and the BIO to its ``TLSTransport``.
///
/// It does no input or output: it takes ciphertext from the transport and puts ciphertext there, whenever it is
/// called. Call it from one thread at a time; it is not `Sendable`. Both C objects are freed when it is let go. After a
/// function has thrown, the connection is of no more use, but ciphertext left in the transport, an alert, should
/// still be sent.
@safe
public final class TLSConnection {
    /// How far a handshake has come.
    public enum HandshakeStep: Sendable, Hashable {
        /// More ciphertext of the peer is needed.
        case needsInput
        /// It is done; ``info`` is known now.
        case complete
    }

    /// What a read has brought.
    public enum ReadStep: Sendable, Hashable {
        /// This many bytes of plaintext, 1 or more.
        case bytes(Int)
        /// More ciphertext of the peer is needed.
        case needsInput
        /// The peer has sent close_notify: nothing more will come (RFC 8446 6.1).
        case endOfStream
    }

    /// What a write has done.
    public enum WriteStep: Sendable, Hashable {
        /// All of it is encrypted.
        case written
        /// Nothing is encrypted, as a message of the peer must be read to its end first; write the same again then.
        case needsInput
    }

    private let ssl: OpaquePointer
    private let context: TLSContext
    private var failed = false

    /// Makes the server side of a connection.
    ///
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` if the context is a client's, `libraryFailure`.
    public static func server(
        context: TLSContext,
        transport: any TLSTransport
    ) throws(OpenSSLError) -> TLSConnection {
        guard case .server = context.configuration.role else {
            throw OpenSSLError(.invalidConfiguration, context: "TLS server with the context of a client")
        }
        let connection = try TLSConnection(context: context, transport: transport)
        unsafe SSL_set_accept_state(connection.ssl)
        return connection
    }

    /// Makes the client side of a connection to a server of a name.
    ///
    /// - Parameters:
    ///   - context: A client's context.
    ///   - transport: Where ciphertext comes from and goes to.
    ///   - serverName: The host name or IP address that the certificate must carry. A host name is also sent
    ///     (RFC 6066 3).
    /// - Returns: A connection whose handshake has not begun.
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` if the context is a server's, `invalidName`,
    ///   `libraryFailure`.
    public static func client(
        context: TLSContext,
        transport: any TLSTransport,
        serverName: String
    ) throws(OpenSSLError) -> TLSConnection {
        guard case .client = context.configuration.role else {
            throw OpenSSLError(.invalidConfiguration, context: "TLS client with the context of a server")
        }
        let connection = try TLSConnection(context: context, transport: transport)
        try connection.expect(serverName)
        unsafe SSL_set_connect_state(connection.ssl)
        return connection
    }

    private init(context: TLSContext, transport: any TLSTransport) throws(OpenSSLError) {
        ErrorQueue.clear()
        let ssl = try unsafe context.withContext { context throws(OpenSSLError) in unsafe SSL_new(context) }
        guard let ssl = unsafe ssl else { throw .draining(.libraryFailure, context: "TLS connection") }
        do throws(OpenSSLError) {
            let bio = try unsafe TransportBIO.make(for: transport)
            // The same BIO for both directions: this takes over its one reference.
            unsafe SSL_set_bio(ssl, bio, bio)
        } catch {
            unsafe SSL_free(ssl)
            throw error
        }
        unsafe self.ssl = ssl
        self.context = context
    }

    deinit { unsafe SSL_free(ssl) }

    private func expect(_ name: String) throws(OpenSSLError) {
        guard !name.utf8.contains(0) else { throw OpenSSLError(.invalidName, context: "server name") }
        let parameters = unsafe SSL_get0_param(ssl)
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1 { return }
        ErrorQueue.clear()
        guard HostName.isValid(name), unsafe SSL_set1_host(ssl, name) == 1,
            unsafe gatehouse_SSL_set_tlsext_host_name(ssl, name) == 1
        else { throw .draining(.invalidName, context: "server name \"\(name)\"") }
        unsafe SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    }

    /// Goes on with the handshake as far as the ciphertext at hand allows.
    ///
    /// - Throws: ``OpenSSLError`` if the handshake has failed.
    public func handshake() throws(OpenSSLError) -> HandshakeStep {
        try refuseIfFailed()
        ErrorQueue.clear()
        let result = unsafe SSL_do_handshake(ssl)
        if result == 1 { return .complete }
        if unsafe SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return .needsInput }
        throw failure("TLS handshake")
    }

    /// Decrypts into the free space of `output`, at most one record.
    ///
    /// - Throws: ``OpenSSLError``: `alertReceived`, `protocolViolation` and others.
    public func read(into output: inout OutputRawSpan) throws(OpenSSLError) -> ReadStep {
        try refuseIfFailed()
        ErrorQueue.clear()
        var result: Int32 = 0
        var read = 0
        unsafe output.withUnsafeMutableBytes { buffer, initialized in
            guard let start = buffer.baseAddress else { return }
            unsafe result = SSL_read_ex(ssl, start + initialized, buffer.count - initialized, &read)
            if result == 1 { initialized += read }
        }
        if result == 1 { return .bytes(read) }
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .needsInput
        case SSL_ERROR_ZERO_RETURN: return .endOfStream
        case _: throw failure("TLS read")
        }
    }

    /// Encrypts bytes; in records of 16 KiB at most (RFC 8446 5.1).
    ///
    /// - Throws: ``OpenSSLError``, also if called after ``shutdown()``.
    public func write(_ plaintext: RawSpan) throws(OpenSSLError) -> WriteStep {
        try refuseIfFailed()
        guard plaintext.byteCount > 0 else { return .written }
        ErrorQueue.clear()
        var written = 0
        let result = unsafe plaintext.withUnsafeBytes { bytes in
            unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &written)
        }
        // Partial writes are off, so that one is all of it.
        if result == 1 { return .written }
        if unsafe SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return .needsInput }
        throw failure("TLS write")
    }

    /// Begins to encrypt under a new key (RFC 8446 4.6.3); the message goes out before the next write.
    ///
    /// - Parameter askingPeer: Whether the peer is to do the same.
    /// - Throws: ``OpenSSLError``, also in TLS 1.2, which has no such thing.
    public func updateKeys(askingPeer: Bool) throws(OpenSSLError) {
        try refuseIfFailed()
        ErrorQueue.clear()
        let type = askingPeer ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
        guard unsafe SSL_key_update(ssl, type) == 1, unsafe SSL_do_handshake(ssl) == 1 else {
            throw .draining(.invalidConfiguration, context: "TLS key update")
        }
    }

    /// Sends close_notify, once: nothing can be written any more, reading goes on (RFC 8446 6.1).
    ///
    /// Does nothing on a connection that has failed or is in its handshake, where there is no close_notify to send.
    ///
    /// - Throws: ``OpenSSLError``.
    public func shutdown() throws(OpenSSLError) {
        guard !failed, unsafe SSL_is_init_finished(ssl) == 1,
            unsafe SSL_get_shutdown(ssl) & SSL_SENT_SHUTDOWN == 0
        else { return }
        ErrorQueue.clear()
        if unsafe SSL_shutdown(ssl) < 0 { throw failure("TLS close") }
    }

    /// What was negotiated; known after the handshake.
    public var info: TLSConnectionInfo { unsafe TLSConnectionInfo(of: ssl) }

    /// The certificate that the peer has proven itself by, if there is one.
    ///
    /// - Throws: ``OpenSSLError`` with code `malformedCertificate` if it cannot be described.
    public func peerCertificate() throws(OpenSSLError) -> Certificate? {
        guard let x509 = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
        return try unsafe Certificate(owning: x509, context: "certificate of the peer")
    }

    private func refuseIfFailed() throws(OpenSSLError) {
        if failed { throw OpenSSLError(.protocolViolation, context: "TLS connection that failed before") }
    }

    private func failure(_ context: String) -> OpenSSLError {
        failed = true
        return unsafe HandshakeFailure.error(of: ssl, context: context)
    }
}
