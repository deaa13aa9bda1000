// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension ClientCertificatePolicy {
    /// Returns the versions of TLS in which a server accepts signatures of the key of a client's certificate.
    ///
    /// TLS 1.3 has signature algorithms for the curves P-256, P-384 and P-521, and none for DSA (RFC 8446 4.2.3). In
    /// TLS 1.2, OpenSSL accepts the curves of the server's groups.
    ///
    /// - Parameters:
    ///   - certificate: The client's certificate.
    ///   - minimumVersion: The minimum version of the server.
    ///   - groups: The groups of the server; see ``TLSParameters/groups``.
    /// - Returns: The versions; empty if every handshake with the certificate fails.
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
                guard let curve = unsafe curve(of: key) else { return [] }
                var versions: Set<TLSVersion> = []
                if [NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1].contains(curve) { versions.insert(.tls13) }
                if groups.contains(where: { number(ofCurve: $0) == curve }) { versions.insert(.tls12) }
                return versions
            case _: return []
            }
        }
        return minimumVersion == .tls13 ? versions.intersection([.tls13]) : versions
    }

    /// Returns OpenSSL's number of the curve of an EC key; nil for a curve without a name.
    private static func curve(of key: OpaquePointer) -> Int32? {
        var name = [CChar](repeating: 0, count: 80)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
        return number(ofCurve: String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// Returns OpenSSL's number of a curve by its name in a standard; nil for an unknown name.
    private static func number(ofCurve name: String) -> Int32? {
        // TLS has another name for the curve than X9.62.
        if name == "secp256r1" { return NID_X9_62_prime256v1 }
        let number = unsafe EC_curve_nist2nid(name)
        let known = unsafe number == NID_undef ? OBJ_txt2nid(name) : number
        return known == NID_undef ? nil : known
    }

    /// Throws an error if a chain is longer than the certificate message of a handshake may be.
    ///
    /// - Parameters:
    ///   - lengths: The lengths of the certificates in DER.
    ///   - context: The SSL_CTX of a server.
    /// - Throws: ``OpenSSLError`` with code `certificateRejected`.
    static func checkLength(_ lengths: [Int], in context: OpaquePointer) throws(OpenSSLError) {
        // RFC 5246 7.4.2: three bytes for the length of the list, and of each certificate.
        let length = lengths.reduce(3) { $0 + 3 + $1 }
        let limit = unsafe SSL_CTX_ctrl(context, SSL_CTRL_GET_MAX_CERT_LIST, 0, nil)
        guard length > limit else { return }
        throw OpenSSLError(
            .certificateRejected,
            context: "client certificate",
            reasons: ["the chain has \(length) bytes, and a handshake accepts at most \(limit)"]
        )
    }
}
