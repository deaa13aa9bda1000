// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Called by OpenSSL to make a ticket (`encrypting` is 1) or to open a ticket (0).
///
/// It returns 1 for success, 2 to replace the ticket too, 0 if the key of the ticket is unknown, and -1 for an error.
func ticketKeyCallback(
    ssl: OpaquePointer?,
    name: UnsafeMutablePointer<UInt8>?,
    vector: UnsafeMutablePointer<UInt8>?,
    cipher: OpaquePointer?,
    mac: OpaquePointer?,
    encrypting: Int32
) -> Int32 {
    guard let name = unsafe name, let vector = unsafe vector, let cipher = unsafe cipher, let mac = unsafe mac,
        let keys = unsafe CallbackData.of(SSL_get_SSL_CTX(ssl))?.ticketKeys
    else { return -1 }
    guard encrypting == 1 else {
        guard let (key, isOld) = unsafe keys.key(named: name) else { return 0 }
        guard unsafe key.decrypt(vector: vector, cipher: cipher, mac: mac) else { return -1 }
        // In TLS 1.3 a ticket should be used only once (RFC 8446 C.4), so each use makes a new ticket.
        return isOld || (unsafe SSL_version(ssl)) == TLS1_3_VERSION ? 2 : 1
    }
    guard let key = try? keys.current() else { return -1 }
    return unsafe key.encrypt(name: name, vector: vector, cipher: cipher, mac: mac) ? 1 : -1
}

/// Called by OpenSSL before it makes a ticket: adds the client's intermediate certificates to the ticket.
func makeTicketCallback(ssl: OpaquePointer?, data: UnsafeMutableRawPointer?) -> Int32 {
    // A resumed session already contains the intermediates, and its handshake has no chain.
    guard unsafe SSL_session_reused(ssl) == 0, unsafe SSL_get0_peer_certificate(ssl) != nil else { return 1 }
    // Intermediates that are too long are left out. The certificate then cannot be verified at a resumption, so the
    // next handshake is a full handshake.
    guard let encoded = unsafe PeerVerification.encoded(SSL_get_peer_cert_chain(ssl)), !encoded.isEmpty else {
        return 1
    }
    return unsafe SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), encoded, encoded.count)
}

/// Called by OpenSSL after it has opened a ticket: resumes a session only if its client certificate is still valid.
func openTicketCallback(
    ssl: OpaquePointer?,
    session: OpaquePointer?,
    name: UnsafePointer<UInt8>?,
    nameCount: Int,
    status: SSL_TICKET_STATUS,
    data: UnsafeMutableRawPointer?
) -> SSL_TICKET_RETURN {
    let isCurrent = status == SSL_TICKET_SUCCESS
    guard isCurrent || status == SSL_TICKET_SUCCESS_RENEW else {
        // The client has sent no ticket, or its ticket is forged or its key was dropped. A full handshake follows.
        return status == SSL_TICKET_FATAL_ERR_MALLOC || status == SSL_TICKET_FATAL_ERR_OTHER
            ? SSL_TICKET_RETURN_ABORT : SSL_TICKET_RETURN_IGNORE_RENEW
    }
    let use = isCurrent ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW
    // The context of the requested host.
    guard let context = unsafe SSL_get_SSL_CTX(ssl), let callbacks = unsafe CallbackData.of(context),
        let bioState = unsafe BIOState.of(SSL_get_rbio(ssl))
    else { return SSL_TICKET_RETURN_ABORT }
    unsafe bioState.pointee.resumedChain = []
    // OpenSSL compares the scope too, but only after this callback. The checks below are valid only in the same scope.
    var scopeCount: UInt32 = 0
    let scope = unsafe SSL_SESSION_get0_id_context(session, &scopeCount)
    guard unsafe UnsafeBufferPointer(start: scope, count: Int(scopeCount)).elementsEqual(callbacks.sessionScope)
    else { return SSL_TICKET_RETURN_IGNORE_RENEW }
    guard let mode = callbacks.clientCertificates else { return use }
    guard let leaf = unsafe SSL_SESSION_get0_peer(session) else {
        return mode == .required ? SSL_TICKET_RETURN_IGNORE_RENEW : use
    }
    var intermediates: UnsafeMutableRawPointer?
    var count = 0
    guard unsafe SSL_SESSION_get0_ticket_appdata(session, &intermediates, &count) == 1 else {
        return SSL_TICKET_RETURN_IGNORE_RENEW
    }
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: intermediates, count: count))
    guard let chain = try? unsafe PeerVerification.chain(of: leaf, intermediates: bytes, in: context) else {
        return SSL_TICKET_RETURN_IGNORE_RENEW
    }
    unsafe bioState.pointee.resumedChain = chain
    return use
}

/// Verifies a client's certificate again when a session is resumed.
///
/// In a resumed handshake the client proves only that it has the ticket, which contains the certificate and the
/// intermediates. Since the first handshake, the certificate may have expired, it may have been revoked, or its
/// authority may have been removed.
enum PeerVerification {
    /// The maximum number of bytes of intermediates in a ticket; a client with longer ones cannot resume sessions.
    static let intermediatesLimit = 8_192

    /// Returns the chain to the authority, verified as in a full handshake, with the joined DER forms of intermediates.
    static func chain(
        of leaf: OpaquePointer,
        intermediates: [UInt8],
        in context: OpaquePointer
    ) throws(OpenSSLError) -> [Certificate] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let place = "client certificate"
        guard let untrusted = unsafe gatehouse_sk_X509_new() else { throw .failed(place) }
        defer { unsafe gatehouse_sk_X509_free_all(untrusted) }
        guard unsafe add(intermediates, to: untrusted), let check = unsafe X509_STORE_CTX_new() else {
            throw .failed(place)
        }
        defer { unsafe X509_STORE_CTX_free(check) }
        guard unsafe X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(context), leaf, untrusted) == 1,
            unsafe X509_STORE_CTX_set_default(check, "ssl_client") == 1,
            let parameters = unsafe X509_STORE_CTX_get0_param(check),
            // The depth, the revocation lists and the purpose are those of full handshakes.
            unsafe X509_VERIFY_PARAM_set1(parameters, SSL_CTX_get0_param(context)) == 1
        else { throw .failed(place) }
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, SSL_CTX_get_security_level(context))
        guard unsafe X509_verify_cert(check) == 1 else {
            let reason = unsafe X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(check)))
            let text = unsafe reason.map { unsafe String(cString: $0) } ?? "certificate verify failed"
            throw OpenSSLError(.certificateRejected, context: place, reasons: [text])
        }
        guard let chain = unsafe certificates(X509_STORE_CTX_get0_chain(check)) else { throw .failed(place) }
        return chain
    }

    /// Returns the certificates of a stack; nil if it is empty or a certificate cannot be read.
    static func certificates(_ stack: OpaquePointer?) -> [Certificate]? {
        guard let stack = unsafe stack else { return nil }
        var certificates: [Certificate] = []
        for index in 0..<(unsafe gatehouse_sk_X509_num(stack)) {
            guard let x509 = unsafe gatehouse_sk_X509_value(stack, index), unsafe X509_up_ref(x509) == 1,
                let certificate = try? unsafe Certificate(owning: x509, context: "certificate of the peer")
            else { return nil }
            certificates.append(certificate)
        }
        return certificates.isEmpty ? nil : certificates
    }

    /// Returns the DER forms of a stack's certificates, one after the other; nil if they are too long for a ticket.
    static func encoded(_ stack: OpaquePointer?) -> [UInt8]? {
        var all: [UInt8] = []
        guard let stack = unsafe stack else { return all }
        for index in 0..<(unsafe gatehouse_sk_X509_num(stack)) {
            let x509 = unsafe gatehouse_sk_X509_value(stack, index)
            guard let der = unsafe derForm({ unsafe i2d_X509(x509, $0) }), all.count + der.count <= intermediatesLimit
            else { return nil }
            all += der
        }
        return all
    }

    private static func add(_ encoded: [UInt8], to stack: OpaquePointer) -> Bool {
        unsafe encoded.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return true }
            let end = unsafe first + bytes.count
            var start: UnsafePointer<UInt8>? = unsafe first
            while let place = unsafe start, unsafe place < end {
                guard let x509 = unsafe d2i_X509(nil, &start, end - place) else { return false }
                guard unsafe gatehouse_sk_X509_push(stack, x509) > 0 else {
                    unsafe X509_free(x509)
                    return false
                }
            }
            return true
        }
    }
}
