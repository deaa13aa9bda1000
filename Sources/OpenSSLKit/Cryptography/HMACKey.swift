// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// A key of HMAC-SHA-256 (RFC 2104), scheduled once and used from any thread.
///
/// The key's bytes are kept by OpenSSL alone, which wipes them with this object. It has no description of them.
@safe
public final class HMACKey: @unchecked Sendable {
    // Unchecked because of the pointer: the template is only duplicated after init, never fed.
    private let template: OpaquePointer

    /// Takes a key of 16 bytes or more; the caller wipes its own copy.
    ///
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` for a shorter key, `libraryFailure` if OpenSSL fails.
    public init(_ key: Span<UInt8>) throws(OpenSSLError) {
        guard key.count >= 16 else {
            throw OpenSSLError(.invalidConfiguration, context: "HMAC key of \(key.count) bytes; 16 are the least")
        }
        ErrorQueue.clear()
        guard let hmac = unsafe Algorithms.shared.hmac, let template = unsafe EVP_MAC_CTX_new(hmac) else {
            throw .draining(.libraryFailure, context: "HMAC")
        }
        let started = unsafe key.withUnsafeBufferPointer { key in
            unsafe gatehouse_EVP_MAC_init_SHA256(template, key.baseAddress, key.count)
        }
        guard started == 1 else {
            unsafe EVP_MAC_CTX_free(template)
            throw .draining(.libraryFailure, context: "HMAC")
        }
        unsafe self.template = template
    }

    deinit { unsafe EVP_MAC_CTX_free(template) }

    /// Computes the tag of a message.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public func tag(_ message: Span<UInt8>) throws(OpenSSLError) -> Digest {
        ErrorQueue.clear()
        guard let run = unsafe EVP_MAC_CTX_dup(template) else {
            throw .draining(.libraryFailure, context: "HMAC")
        }
        defer { unsafe EVP_MAC_CTX_free(run) }
        return try unsafe Digest { output throws(OpenSSLError) in
            let fed = unsafe message.withUnsafeBufferPointer { message in
                // EVP_MAC_update refuses no pointer at all, which is what an empty span has.
                message.isEmpty ? 1 : unsafe EVP_MAC_update(run, message.baseAddress, message.count)
            }
            var count = 0
            guard fed == 1, unsafe EVP_MAC_final(run, output, &count, Digest.byteCount) == 1,
                count == Digest.byteCount
            else { throw .draining(.libraryFailure, context: "HMAC") }
        }
    }
}
