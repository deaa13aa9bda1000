// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Applies a ``TLSConfiguration`` to a new SSL_CTX.
@safe
struct ContextBuilder {
    /// OpenSSL's security level of all contexts: 112 bits.
    static let securityLevel: Int32 = 2

    private let sslContext: SSLContext
    private let context: OpaquePointer
    private let configuration: TLSConfiguration

    private var callbacks: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(sslContext.data).toOpaque() }

    init(_ sslContext: SSLContext, configuration: TLSConfiguration) {
        self.sslContext = sslContext
        unsafe context = sslContext.pointer
        self.configuration = configuration
    }

    private func applyCommon() throws(OpenSSLError) {
        unsafe gatehouse_SSL_CTX_set_options(context)
        unsafe gatehouse_SSL_CTX_set_mode(context)
        unsafe SSL_CTX_set_security_level(context, Self.securityLevel)
        let version = configuration.minimumVersion == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        try check(unsafe gatehouse_SSL_CTX_set_min_proto_version(context, version), "minimum version")
        if configuration.maximumVersion == .tls12 {
            try check(unsafe gatehouse_SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION), "maximum version")
        }
        try unsafe configuration.parameters.apply(to: context)
        sslContext.data.applicationProtocols = try Self.encode(configuration.applicationProtocols)
    }

    func applyClient(_ trust: TLSTrust) throws(OpenSSLError) {
        try applyCommon()
        try apply(trust)
        if let identity = configuration.clientIdentity { try apply(identity) }
        // Certificates are requested only in the handshake.
        unsafe SSL_CTX_set_post_handshake_auth(context, 0)
        let protocols = sslContext.data.applicationProtocols
        guard !protocols.isEmpty else { return }
        // This function returns 0 for success. The other functions return 1.
        let result = unsafe SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count))
        try check(result == 0 ? 1 : 0, "application protocols")
    }

    /// Applies a server's settings for the identity of a ``TLSHost`` with these names; empty for the default identity.
    func applyServer(_ identity: TLSIdentity, names: [String]) throws(OpenSSLError) {
        try applyCommon()
        unsafe SSL_CTX_set_msg_callback(context, messageCallback)
        try apply(identity)
        if let policy = configuration.clientCertificates { try sslContext.apply(policy) }
        try applySessions(names)
        if !sslContext.data.applicationProtocols.isEmpty {
            unsafe SSL_CTX_set_alpn_select_cb(context, selectProtocol, callbacks)
        }
        if let response = identity.ocspResponse {
            sslContext.data.ocspResponse = response
            unsafe gatehouse_SSL_CTX_set_status_callback(context, statusCallback, callbacks)
        }
    }

    /// Makes connections of the context switch to the context of the requested host.
    func apply(_ hosts: ServerNames<CallbackData.Host>) {
        sslContext.data.hosts = hosts
        unsafe SSL_CTX_set_client_hello_cb(context, clientHelloCallback, callbacks)
    }

    private func applySessions(_ names: [String]) throws(OpenSSLError) {
        // Sessions are stored only in tickets, because clients could fill the memory of a session cache.
        unsafe gatehouse_SSL_CTX_session_cache_off(context)
        // No early data, because attackers could replay it (RFC 8446 8).
        try check(unsafe SSL_CTX_set_max_early_data(context, 0), "early data")
        let scope = try sessionScope(names).bytes
        sslContext.data.sessionScope = scope
        try check(unsafe SSL_CTX_set_session_id_context(context, scope, UInt32(scope.count)), "session id context")
        guard let keys = configuration.sessionTickets else {
            unsafe gatehouse_SSL_CTX_tickets_off(context)
            return
        }
        sslContext.data.ticketKeys = keys
        unsafe SSL_CTX_set_timeout(context, Int(keys.lifetime))
        // One ticket of OpenSSL's two is enough, because each resumption makes a new ticket. Making one takes a
        // fifteenth of the time of a handshake.
        try check(unsafe SSL_CTX_set_num_tickets(context, 1), "number of tickets")
        try check(unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ticketKeyCallback), "ticket keys")
        try check(
            unsafe SSL_CTX_set_session_ticket_cb(context, makeTicketCallback, openTicketCallback, callbacks),
            "ticket check"
        )
    }

    /// Returns the scope in which a session can be resumed, which is OpenSSL's session id context of at most 32 bytes.
    private func sessionScope(_ names: [String]) throws(OpenSSLError) -> Digest {
        var parts = ["gatehouse sessions 1", configuration.sessionScope]
        parts += names.map { ServerNames<Int>.normalized($0) ?? $0 }.sorted()
        parts.append("client certificates")
        if let policy = configuration.clientCertificates {
            parts += [policy.mode.rawValue, "\(policy.maximumDepth)"]
            parts += policy.authorities.map(\.digest.hex).sorted()
        }
        // Each part is preceded by its length, so that different lists of parts never have the same bytes.
        return try Digest.sha256(parts.flatMap { "\($0.utf8.count):\($0)".utf8 })
    }

    private func apply(_ identity: TLSIdentity) throws(OpenSSLError) {
        let name = "certificate \(identity.leaf.subject)"
        try unsafe identity.leaf.withX509 { x509 throws(OpenSSLError) in
            try check(unsafe SSL_CTX_use_certificate(context, x509), name)
        }
        for intermediate in identity.certificateChain.dropFirst() {
            try unsafe intermediate.withX509 { x509 throws(OpenSSLError) in
                let added = unsafe gatehouse_SSL_CTX_add1_chain_cert(context, x509)
                try check(added, "certificate \(intermediate.subject)")
            }
        }
        try unsafe identity.privateKey.withKey { key throws(OpenSSLError) in
            try check(unsafe SSL_CTX_use_PrivateKey(context, key), "key of \(name)")
        }
    }

    private func apply(_ trust: TLSTrust) throws(OpenSSLError) {
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, describeProblem)
        switch trust {
        case .system:
            try check(unsafe SSL_CTX_set_default_verify_paths(context), "system certificates")
        case .authorities(let authorities):
            guard !authorities.isEmpty else { throw .invalid("empty list of trusted certificates") }
            try add(authorities)
        case .pinnedKeys(let digests, let authorities):
            guard !digests.isEmpty else { throw .invalid("empty list of pinned keys") }
            try add(authorities)
            sslContext.data.pinnedKeys = digests
            sslContext.data.verifiesChain = !authorities.isEmpty
            unsafe SSL_CTX_set_cert_verify_callback(context, checkKeyPin, callbacks)
        case .noServer(let presentedKey):
            sslContext.data.presentedKey = presentedKey
            unsafe SSL_CTX_set_cert_verify_callback(context, recordKey, callbacks)
        }
    }

    private func add(_ authorities: [Certificate]) throws(OpenSSLError) {
        let store = unsafe SSL_CTX_get_cert_store(context)
        for authority in authorities {
            try unsafe authority.withX509 { x509 throws(OpenSSLError) in
                try check(unsafe X509_STORE_add_cert(store, x509), "trusted certificate \(authority.subject)")
            }
        }
    }

    /// Encodes protocol names in the form of RFC 7301 3.1: each name follows a byte with its length.
    private static func encode(_ names: [String]) throws(OpenSSLError) -> [UInt8] {
        var list: [UInt8] = []
        for name in names {
            guard let length = UInt8(exactly: name.utf8.count), length > 0 else {
                throw .invalid("application protocol name \"\(name)\"")
            }
            list.append(length)
            list.append(contentsOf: name.utf8)
        }
        // The extension has two bytes for the length of the list.
        guard list.count < 65_536 else { throw .invalid("list of application protocol names, which is too long") }
        return list
    }
}

/// Called by OpenSSL to select a protocol: the first of the server's protocols that the client offers (RFC 7301 3.2).
private func selectProtocol(
    ssl: OpaquePointer?,
    selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    selectedCount: UnsafeMutablePointer<UInt8>?,
    offered: UnsafePointer<UInt8>?,
    offeredCount: UInt32,
    data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let own = unsafe CallbackData.of(argument: data)?.applicationProtocols, let offered = unsafe offered else {
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
    let offers = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredCount))
    var ownStart = 0
    while ownStart < own.count {
        let name = own[(ownStart + 1)..<(ownStart + 1 + Int(own[ownStart]))]
        var start = 0
        while start < offers.count, unsafe start + 1 + Int(offers[start]) <= offers.count {
            let count = Int(unsafe offers[start])
            if unsafe offers[(start + 1)..<(start + 1 + count)].elementsEqual(name) {
                // The pointer is into the client's list. OpenSSL copies the name.
                unsafe selected?.pointee = offered + start + 1
                unsafe selectedCount?.pointee = UInt8(count)
                return SSL_TLSEXT_ERR_OK
            }
            start += 1 + count
        }
        ownStart += 1 + name.count
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Called by OpenSSL when a client requests the status of the server's certificate: sends the OCSP response.
func statusCallback(ssl: OpaquePointer?, data: UnsafeMutableRawPointer?) -> Int32 {
    guard let response = unsafe CallbackData.of(argument: data)?.ocspResponse else { return SSL_TLSEXT_ERR_NOACK }
    // OpenSSL uses the same clock for its own checks.
    if let next = response.nextUpdate, Int64(time(nil)) > next { return SSL_TLSEXT_ERR_NOACK }
    let set = unsafe gatehouse_SSL_set_status_response(ssl, response.der, response.der.count)
    return set == 1 ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
}
