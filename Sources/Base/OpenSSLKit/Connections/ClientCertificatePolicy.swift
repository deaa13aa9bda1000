// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The policy for client certificates.
///
/// In both modes the handshake fails if the client presents a certificate that is not valid. A certificate is valid if
/// its chain ends in one of the authorities, it has not expired, it may be used by clients (RFC 5280 4.2.1.12), and it
/// is not revoked. When a session is resumed, the certificate is verified again, with the current authorities, lists
/// and time.
public struct ClientCertificatePolicy: Sendable {
    /// The requirement for a certificate.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// A client without a certificate is accepted.
        case optional
        /// A client without a certificate is rejected.
        case required
    }

    /// The requirement for a certificate.
    public let mode: Mode
    /// The authorities in which chains must end; their names are sent to clients, which choose a certificate by them.
    public let authorities: [Certificate]
    /// The lists of revoked certificates; if there are any, every authority of a client's chain must have one.
    public let revocationLists: [RevocationList]
    /// The maximum number of intermediates between the client's certificate and the authority's certificate.
    public let maximumDepth: Int

    /// Makes a policy.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if `authorities` is empty or contains a certificate
    ///   that is not a CA certificate (RFC 5280 4.2.1.9), or if `maximumDepth` is not in 0 to 20.
    public init(
        mode: Mode,
        authorities: [Certificate],
        revocationLists: [RevocationList] = [],
        maximumDepth: Int = 1
    ) throws(OpenSSLError) {
        guard !authorities.isEmpty else { throw .invalid("empty list of client certificate authorities") }
        for authority in authorities where try !authority.isAuthority {
            throw .invalid("certificate \(authority.subject), which is not a certificate authority")
        }
        guard (0...20).contains(maximumDepth) else {
            throw .invalid("maximum depth \(maximumDepth) of client certificate chains (0 to 20)")
        }
        self.mode = mode
        self.authorities = authorities
        self.revocationLists = revocationLists
        self.maximumDepth = maximumDepth
    }
}

extension ClientCertificatePolicy {
    /// Verifies the chain of a client's certificate with this policy, at the system's time, and checks its length.
    ///
    /// The intermediates that the client sends follow its certificate. This check does not identify a client: certificates
    /// are public. In a handshake, the client also proves that it has the private key, by a signature that the server must
    /// accept; see ``versions(acceptingKeyOf:minimumVersion:groups:)``.
    ///
    /// - Throws: ``OpenSSLError`` with code `certificateRejected` and OpenSSL's reason if a server rejects the
    ///   certificate; with code `noCertificate` if there is none.
    public func verify(_ certificates: [Certificate]) throws(OpenSSLError) {
        guard let leaf = certificates.first else { throw OpenSSLError(.noCertificate, context: "client certificate") }
        let sslContext = try unsafe SSLContext(TLS_server_method(), data: CallbackData())
        unsafe SSL_CTX_set_security_level(sslContext.pointer, ContextBuilder.securityLevel)
        try sslContext.apply(self)
        let forms = try certificates.map { certificate throws(OpenSSLError) in try certificate.der }
        // RFC 5246 7.4.2: three bytes for the length of the list, and of each certificate.
        let length = forms.reduce(3) { $0 + 3 + $1.count }
        let limit = unsafe SSL_CTX_ctrl(sslContext.pointer, SSL_CTRL_GET_MAX_CERT_LIST, 0, nil)
        guard length <= limit else {
            let reason = "the chain has \(length) bytes, and a handshake accepts at most \(limit)"
            throw OpenSSLError(.certificateRejected, context: "client certificate", reasons: [reason])
        }
        let intermediates = Array(forms.dropFirst().joined())
        try unsafe leaf.withX509 { x509 throws(OpenSSLError) in
            _ = try unsafe PeerVerification.chain(of: x509, intermediates: intermediates, in: sslContext.pointer)
        }
    }

    /// Returns the versions of TLS in which a server accepts signatures of the key of a client's certificate.
    ///
    /// TLS 1.3 has signature algorithms for the curves P-256, P-384 and P-521, and none for DSA (RFC 8446 4.2.3). In
    /// TLS 1.2, OpenSSL accepts the curves of the server's groups.
    ///
    /// - Returns: The versions, not below the minimum; empty if every handshake with the certificate fails.
    /// - Throws: ``OpenSSLError`` if the certificate cannot be read.
    public static func versions(
        acceptingKeyOf certificate: Certificate,
        minimumVersion: TLSVersion,
        groups: [String]
    ) throws(OpenSSLError) -> Set<TLSVersion> {
        let versions = try unsafe certificate.withX509 { x509 throws(OpenSSLError) -> Set<TLSVersion> in
            ErrorQueue.clear()
            defer { ErrorQueue.clear() }
            guard let key = unsafe X509_get0_pubkey(x509) else { return [] }
            switch unsafe EVP_PKEY_get_base_id(key) {
            case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS, EVP_PKEY_ED25519, EVP_PKEY_ED448: return [.tls12, .tls13]
            case EVP_PKEY_DSA: return [.tls12]
            case EVP_PKEY_EC:
                guard let curve = unsafe curveName(of: key).flatMap({ number(ofCurve: $0) }) else { return [] }
                var versions: Set<TLSVersion> = []
                if [NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1].contains(curve) { versions.insert(.tls13) }
                if groups.contains(where: { number(ofCurve: $0) == curve }) { versions.insert(.tls12) }
                return versions
            case _: return []
            }
        }
        return minimumVersion == .tls13 ? versions.intersection([.tls13]) : versions
    }

    /// Returns OpenSSL's number of a curve by its name in a standard; nil for an unknown name.
    private static func number(ofCurve name: String) -> Int32? {
        // TLS has another name for the curve than X9.62.
        if name == "secp256r1" { return NID_X9_62_prime256v1 }
        let number = unsafe EC_curve_nist2nid(name)
        let known = unsafe number == NID_undef ? OBJ_txt2nid(name) : number
        return known == NID_undef ? nil : known
    }
}

extension SSLContext {
    func apply(_ policy: ClientCertificatePolicy) throws(OpenSSLError) {
        data.clientCertificates = policy.mode
        let demand = policy.mode == .required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0
        unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | demand, nil)
        unsafe SSL_CTX_set_verify_depth(pointer, Int32(policy.maximumDepth))
        let store = unsafe SSL_CTX_get_cert_store(pointer)
        for authority in policy.authorities {
            try unsafe authority.withX509 { x509 throws(OpenSSLError) in
                let name = "client certificate authority \(authority.subject)"
                try check(unsafe X509_STORE_add_cert(store, x509), name)
                try check(unsafe SSL_CTX_add_client_CA(pointer, x509), name)
            }
        }
        guard !policy.revocationLists.isEmpty else { return }
        for list in policy.revocationLists {
            try unsafe list.withCRL { crl throws(OpenSSLError) in
                try check(unsafe X509_STORE_add_crl(store, crl), "revocation list of \(list.issuer)")
            }
        }
        let flags = UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL)
        try check(unsafe X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(pointer), flags), "revocation lists")
    }
}
