// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension ClientCertificatePolicy {
    /// Verifies the chain of a client's certificate with this policy, at the system's time, and checks its length.
    ///
    /// This check does not identify a client: certificates are public. In a handshake, the client also proves that it
    /// has the private key, by a signature that the server must accept; see
    /// ``versions(acceptingKeyOf:minimumVersion:groups:)``.
    ///
    /// - Parameter certificates: The client's certificate, then the intermediates that the client sends.
    /// - Throws: ``OpenSSLError`` with code `certificateRejected` and OpenSSL's reason if a server rejects the
    ///   certificate; with code `noCertificate` if there is none.
    public func verify(_ certificates: [Certificate]) throws(OpenSSLError) {
        guard let leaf = certificates.first else {
            throw OpenSSLError(.noCertificate, context: "client certificate")
        }
        let sslContext = try unsafe SSLContext(TLS_server_method(), data: CallbackData())
        unsafe SSL_CTX_set_security_level(sslContext.pointer, ContextBuilder.securityLevel)
        try sslContext.apply(self)
        var intermediates: [UInt8] = []
        var lengths = [try leaf.der.count]
        for certificate in certificates.dropFirst() {
            let der = try certificate.der
            intermediates += der
            lengths.append(der.count)
        }
        try unsafe Self.checkLength(lengths, in: sslContext.pointer)
        try unsafe leaf.withX509 { x509 throws(OpenSSLError) in
            _ = try unsafe PeerVerification.chain(of: x509, intermediates: intermediates, in: sslContext.pointer)
        }
    }
}
