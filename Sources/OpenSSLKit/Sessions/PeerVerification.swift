// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// Looks at a client's certificate again when a session is resumed.
///
/// In a resumed handshake the client proves that it has the ticket, and nothing else: its certificate may have run out
/// or been revoked since, or its authority been taken out. A session holds the certificate; the intermediates are kept
/// beside it in the ticket.
enum PeerVerification {
    /// The most bytes of intermediates in a ticket; a client with more shows its certificate every time.
    static let intermediatesLimit = 8_192

    /// Verifies a certificate as a handshake does.
    ///
    /// - Returns: The chain from the certificate to the authority; nil if it is not good.
    static func chain(
        of leaf: OpaquePointer,
        intermediates: [UInt8],
        in context: OpaquePointer
    ) -> [Certificate]? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let untrusted = unsafe gatehouse_sk_X509_new() else { return nil }
        defer { unsafe gatehouse_sk_X509_free_all(untrusted) }
        guard unsafe add(intermediates, to: untrusted), let check = unsafe X509_STORE_CTX_new() else { return nil }
        defer { unsafe X509_STORE_CTX_free(check) }
        guard unsafe X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(context), leaf, untrusted) == 1,
            unsafe X509_STORE_CTX_set_default(check, "ssl_client") == 1,
            let parameters = unsafe X509_STORE_CTX_get0_param(check),
            // Depth, lists and purpose, as they are set for handshakes.
            unsafe X509_VERIFY_PARAM_set1(parameters, SSL_CTX_get0_param(context)) == 1
        else { return nil }
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, SSL_CTX_get_security_level(context))
        guard unsafe X509_verify_cert(check) == 1 else { return nil }
        return unsafe certificates(X509_STORE_CTX_get0_chain(check))
    }

    /// Copies a stack; nil if it is empty or one of it cannot be described.
    static func certificates(_ stack: OpaquePointer?) -> [Certificate]? {
        guard let stack = unsafe stack else { return nil }
        var certificates: [Certificate] = []
        for index in 0..<(unsafe gatehouse_sk_X509_num(stack)) {
            guard let x509 = unsafe gatehouse_sk_X509_value(stack, index), unsafe X509_up_ref(x509) == 1 else {
                return nil
            }
            do throws(OpenSSLError) {
                certificates.append(try unsafe Certificate(owning: x509, context: "certificate of the peer"))
            } catch {
                return nil
            }
        }
        return certificates.isEmpty ? nil : certificates
    }

    /// The DER forms of a stack, one after the other; nil if they are too long for a ticket.
    fileprivate static func encoded(_ stack: OpaquePointer?) -> [UInt8]? {
        var all: [UInt8] = []
        guard let stack = unsafe stack else { return all }
        for index in 0..<(unsafe gatehouse_sk_X509_num(stack)) {
            let x509 = unsafe gatehouse_sk_X509_value(stack, index)
            let count = unsafe i2d_X509(x509, nil)
            guard count > 0, all.count + Int(count) <= intermediatesLimit else { return nil }
            var der = [UInt8](repeating: 0, count: Int(count))
            let written = unsafe der.withUnsafeMutableBufferPointer { buffer in
                var start = buffer.baseAddress
                return unsafe i2d_X509(x509, &start)
            }
            guard written == count else { return nil }
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

/// Called by OpenSSL before it makes a ticket: puts the client's intermediates beside its certificate.
func makeTicketCallback(ssl: OpaquePointer?, data: UnsafeMutableRawPointer?) -> Int32 {
    // A resumed session has its intermediates in it already, and no chain of this handshake.
    guard unsafe SSL_session_reused(ssl) == 0, unsafe SSL_get0_peer_certificate(ssl) != nil else { return 1 }
    // Without them the certificate will not be found good, and a complete handshake follows.
    guard let encoded = unsafe PeerVerification.encoded(SSL_get_peer_cert_chain(ssl)), !encoded.isEmpty else {
        return 1
    }
    return unsafe SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), encoded, encoded.count)
}

/// Called by OpenSSL when it has opened a ticket: lets the session be resumed only if its client would be let in today.
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
        // None, forged, or of a key that is gone: a complete handshake, and a new ticket.
        return status == SSL_TICKET_FATAL_ERR_MALLOC || status == SSL_TICKET_FATAL_ERR_OTHER
            ? SSL_TICKET_RETURN_ABORT : SSL_TICKET_RETURN_IGNORE_RENEW
    }
    let use = isCurrent ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW
    // The context of the host that is asked for.
    guard let context = unsafe SSL_get_SSL_CTX(ssl), let callbackData = unsafe CallbackData.of(context),
        let exchange = unsafe Exchange.of(SSL_get_rbio(ssl))
    else { return SSL_TICKET_RETURN_ABORT }
    unsafe exchange.pointee.resumedChain = []
    // OpenSSL compares the scope too, but later, and this is the line that everything else stands behind.
    var scopeCount: UInt32 = 0
    let scope = unsafe SSL_SESSION_get0_id_context(session, &scopeCount)
    guard unsafe UnsafeBufferPointer(start: scope, count: Int(scopeCount)).elementsEqual(callbackData.sessionScope)
    else {
        return SSL_TICKET_RETURN_IGNORE_RENEW
    }
    guard let mode = callbackData.clientCertificates else { return use }
    guard let leaf = unsafe SSL_SESSION_get0_peer(session) else {
        return mode == .required ? SSL_TICKET_RETURN_IGNORE_RENEW : use
    }
    var intermediates: UnsafeMutableRawPointer?
    var count = 0
    guard unsafe SSL_SESSION_get0_ticket_appdata(session, &intermediates, &count) == 1 else {
        return SSL_TICKET_RETURN_IGNORE_RENEW
    }
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: intermediates, count: count))
    guard let chain = unsafe PeerVerification.chain(of: leaf, intermediates: bytes, in: context) else {
        return SSL_TICKET_RETURN_IGNORE_RENEW
    }
    unsafe exchange.pointee.resumedChain = chain
    return use
}
