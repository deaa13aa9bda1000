// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A certificate chain and the private key that belongs to it: what a side of a connection proves itself by.
///
/// Having one means that the two fit; there is no other way to make one.
public struct TLSIdentity: Sendable {
    /// The leaf first, then the intermediates; never empty.
    public let certificateChain: [Certificate]
    /// The key of the leaf.
    public let privateKey: PrivateKey

    /// The certificate of this side.
    public let leaf: Certificate

    /// What its authority says of the leaf; sent to clients that ask for it.
    public let ocspResponse: OCSPResponse?

    /// Puts the two together.
    ///
    /// - Parameters:
    ///   - certificateChain: The leaf first, then the intermediates.
    ///   - privateKey: The key of the leaf.
    ///   - ocspResponse: What its authority says of the leaf, if that is known.
    /// - Throws: ``OpenSSLError``: `noCertificate` for an empty chain, `keyMismatch` if the key is another's.
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
