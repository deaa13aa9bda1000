// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Verifies a client's certificate again when a session is resumed.
///
/// In a resumed handshake the client proves only that it has the ticket. Since the first handshake, its certificate may
/// have expired, it may have been revoked, or its authority may have been removed. The ticket contains the certificate
/// and the intermediates.
enum PeerVerification {
    /// The maximum number of bytes of intermediates in a ticket.
    ///
    /// A client with longer intermediates cannot resume sessions.
    static let intermediatesLimit = 8_192

    /// Verifies a client's certificate as in a full handshake.
    ///
    /// - Parameters:
    ///   - leaf: The certificate.
    ///   - intermediates: The DER forms of the intermediates, one after the other.
    ///   - context: The SSL_CTX of a server, with its authorities and revocation lists.
    /// - Returns: The chain from the certificate to the authority.
    /// - Throws: ``OpenSSLError`` with code `certificateRejected` and the reason, or `libraryFailure`.
    static func chain(
        of leaf: OpaquePointer,
        intermediates: [UInt8],
        in context: OpaquePointer
    ) throws(OpenSSLError) -> [Certificate] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let place = "client certificate"
        guard let untrusted = unsafe gatehouse_sk_X509_new() else { throw .draining(.libraryFailure, context: place) }
        defer { unsafe gatehouse_sk_X509_free_all(untrusted) }
        guard unsafe add(intermediates, to: untrusted), let check = unsafe X509_STORE_CTX_new() else {
            throw .draining(.libraryFailure, context: place)
        }
        defer { unsafe X509_STORE_CTX_free(check) }
        guard unsafe X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(context), leaf, untrusted) == 1,
            unsafe X509_STORE_CTX_set_default(check, "ssl_client") == 1,
            let parameters = unsafe X509_STORE_CTX_get0_param(check),
            // The depth, the revocation lists and the purpose are those of full handshakes.
            unsafe X509_VERIFY_PARAM_set1(parameters, SSL_CTX_get0_param(context)) == 1
        else { throw .draining(.libraryFailure, context: place) }
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, SSL_CTX_get_security_level(context))
        guard unsafe X509_verify_cert(check) == 1 else {
            let reason = unsafe X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(check)))
            let text = unsafe reason.map { unsafe String(cString: $0) } ?? "certificate verify failed"
            throw OpenSSLError(.certificateRejected, context: place, reasons: [text])
        }
        guard let chain = unsafe certificates(X509_STORE_CTX_get0_chain(check)) else {
            throw .draining(.libraryFailure, context: place)
        }
        return chain
    }

    /// Returns the certificates of a stack; nil if it is empty or a certificate cannot be read.
    static func certificates(_ stack: OpaquePointer?) -> [Certificate]? {
        guard let stack = unsafe stack else { return nil }
        var certificates: [Certificate] = []
        for index in 0..<(unsafe gatehouse_sk_X509_num(stack)) {
            guard let x509 = unsafe gatehouse_sk_X509_value(stack, index), unsafe X509_up_ref(x509) == 1 else {
                return nil
            }
            do throws(OpenSSLError) {
                certificates.append(try unsafe Certificate(owning: x509, context: "certificate of the peer"))
            } catch {
                return nil
            }
        }
        return certificates.isEmpty ? nil : certificates
    }

    /// Returns the DER forms of a stack's certificates, one after the other; nil if they are too long for a ticket.
    static func encoded(_ stack: OpaquePointer?) -> [UInt8]? {
        var all: [UInt8] = []
        guard let stack = unsafe stack else { return all }
        for index in 0..<(unsafe gatehouse_sk_X509_num(stack)) {
            let x509 = unsafe gatehouse_sk_X509_value(stack, index)
            let count = unsafe i2d_X509(x509, nil)
            guard count > 0, all.count + Int(count) <= intermediatesLimit else { return nil }
            var der = [UInt8](repeating: 0, count: Int(count))
            let written = unsafe der.withUnsafeMutableBufferPointer { buffer in
                var start = buffer.baseAddress
                return unsafe i2d_X509(x509, &start)
            }
            guard written == count else { return nil }
            all += der
        }
        return all
    }

    private static func add(_ encoded: [UInt8], to stack: OpaquePointer) -> Bool {
        unsafe encoded.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return true }
            let end = unsafe first + bytes.count
            var start: UnsafePointer<UInt8>? = unsafe first
            while let place = unsafe start, unsafe place < end {
                guard let x509 = unsafe d2i_X509(nil, &start, end - place) else { return false }
                guard unsafe gatehouse_sk_X509_push(stack, x509) > 0 else {
                    unsafe X509_free(x509)
                    return false
                }
            }
            return true
        }
    }
}
