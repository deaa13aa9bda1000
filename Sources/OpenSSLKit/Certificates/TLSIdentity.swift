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

    /// Puts the two together.
    ///
    /// - Throws: ``OpenSSLError``: `noCertificate` for an empty chain, `keyMismatch` if the key is another's.
    public init(certificateChain: [Certificate], privateKey: PrivateKey) throws(OpenSSLError) {
        guard let leaf = certificateChain.first else {
            throw OpenSSLError(.noCertificate, context: "certificate chain")
        }
        guard try privateKey.belongs(to: leaf) else {
            throw OpenSSLError(.keyMismatch, context: "certificate \(leaf.subject)")
        }
        self.certificateChain = certificateChain
        self.privateKey = privateKey
        self.leaf = leaf
    }
}
