// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension Certificate {
    /// Returns the SHA-256 digest of the public key, in the form that RFC 7469 pins: the DER form of the
    /// SubjectPublicKeyInfo (RFC 5280 4.1.2.7).
    ///
    /// A new certificate for the same key has the same digest.
    ///
    /// - Returns: The digest.
    /// - Throws: ``OpenSSLError`` with code `malformedCertificate` or `libraryFailure`.
    public func publicKeyDigest() throws(OpenSSLError) -> Digest {
        try unsafe withX509 { x509 throws(OpenSSLError) in
            try unsafe Self.publicKeyDigest(of: x509, context: "certificate \(subject)")
        }
    }

    static func publicKeyDigest(of x509: OpaquePointer, context: String) throws(OpenSSLError) -> Digest {
        let key = unsafe X509_get_X509_PUBKEY(x509)
        let count = unsafe i2d_X509_PUBKEY(key, nil)
        guard count > 0 else { throw .draining(.malformedCertificate, context: context) }
        var der = [UInt8](repeating: 0, count: Int(count))
        let written = unsafe der.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            return unsafe i2d_X509_PUBKEY(key, &start)
        }
        guard written == count else { throw .draining(.malformedCertificate, context: context) }
        return try Digest.sha256(der)
    }
}
