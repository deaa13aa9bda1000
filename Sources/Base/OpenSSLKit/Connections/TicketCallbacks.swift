// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Called by OpenSSL to make a ticket (`encrypting` is 1) or to open a ticket (0).
///
/// It returns 1 for success, 2 if the ticket must also be replaced, 0 if the key of the ticket is unknown, and -1 for
/// an error.
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
    do throws(OpenSSLError) {
        return unsafe try keys.current().encrypt(name: name, vector: vector, cipher: cipher, mac: mac) ? 1 : -1
    } catch {
        return -1
    }
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

/// Called by OpenSSL after it has opened a ticket: decides whether the session is resumed.
///
/// A session with a client certificate is resumed only if the certificate is still valid.
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
    else {
        return SSL_TICKET_RETURN_IGNORE_RENEW
    }
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
    do throws(OpenSSLError) {
        let chain = try unsafe PeerVerification.chain(of: leaf, intermediates: bytes, in: context)
        unsafe bioState.pointee.resumedChain = chain
        return use
    } catch {
        return SSL_TICKET_RETURN_IGNORE_RENEW
    }
}
