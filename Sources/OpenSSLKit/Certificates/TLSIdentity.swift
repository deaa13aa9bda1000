// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A certificate chain and its private key, by which a side of a connection authenticates itself.
///
/// The initializer checks that the two belong together.
public struct TLSIdentity: Sendable {
    /// The leaf first, then the intermediates; never empty.
    public let certificateChain: [Certificate]
    /// The key of the leaf.
    public let privateKey: PrivateKey

    /// The certificate of this side.
    public let leaf: Certificate

    /// The OCSP response about the leaf, sent to clients that request it.
    public let ocspResponse: OCSPResponse?

    /// Creates an identity.
    ///
    /// - Parameters:
    ///   - certificateChain: The leaf first, then the intermediates.
    ///   - privateKey: The key of the leaf.
    ///   - ocspResponse: The OCSP response about the leaf, if there is one.
    /// - Throws: ``OpenSSLError``: `noCertificate` for an empty chain, `keyMismatch` if the key belongs to another
    ///   certificate.
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
