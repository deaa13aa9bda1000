// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Finds the reason why a connection has failed in OpenSSL's error queue.
enum ConnectionFailure {
    /// Returns the error, and drains the queue.
    static func error(of ssl: OpaquePointer, context: String) -> OpenSSLError {
        let entries = ErrorQueue.drain()
        var reasons = entries.filter { $0.library != ERR_LIB_USER }.map(\.text)
        // The first entry is the cause. Later entries are its consequences.
        let code = entries.first { $0.library == ERR_LIB_SSL }.map { self.code(of: $0.reason) } ?? .libraryFailure
        if let own = entries.last(where: { $0.library == ERR_LIB_USER }) {
            reasons.append(own.text)
        } else if code == .certificateRejected {
            let result = unsafe SSL_get_verify_result(ssl)
            if let text = unsafe X509_verify_cert_error_string(result) {
                reasons.append(unsafe String(cString: text))
            }
        }
        return OpenSSLError(code, context: context, reasons: reasons)
    }

    private static func code(of reason: Int32) -> OpenSSLError.Code {
        switch reason {
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST:
            .plainHTTP
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_UNKNOWN_PROTOCOL:
            .notTLS
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_VERSION_TOO_HIGH, SSL_R_NO_PROTOCOLS_AVAILABLE:
            .unsupportedVersion
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SHARED_GROUPS, SSL_R_NO_SUITABLE_KEY_SHARE,
            SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
            .noSharedParameters
        case SSL_R_NO_APPLICATION_PROTOCOL:
            .noApplicationProtocol
        case SSL_R_CERTIFICATE_VERIFY_FAILED, SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            .certificateRejected
        // The code of a received alert is 1000 plus the number of the alert.
        case Int32(SSL_AD_REASON_OFFSET)...Int32(SSL_AD_REASON_OFFSET + 255):
            .alertReceived
        case Int32(ERR_R_MALLOC_FAILURE), Int32(ERR_R_INTERNAL_ERROR):
            .libraryFailure
        case _:
            .protocolViolation
        }
    }
}
