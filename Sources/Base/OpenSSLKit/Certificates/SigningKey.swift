// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A private key on the curve P-256 that signs by ECDSA with SHA-256, which RFC 7518 section 3.4 calls ES256.
///
/// The object can be used from any thread. It has no description, so the key cannot get into a log.
public final class SigningKey: Sendable {
    /// The length of a coordinate, and of each of the two numbers of a signature, in bytes.
    static let coordinateBytes = 32
    /// The length of a signature in bytes.
    static let signatureBytes = 2 * coordinateBytes

    /// The x coordinate of the public key: 32 bytes, the most significant first (RFC 7518 section 6.2.1.2).
    public let x: [UInt8]
    /// The y coordinate of the public key: 32 bytes, the most significant first.
    public let y: [UInt8]
    private let key: PrivateKey

    /// Takes a private key of a file for signatures, and makes and verifies one signature with it.
    ///
    /// - Throws: ``OpenSSLError`` with code `notP256` for a key of another kind or on another curve,
    ///   `malformedPrivateKey` if the file contains a public key that does not belong to the private key, or
    ///   `libraryFailure`.
    public init(_ key: PrivateKey, name: String) throws(OpenSSLError) {
        let context = "private key file \(name)"
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let isP256 = try unsafe key.withKey { key throws(OpenSSLError) in
            unsafe EVP_PKEY_is_a(key, "EC") == 1 && curveName(of: key) == "prime256v1"
        }
        guard isP256 else { throw OpenSSLError(.notP256, context: context) }
        let x = try Self.coordinate(OSSL_PKEY_PARAM_EC_PUB_X, of: key, context: context)
        let y = try Self.coordinate(OSSL_PKEY_PARAM_EC_PUB_Y, of: key, context: context)
        (self.x, self.y, self.key) = (x, y, key)
        let probe = Array("Gatehouse".utf8)
        let signature = try signature(of: probe.span)
        let isValid = try verifies(signature.span, of: probe.span)
        guard isValid else {
            let reason = "the public key in the file does not belong to the private key"
            throw OpenSSLError(.malformedPrivateKey, context: context, reasons: [reason])
        }
    }

    // MARK: Signatures

    /// Signs a message, and returns the two numbers of the signature, 32 bytes each, the most significant byte first.
    ///
    /// Each call returns another signature.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public func signature(of message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        ErrorQueue.clearIfNeeded()
        // SEQUENCE of two INTEGERs of up to 33 bytes each.
        var der = [UInt8](repeating: 0, count: 80)
        var count = der.count
        guard let context = unsafe EVP_MD_CTX_new() else { throw .failed("ECDSA") }
        defer { unsafe EVP_MD_CTX_free(context) }
        try unsafe key.withKey { key throws(OpenSSLError) in
            let done = unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, key, nil) == 1
                    && EVP_DigestSign(context, &der, &count, message.baseAddress, message.count) == 1
            }
            guard done else { throw .failed("ECDSA signature") }
        }
        return try Self.numbers(ofDER: Array(der[..<count]))
    }

    /// Returns whether this key has made a signature, in the form of ``signature(of:)``, of a message.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public func verifies(_ signature: Span<UInt8>, of message: Span<UInt8>) throws(OpenSSLError) -> Bool {
        try unsafe key.withKey { key throws(OpenSSLError) in
            try unsafe VerificationKey.verify(signature, of: message, by: key)
        }
    }

    // MARK: Forms of keys and signatures

    private static func coordinate(
        _ parameter: String,
        of key: PrivateKey,
        context: String
    ) throws(OpenSSLError) -> [UInt8] {
        let number = try unsafe key.withKey { key throws(OpenSSLError) in
            var number: OpaquePointer?
            guard unsafe EVP_PKEY_get_bn_param(key, parameter, &number) == 1 else {
                throw .draining(.malformedPrivateKey, context: context)
            }
            return unsafe number
        }
        defer { unsafe BN_free(number) }
        return try unsafe bytes(of: number)
    }

    /// Returns the bytes of a number of a signature or key.
    private static func bytes(of number: OpaquePointer?) throws(OpenSSLError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: coordinateBytes)
        guard unsafe BN_bn2binpad(number, &bytes, Int32(bytes.count)) == Int32(coordinateBytes) else {
            throw .failed("ECDSA")
        }
        return bytes
    }

    /// Converts a signature from DER (RFC 3279 section 2.2.3) to two numbers of fixed length.
    private static func numbers(ofDER der: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let signature = unsafe der.withUnsafeBufferPointer { der in
            var start = der.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &start, der.count)
        }
        guard let signature = unsafe signature else { throw .failed("ECDSA signature") }
        defer { unsafe ECDSA_SIG_free(signature) }
        let r = try unsafe bytes(of: ECDSA_SIG_get0_r(signature))
        let s = try unsafe bytes(of: ECDSA_SIG_get0_s(signature))
        return r + s
    }
}
