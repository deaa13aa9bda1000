// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A private key in memory of OpenSSL, which is wiped when the last reference is released.
///
/// The object can be used from any thread. It has no description, so the key cannot get into a log.
@safe
public final class PrivateKey: @unchecked Sendable {
    // Unchecked because of the pointer. The EVP_PKEY is never changed, and its reference count is atomic.
    private let key: OpaquePointer

    private init(owning key: OpaquePointer) { unsafe self.key = key }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Makes a new key on the curve P-256 (FIPS 186-4 D.1.2.3).
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public static func makeP256() throws(OpenSSLError) -> PrivateKey {
        ErrorQueue.clear()
        guard let key = unsafe gatehouse_EVP_EC_gen_P256() else { throw .failed("P-256 key") }
        return unsafe PrivateKey(owning: key)
    }

    /// Reads the first private key of a PEM text: PKCS#8 (RFC 5958), or one of the older forms for RSA and EC keys.
    ///
    /// Other blocks are skipped. The caller must wipe the text. `name` is that of the file, for error messages.
    ///
    /// - Throws: ``OpenSSLError`` with code `noPrivateKey`, `malformedPrivateKey` or `encryptedPrivateKey`.
    public init(pem: Span<UInt8>, name: String) throws(OpenSSLError) {
        let context = "private key file \(name)"
        guard !pem.isEmpty else { throw OpenSSLError(.noPrivateKey, context: context) }
        ErrorQueue.clear()
        unsafe key = try unsafe withReadBIO(over: pem, context: context) { bio throws(OpenSSLError) in
            var needsPassPhrase = false
            // Without this callback OpenSSL would prompt for a pass phrase at the terminal.
            let key = unsafe withUnsafeMutablePointer(to: &needsPassPhrase) { needsPassPhrase in
                unsafe PEM_read_bio_PrivateKey(
                    bio,
                    nil,
                    { _, _, _, needsPassPhrase in
                        unsafe needsPassPhrase?.assumingMemoryBound(to: Bool.self).pointee = true
                        return -1
                    },
                    needsPassPhrase
                )
            }
            if let key = unsafe key { return unsafe key }
            let entries = ErrorQueue.drain()
            let noStart = entries.contains { $0.library == ERR_LIB_PEM && $0.reason == PEM_R_NO_START_LINE }
            let unsupported = entries.contains { $0.library == ERR_LIB_OSSL_DECODER }
            // For an encrypted key, the reasons of OpenSSL only say that there was no pass phrase.
            if needsPassPhrase { throw OpenSSLError(.encryptedPrivateKey, context: context) }
            let isMissing = noStart || (unsupported && !Self.mentionsPrivateKey(pem))
            let code = isMissing ? OpenSSLError.Code.noPrivateKey : .malformedPrivateKey
            throw OpenSSLError(code, context: context, reasons: entries.map(\.text))
        }
    }

    /// Reads the first private key of a PEM text.
    public convenience init(pem: [UInt8], name: String) throws(OpenSSLError) {
        try self.init(pem: pem.span, name: name)
    }

    /// Calls `body` with the key as an unencrypted PEM block in PKCS#8 form, which is wiped when `body` returns.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`, or the error of `body`.
    public func withPEM<R>(_ body: (Span<UInt8>) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        ErrorQueue.clear()
        let bio = try MemoryBIO(context: "private key")
        guard unsafe PEM_write_bio_PKCS8PrivateKey(bio.pointer, key, nil, nil, 0, nil, nil) == 1 else {
            throw .failed("private key")
        }
        return try bio.withBytes(body)
    }

    /// Returns whether the key belongs to a certificate.
    public func belongs(to certificate: Certificate) throws(OpenSSLError) -> Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        return try unsafe certificate.withX509 { x509 throws(OpenSSLError) in
            unsafe X509_check_private_key(x509, key) == 1
        }
    }

    /// Calls `body` with the EVP_PKEY, which it must not change or free.
    func withKey<R>(_ body: (OpaquePointer) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(key)
    }

    private static func mentionsPrivateKey(_ pem: Span<UInt8>) -> Bool {
        unsafe pem.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self).contains("PRIVATE KEY-----") }
    }
}

/// Returns OpenSSL's name of the curve of an EC key; nil for a curve without a name.
func curveName(of key: OpaquePointer) -> String? {
    var name = [CChar](repeating: 0, count: 80)
    var count = 0
    guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
    return String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
