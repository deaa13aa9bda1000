// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An error of a key, a certificate, a TLS connection or the OpenSSL library.
///
/// Two errors are equal if their ``code`` is equal. The text is for logs and administrators. It never contains key
/// material. ``reasons`` may contain data of the peer, so the text must not be sent to the peer.
public struct OpenSSLError: Error, Sendable {
    /// The kind of error, and its explanation.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text contains no PEM certificate.
        case noCertificate = "contains no certificate; expected a PEM block \"BEGIN CERTIFICATE\""
        /// A PEM certificate cannot be read.
        case malformedCertificate = "the certificate cannot be read"
        /// The text contains no PEM private key.
        case noPrivateKey = "contains no private key; expected a PEM block \"BEGIN PRIVATE KEY\""
        /// A PEM private key cannot be read.
        case malformedPrivateKey = "the private key cannot be read"
        /// The private key is encrypted with a pass phrase. This library does not prompt for pass phrases.
        case encryptedPrivateKey = "the private key is encrypted; store it decrypted, readable only by the server"
        /// The private key does not belong to the certificate.
        case keyMismatch = "the key does not belong to the certificate"
        /// The private key is not an EC key on the curve P-256.
        case notP256 = "the key is not an EC key on the curve P-256"
        /// The text contains no PEM revocation list.
        case noRevocationList = "contains no revocation list; expected a PEM block \"BEGIN X509 CRL\""
        /// A PEM revocation list cannot be read.
        case malformedRevocationList = "the revocation list cannot be read"
        /// A revocation list has only the changes to a complete list.
        case deltaRevocationList = """
            the revocation list is a delta of a complete list, and cannot be used; name the complete list only, \
            and publish it as often as the delta
            """
        /// An OCSP response cannot be read.
        case malformedOCSPResponse = "the response cannot be read; expected DER, as openssl ocsp -respout writes it"
        /// An OCSP response is about another certificate, or does not report the certificate as good.
        case rejectedOCSPResponse = "the response cannot be sent to clients"
        /// The certificate has expired.
        case certificateExpired = "the certificate has expired"
        /// The certificate is not valid yet.
        case certificateNotYetValid = "the certificate is not valid yet; check the clock"
        /// A DNS name or IP address is malformed.
        case invalidName = "not allowed as a DNS name or IP address"
        /// A TLS setting is rejected, such as an unknown protocol name, a weak key or an empty list.
        case invalidConfiguration = "rejected"
        /// The peer speaks plain HTTP instead of TLS.
        case plainHTTP = "the peer speaks plain HTTP, not TLS"
        /// The peer does not speak TLS.
        case notTLS = "the peer does not speak TLS"
        /// The peer offers only versions of TLS that are not accepted.
        case unsupportedVersion = "the peer offers no accepted version of TLS"
        /// The two sides have no cipher suite, group or signature algorithm in common.
        case noSharedParameters = "no cipher suite, group or signature algorithm in common with the peer"
        /// The two sides have no application protocol in common (RFC 7301 3.2).
        case noApplicationProtocol = "no application protocol in common with the peer"
        /// The peer's certificate was rejected.
        case certificateRejected = "the peer's certificate was rejected"
        /// The peer ended the connection with an alert.
        case alertReceived = "the peer ended the connection with an alert"
        /// The peer violated the protocol, for example by a record that is forged, out of order or too long.
        case protocolViolation = "the peer violated the TLS protocol"
        /// OpenSSL failed, for example without memory, random bytes or a provider.
        case libraryFailure = "OpenSSL failed"
    }

    /// The kind of error.
    public let code: Code
    /// The operation or object that failed, such as "certificate file cert.pem".
    public let context: String
    /// The entries of OpenSSL's error queue at the failure, the oldest first.
    public let reasons: [String]

    /// Creates an error.
    public init(_ code: Code, context: String, reasons: [String] = []) {
        self.code = code
        self.context = context
        self.reasons = reasons
    }

    /// Creates the error of a setting that is not allowed.
    static func invalid(_ context: String) -> OpenSSLError { OpenSSLError(.invalidConfiguration, context: context) }

    /// Creates the error of a call that has failed without a fault of its input, and empties OpenSSL's error queue.
    static func failed(_ context: String) -> OpenSSLError { draining(.libraryFailure, context: context) }

    /// Creates an error with all entries of OpenSSL's error queue, and empties the queue.
    static func draining(_ code: Code, context: String) -> OpenSSLError {
        OpenSSLError(code, context: context, reasons: ErrorQueue.drain().map(\.text))
    }
}

extension OpenSSLError: Equatable {
    /// Compares by ``code`` alone.
    public static func == (left: OpenSSLError, right: OpenSSLError) -> Bool { left.code == right.code }
}

extension OpenSSLError: CustomStringConvertible {
    /// One line with the operation, the error, a remedy and OpenSSL's reasons.
    public var description: String {
        let details = reasons.isEmpty ? "" : " (\(reasons.joined(separator: "; ")))"
        return "\(context): \(code.rawValue)\(details)"
    }
}

/// The version of OpenSSL.
public enum OpenSSLVersion {
    /// The version of the loaded library, such as `OpenSSL 3.0.17 1 Jul 2025`, which can be newer than at the build.
    public static var loaded: String { unsafe String(cString: OpenSSL_version(OPENSSL_VERSION)) }
}

/// OpenSSL's error queue of the current thread, which has the details of errors.
///
/// It is cleared before a call, because SSL_get_error(3) also reads it, and drained after a call that has failed.
enum ErrorQueue {
    struct Entry {
        let library: Int32
        let reason: Int32
        let text: String
    }

    static func clear() { ERR_clear_error() }

    /// Clears the queue if it is not empty, because checking takes less time than clearing.
    @inline(__always)
    static func clearIfNeeded() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// Adds the reason of a callback, in ASCII, to the error of the connection.
    static func add(_ text: String) { unsafe text.withCString { unsafe gatehouse_ERR_raise($0) } }

    /// Removes and returns all entries, the oldest first.
    static func drain() -> [Entry] {
        var entries: [Entry] = []
        while true {
            var data: UnsafePointer<CChar>?
            var flags: Int32 = 0
            let code = unsafe ERR_get_error_all(nil, nil, nil, &data, &flags)
            guard code != 0 else { return entries }
            var text = "error \(code)"
            if let reason = unsafe ERR_reason_error_string(code) { text = unsafe String(cString: reason) }
            let library = gatehouse_ERR_GET_LIB(code)
            if flags & ERR_TXT_STRING != 0, let data = unsafe data {
                let detail = unsafe String(cString: data)
                if library == ERR_LIB_USER { text = detail } else if !detail.isEmpty { text += ": \(detail)" }
            }
            entries.append(Entry(library: library, reason: gatehouse_ERR_GET_REASON(code), text: text))
        }
    }
}

enum ConnectionFailure {
    /// Returns the reason why a connection has failed, and drains OpenSSL's error queue.
    static func error(of ssl: OpaquePointer, context: String) -> OpenSSLError {
        let entries = ErrorQueue.drain()
        var reasons = entries.filter { $0.library != ERR_LIB_USER }.map(\.text)
        // The first entry is the cause. Later entries are its consequences.
        let code = entries.first { $0.library == ERR_LIB_SSL }.map { self.code(of: $0.reason) } ?? .libraryFailure
        if let own = entries.last(where: { $0.library == ERR_LIB_USER }) {
            reasons.append(own.text)
        } else if code == .certificateRejected {
            let text = unsafe X509_verify_cert_error_string(SSL_get_verify_result(ssl))
            if let text = unsafe text { reasons.append(unsafe String(cString: text)) }
        }
        return OpenSSLError(code, context: context, reasons: reasons)
    }

    private static func code(of reason: Int32) -> OpenSSLError.Code {
        switch reason {
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST: .plainHTTP
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_UNKNOWN_PROTOCOL: .notTLS
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_VERSION_TOO_HIGH, SSL_R_NO_PROTOCOLS_AVAILABLE:
            .unsupportedVersion
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SHARED_GROUPS, SSL_R_NO_SUITABLE_KEY_SHARE,
            SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
            .noSharedParameters
        case SSL_R_NO_APPLICATION_PROTOCOL: .noApplicationProtocol
        case SSL_R_CERTIFICATE_VERIFY_FAILED, SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: .certificateRejected
        // The code of a received alert is 1000 plus the number of the alert.
        case Int32(SSL_AD_REASON_OFFSET)...Int32(SSL_AD_REASON_OFFSET + 255): .alertReceived
        case Int32(ERR_R_MALLOC_FAILURE), Int32(ERR_R_INTERNAL_ERROR): .libraryFailure
        case _: .protocolViolation
        }
    }
}
