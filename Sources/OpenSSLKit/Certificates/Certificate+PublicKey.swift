// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

extension Certificate {
    /// The SHA-256 digest of the certificate's public key.
    ///
    /// The digest is that of the DER form of SubjectPublicKeyInfo (RFC 7469 section 2.4), so it stays the same when the
    /// certificate is renewed with the same key.
    public var publicKeyDigest: Digest {
        get throws(OpenSSLError) {
            ErrorQueue.clear()
            let encoded = try unsafe withX509 { x509 throws(OpenSSLError) -> [UInt8] in
                let key = unsafe X509_get_X509_PUBKEY(x509)
                let count = unsafe i2d_X509_PUBKEY(key, nil)
                guard count > 0 else { throw .draining(.malformedCertificate, context: "public key of \(subject)") }
                var bytes = [UInt8](repeating: 0, count: Int(count))
                // The function moves its pointer to the end of the bytes that it has written.
                let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
                    var end = buffer.baseAddress
                    return unsafe i2d_X509_PUBKEY(key, &end)
                }
                guard written == count else {
                    throw .draining(.malformedCertificate, context: "public key of \(subject)")
                }
                return bytes
            }
            return try Digest.sha256(encoded)
        }
    }
}
