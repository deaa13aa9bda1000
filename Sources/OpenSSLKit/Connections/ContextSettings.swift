// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// Turns a ``TLSConfiguration`` into calls on a new SSL_CTX.
@safe
struct ContextSettings {
    // Mozilla "Server Side TLS", configuration "intermediate", version 5.7, without the DHE suites.
    private static let suitesOf12 = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    ].joined(separator: ":")
    private static let suitesOf13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    private static let groups = "X25519:P-256:P-384"

    private let context: OpaquePointer
    private let callbackData: UnsafeMutableRawPointer

    init(context: OpaquePointer, callbackData: UnsafeMutableRawPointer) {
        unsafe self.context = context
        unsafe self.callbackData = callbackData
    }

    func apply(_ configuration: TLSConfiguration, applicationProtocols: [UInt8]) throws(OpenSSLError) {
        unsafe gatehouse_SSL_CTX_set_options(context)
        unsafe gatehouse_SSL_CTX_set_mode(context)
        unsafe SSL_CTX_set_security_level(context, 2)
        let version = configuration.minimumVersion == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        try check(unsafe gatehouse_SSL_CTX_set_min_proto_version(context, version), "minimum version")
        try check(unsafe SSL_CTX_set_cipher_list(context, Self.suitesOf12), "cipher suites")
        try check(unsafe SSL_CTX_set_ciphersuites(context, Self.suitesOf13), "cipher suites")
        try check(unsafe gatehouse_SSL_CTX_set1_groups_list(context, Self.groups), "groups")
        switch configuration.role {
        case .server(let identity):
            try apply(identity)
            try separateSessions()
            if !applicationProtocols.isEmpty {
                unsafe SSL_CTX_set_alpn_select_cb(context, selectProtocol, callbackData)
            }
        case .client(let trust):
            try apply(trust)
            if !applicationProtocols.isEmpty {
                // This one function answers 0 for success.
                let result = unsafe SSL_CTX_set_alpn_protos(
                    context,
                    applicationProtocols,
                    UInt32(applicationProtocols.count)
                )
                try check(result == 0 ? 1 : 0, "application protocols")
            }
        }
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

    private func separateSessions() throws(OpenSSLError) {
        // Tickets alone: a cache of sessions would be memory that strangers fill.
        unsafe gatehouse_SSL_CTX_session_cache_off(context)
        let identifier = try RandomBytes.make(Int(SSL_MAX_SSL_SESSION_ID_LENGTH))
        let set = unsafe SSL_CTX_set_session_id_context(context, identifier, UInt32(identifier.count))
        try check(set, "session id context")
    }

    private func apply(_ trust: TLSTrust) throws(OpenSSLError) {
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        switch trust {
        case .system:
            try check(unsafe SSL_CTX_set_default_verify_paths(context), "system certificates")
        case .authorities(let authorities):
            guard !authorities.isEmpty else {
                throw OpenSSLError(.invalidConfiguration, context: "empty list of trusted certificates")
            }
            let store = unsafe SSL_CTX_get_cert_store(context)
            for authority in authorities {
                try unsafe authority.withX509 { x509 throws(OpenSSLError) in
                    try check(unsafe X509_STORE_add_cert(store, x509), "trusted certificate \(authority.subject)")
                }
            }
        case .pinned(let digests):
            guard !digests.isEmpty else {
                throw OpenSSLError(.invalidConfiguration, context: "empty list of pinned certificates")
            }
            unsafe SSL_CTX_set_cert_verify_callback(context, checkPin, callbackData)
        }
    }

    private func check(_ result: Int32, _ what: String) throws(OpenSSLError) {
        guard result == 1 else { throw .draining(.invalidConfiguration, context: what) }
    }
}

/// Picks the first of the server's protocols that the client offers (RFC 7301 3.2).
private func selectProtocol(
    ssl: OpaquePointer?,
    selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    selectedCount: UnsafeMutablePointer<UInt8>?,
    offered: UnsafePointer<UInt8>?,
    offeredCount: UInt32,
    data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let data = unsafe data, let offered = unsafe offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let own = unsafe Unmanaged<TLSContext.CallbackData>.fromOpaque(data).takeUnretainedValue().applicationProtocols
    let offers = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredCount))
    var ownStart = 0
    while ownStart < own.count {
        let name = own[(ownStart + 1)..<(ownStart + 1 + Int(own[ownStart]))]
        var start = 0
        while start < offers.count, unsafe start + 1 + Int(offers[start]) <= offers.count {
            let count = Int(unsafe offers[start])
            if unsafe offers[(start + 1)..<(start + 1 + count)].elementsEqual(name) {
                // It points into the client's list, which OpenSSL copies from.
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

/// Accepts a server's certificate by its digest alone; everything unclear is a refusal.
private func checkPin(store: OpaquePointer?, data: UnsafeMutableRawPointer?) -> Int32 {
    guard let data = unsafe data, let x509 = unsafe X509_STORE_CTX_get0_cert(store) else { return 0 }
    let pinned = unsafe Unmanaged<TLSContext.CallbackData>.fromOpaque(data).takeUnretainedValue().pinned
    do throws(OpenSSLError) {
        let digest = try unsafe Digest { output throws(OpenSSLError) in
            guard unsafe X509_digest(x509, Algorithms.shared.sha256, output, nil) == 1 else {
                throw OpenSSLError(.libraryFailure, context: "SHA-256")
            }
        }
        guard pinned.contains(digest) else {
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_UNTRUSTED)
            return 0
        }
        return 1
    } catch {
        unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
        return 0
    }
}
