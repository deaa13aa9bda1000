// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A public key on the curve P-256 that verifies signatures by ECDSA with SHA-256, which RFC 7518 section 3.4 calls ES256.
///
/// It is the public half of a ``SigningKey``. The object can be used from any thread.
@safe
public final class VerificationKey: @unchecked Sendable {
    // Unchecked because of the pointer. The EVP_PKEY is never changed, and its reference count is atomic.
    private let key: OpaquePointer

    /// The bytes of a SubjectPublicKeyInfo before the coordinates: id-ecPublicKey, prime256v1, and an uncompressed point
    /// (RFC 5480 sections 2.1.1 and 2.2).
    private static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
        0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    /// Creates a key from the coordinates of its point: 32 bytes each, the most significant first (RFC 7518 section 6.2.1).
    ///
    /// - Throws: ``OpenSSLError`` with code `notP256` if a coordinate has another length, or the point is not on the curve.
    public init(x: [UInt8], y: [UInt8]) throws(OpenSSLError) {
        let context = "public key"
        guard x.count == SigningKey.coordinateBytes, y.count == SigningKey.coordinateBytes else {
            throw OpenSSLError(.notP256, context: context)
        }
        ErrorQueue.clear()
        let der = Self.prefix + x + y
        let key = unsafe der.withUnsafeBufferPointer { der in
            var start = der.baseAddress
            return unsafe d2i_PUBKEY(nil, &start, der.count)
        }
        guard let key = unsafe key else { throw .draining(.notP256, context: context) }
        unsafe self.key = key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Returns whether the private key of this key has made a signature of a message.
    ///
    /// The signature has the form of ``SigningKey/signature(of:)``: two numbers of 32 bytes. One of another length is not
    /// valid.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public func verifies(_ signature: Span<UInt8>, of message: Span<UInt8>) throws(OpenSSLError) -> Bool {
        defer { withExtendedLifetime(self) {} }
        return try unsafe Self.verify(signature, of: message, by: key)
    }

    /// Returns whether a signature was made by the private key of an EVP_PKEY on P-256.
    static func verify(
        _ signature: Span<UInt8>,
        of message: Span<UInt8>,
        by key: OpaquePointer
    ) throws(OpenSSLError) -> Bool {
        guard signature.count == SigningKey.signatureBytes else { return false }
        ErrorQueue.clearIfNeeded()
        defer { ErrorQueue.clear() }
        let der = try der(ofNumbers: signature)
        guard let context = unsafe EVP_MD_CTX_new() else { throw .failed("ECDSA") }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, key, nil) == 1 else {
            throw .failed("ECDSA signature")
        }
        return unsafe message.withUnsafeBufferPointer { message in
            unsafe EVP_DigestVerify(context, der, der.count, message.baseAddress, message.count) == 1
        }
    }

    /// Converts a signature from two numbers of fixed length to DER (RFC 3279 section 2.2.3).
    private static func der(ofNumbers numbers: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        guard let signature = unsafe ECDSA_SIG_new() else { throw .failed("ECDSA signature") }
        defer { unsafe ECDSA_SIG_free(signature) }
        let length = SigningKey.coordinateBytes
        let (r, s) = unsafe numbers.withUnsafeBufferPointer { bytes in
            unsafe (
                BN_bin2bn(bytes.baseAddress, Int32(length), nil),
                BN_bin2bn(bytes.baseAddress.map { unsafe $0 + length }, Int32(length), nil)
            )
        }
        // The signature takes both numbers over only if it takes any.
        guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            throw .failed("ECDSA signature")
        }
        guard let der = unsafe derForm({ unsafe i2d_ECDSA_SIG(signature, $0) }) else {
            throw .failed("ECDSA signature")
        }
        return der
    }
}
