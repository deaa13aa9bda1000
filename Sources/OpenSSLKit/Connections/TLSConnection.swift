// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// One TLS connection: an SSL between ciphertext that it is lent and plaintext.
///
/// It does no input or output and keeps no ciphertext but an unfinished record. What the functions have to send and
/// were lent no space for is in ``unsentCount`` and ``takeUnsent()``, and comes after what they wrote to space that was
/// lent. Call it from one thread at a time; it is not `Sendable`. The C objects are freed when it is let go. After a
/// function has thrown, the connection is of no more use, but what is unsent, an alert, should still be sent.
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
        /// All ciphertext is taken, all plaintext of it is there; more of the peer is needed.
        case needsInput
        /// The space is used up; there may be more plaintext.
        case isFull
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
    private let exchange: UnsafeMutablePointer<Exchange>
    private let context: TLSContext
    private var failed = false

    /// Makes the server side of a connection.
    ///
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` if the context is a client's, `libraryFailure`.
    public static func server(
        context: TLSContext
    ) throws(OpenSSLError) -> TLSConnection {
        guard case .server = context.configuration.role else {
            throw OpenSSLError(.invalidConfiguration, context: "TLS server with the context of a client")
        }
        let connection = try TLSConnection(context: context)
        unsafe SSL_set_accept_state(connection.ssl)
        return connection
    }

    /// Makes the client side of a connection to a server of a name.
    ///
    /// - Parameters:
    ///   - context: A client's context.
    ///   - serverName: The host name or IP address that the certificate must carry. A host name is also sent
    ///     (RFC 6066 3).
    /// - Returns: A connection whose handshake has not begun.
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` if the context is a server's, `invalidName`,
    ///   `libraryFailure`.
    public static func client(
        context: TLSContext,
        serverName: String
    ) throws(OpenSSLError) -> TLSConnection {
        guard case .client = context.configuration.role else {
            throw OpenSSLError(.invalidConfiguration, context: "TLS client with the context of a server")
        }
        let connection = try TLSConnection(context: context)
        try connection.expect(serverName)
        unsafe SSL_set_connect_state(connection.ssl)
        return connection
    }

    private init(context: TLSContext) throws(OpenSSLError) {
        ErrorQueue.clear()
        let ssl = try unsafe context.withContext { context throws(OpenSSLError) in unsafe SSL_new(context) }
        guard let ssl = unsafe ssl else { throw .draining(.libraryFailure, context: "TLS connection") }
        let exchange = UnsafeMutablePointer<Exchange>.allocate(capacity: 1)
        unsafe exchange.initialize(to: Exchange())
        do throws(OpenSSLError) {
            let bio = try unsafe Exchange.makeBIO(over: exchange)
            // The same BIO for both directions: this takes over its one reference.
            unsafe SSL_set_bio(ssl, bio, bio)
        } catch {
            unsafe SSL_free(ssl)
            unsafe exchange.deinitialize(count: 1)
            unsafe exchange.deallocate()
            throw error
        }
        unsafe self.ssl = ssl
        unsafe self.exchange = exchange
        self.context = context
    }

    // The BIO ends with the SSL, before what it points at.
    deinit {
        unsafe SSL_free(ssl)
        unsafe exchange.deinitialize(count: 1)
        unsafe exchange.deallocate()
    }

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
    /// - Parameter ciphertext: The next bytes from the peer; may be empty.
    /// - Returns: How far it has come, and how many bytes of the ciphertext are done with: all, while input is needed;
    ///   offer the others to ``read(_:into:)``.
    /// - Throws: ``OpenSSLError`` if the handshake has failed.
    public func handshake(_ ciphertext: RawSpan) throws(OpenSSLError) -> (step: HandshakeStep, taken: Int) {
        try refuseIfFailed()
        ErrorQueue.clear()
        var rest = 0
        let result = unsafe ciphertext.withUnsafeBytes { bytes in
            unsafe exchange.pointee.lend(bytes)
            let result = unsafe SSL_do_handshake(ssl)
            unsafe rest = exchange.pointee.inputCount
            unsafe exchange.pointee.takeBackInput()
            return result
        }
        let taken = ciphertext.byteCount - rest
        if result == 1 {
            unsafe exchange.pointee.noteHandshakeCompleted()
            return (.complete, taken)
        }
        if isWaitingForInput { return (.needsInput, taken) }
        throw failure("TLS handshake")
    }

    /// Decrypts ciphertext into the free space of `plaintext`, record after record.
    ///
    /// Plaintext is never longer than the ciphertext that it comes from, to which a record's unfinished part counts.
    ///
    /// - Parameters:
    ///   - ciphertext: The next bytes from the peer; may be empty.
    ///   - plaintext: Where plaintext goes; what was decrypted before a fault is there even if this throws.
    /// - Returns: Why it went no further, and how many bytes of the ciphertext are done with: all, while input is needed.
    /// - Throws: ``OpenSSLError``: `alertReceived`, `protocolViolation` and others.
    public func read(
        _ ciphertext: RawSpan,
        into plaintext: inout OutputRawSpan
    ) throws(OpenSSLError) -> (step: ReadStep, taken: Int) {
        try refuseIfFailed()
        ErrorQueue.clearIfNeeded()
        var result: Int32 = 1
        var isDone = false
        var rest = 0
        unsafe ciphertext.withUnsafeBytes { bytes in
            unsafe exchange.pointee.lend(bytes)
            unsafe plaintext.withUnsafeMutableBytes { buffer, initialized in
                guard let start = buffer.baseAddress else { return }
                while initialized < buffer.count {
                    var count = 0
                    unsafe result = SSL_read_ex(ssl, start + initialized, buffer.count - initialized, &count)
                    guard result == 1 else { return }
                    initialized += count
                    unsafe exchange.pointee.notePlaintext()
                    // A record that leaves space is at its end, and without a next one it need not be asked for.
                    if unsafe exchange.pointee.inputCount == 0, initialized < buffer.count {
                        isDone = true
                        return
                    }
                }
            }
            unsafe rest = exchange.pointee.inputCount
            unsafe exchange.pointee.takeBackInput()
        }
        let taken = ciphertext.byteCount - rest
        if isDone { return (.needsInput, taken) }
        if result == 1 { return (.isFull, taken) }
        if isWaitingForInput { return (.needsInput, taken) }
        if unsafe exchange.pointee.isFlooded {
            failed = true
            throw OpenSSLError(.protocolViolation, context: "TLS read", reasons: ["too many messages without data"])
        }
        if unsafe SSL_get_error(ssl, result) == SSL_ERROR_ZERO_RETURN { return (.endOfStream, taken) }
        throw failure("TLS read")
    }

    /// Encrypts bytes; in records of 16 KiB at most (RFC 8446 5.1), each with 29 bytes besides at most.
    ///
    /// - Parameters:
    ///   - plaintext: What to encrypt; all of it is or nothing.
    ///   - ciphertext: Where it goes; what does not fit is unsent then. Not used if something is unsent already.
    /// - Returns: Whether it is encrypted.
    /// - Throws: ``OpenSSLError``, also if called after ``shutdown()``.
    public func write(
        _ plaintext: RawSpan,
        into ciphertext: inout OutputRawSpan
    ) throws(OpenSSLError) -> WriteStep {
        try refuseIfFailed()
        guard plaintext.byteCount > 0 else { return .written }
        ErrorQueue.clearIfNeeded()
        var written = 0
        var result: Int32 = 0
        unsafe plaintext.withUnsafeBytes { bytes in
            unsafe ciphertext.withUnsafeMutableBytes { space, initialized in
                let free = space.count - initialized
                unsafe exchange.pointee.lend(space: space.baseAddress.map { unsafe $0 + initialized }, count: free)
                unsafe result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &written)
                unsafe initialized += exchange.pointee.takeBackOutput()
            }
        }
        // Partial writes are off, so that one is all of it.
        if result == 1 { return .written }
        if isWaitingForInput { return .needsInput }
        throw failure("TLS write")
    }

    /// How many bytes are to be sent that were not written to space that was lent.
    public var unsentCount: Int { unsafe exchange.pointee.unsent.count }

    /// Takes out what is to be sent and was not written to space that was lent.
    public func takeUnsent() -> [UInt8] {
        defer { unsafe exchange.pointee.unsent = [] }
        return unsafe exchange.pointee.unsent
    }

    /// Frees OpenSSL's two record buffers, 34 KiB, unless they hold part of a record; they are made again when needed.
    ///
    /// For a connection that falls silent. Plaintext in them is wiped.
    public func releaseBuffers() {
        // Refused, without an error, while a record is unfinished.
        _ = unsafe SSL_free_buffers(ssl)
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
    public var info: TLSConnectionInfo { unsafe TLSConnectionInfo(of: ssl, serverName: exchange.pointee.serverName) }

    /// The certificate that the peer has proven itself by, if there is one.
    ///
    /// - Throws: ``OpenSSLError`` with code `malformedCertificate` if it cannot be described.
    public func peerCertificate() throws(OpenSSLError) -> Certificate? {
        guard let x509 = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
        return try unsafe Certificate(owning: x509, context: "certificate of the peer")
    }

    /// The chain of the peer's certificate, from it to the authority, both included; empty if there is none.
    ///
    /// Only what was really verified is there: against authorities, lists and the clock in this very handshake, be it of a
    /// new session or of a resumed one. A client that pins its server's certificate verifies no chain.
    public func verifiedPeerChain() -> [Certificate] {
        guard unsafe SSL_is_init_finished(ssl) == 1, unsafe SSL_get_verify_result(ssl) == X509_V_OK else { return [] }
        if unsafe SSL_is_server(ssl) == 1, unsafe SSL_session_reused(ssl) == 1 {
            return unsafe exchange.pointee.resumedChain
        }
        guard unsafe SSL_get0_peer_certificate(ssl) != nil else { return [] }
        return unsafe PeerVerification.certificates(SSL_get0_verified_chain(ssl)) ?? []
    }

    /// Makes records of at most a number of bytes, 512 to 16,384; for tests.
    func limitRecords(to count: Int) -> Bool {
        unsafe gatehouse_SSL_set_max_send_fragment(ssl, count) == 1
    }

    /// Lends the SSL, which must not be freed.
    func withSSL<R>(_ body: (OpaquePointer) -> R) -> R {
        defer { withExtendedLifetime(self) {} }
        return unsafe body(ssl)
    }

    /// Whether the last call went no further because it ran out of ciphertext.
    ///
    /// SSL_get_error(3) says so too, but only if nobody else has left an error in this thread's queue.
    private var isWaitingForInput: Bool {
        unsafe exchange.pointee.isStarved && SSL_want(ssl) == SSL_READING
    }

    private func refuseIfFailed() throws(OpenSSLError) {
        if failed { throw OpenSSLError(.protocolViolation, context: "TLS connection that failed before") }
    }

    private func failure(_ context: String) -> OpenSSLError {
        failed = true
        return unsafe HandshakeFailure.error(of: ssl, context: context)
    }
}
