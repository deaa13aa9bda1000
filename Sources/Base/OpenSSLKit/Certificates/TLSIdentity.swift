// SPDX-License-Identifier: Apache-2.0

/// The certificate chain and private key with which a client or server authenticates itself.
///
/// The initializer checks that the key belongs to the certificate.
public struct TLSIdentity: Sendable {
    /// The certificate chain: the leaf first, then the intermediates.
    ///
    /// It is never empty.
    public let certificateChain: [Certificate]
    /// The key of the leaf.
    public let privateKey: PrivateKey

    /// The first certificate of the chain.
    public let leaf: Certificate

    /// The OCSP response about the leaf; nil if there is no response.
    ///
    /// A server sends it to clients that request it.
    public let ocspResponse: OCSPResponse?

    /// Creates an identity.
    ///
    /// - Parameters:
    ///   - certificateChain: The leaf first, then the intermediates.
    ///   - privateKey: The key of the leaf.
    ///   - ocspResponse: The OCSP response about the leaf; nil for no response.
    /// - Throws: ``OpenSSLError`` with code `noCertificate` for an empty chain, or with code `keyMismatch` if the key
    ///   does not belong to the leaf.
    public init(
        certificateChain: [Certificate],
        privateKey: PrivateKey,
        ocspResponse: OCSPResponse? = nil
    ) throws(OpenSSLError) {
        guard let leaf = certificateChain.first else {
            throw OpenSSLError(.noCertificate, context: "certificate chain")
        }
        guard try privateKey.belongs(to: leaf) else {
            throw OpenSSLError(.keyMismatch, context: "certificate \(leaf.subject)")
        }
        self.certificateChain = certificateChain
        self.privateKey = privateKey
        self.leaf = leaf
        self.ocspResponse = ocspResponse
    }
}
