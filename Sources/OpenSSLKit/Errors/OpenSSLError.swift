// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// An error of a key, a certificate, a TLS connection or the OpenSSL library.
///
/// Two errors are equal if their ``code`` is equal. The text is for the log and for administrators; it never contains
/// key material, but ``reasons`` may quote the peer's data and must not be sent to the peer.
public struct OpenSSLError: Error, Sendable {
    /// The kind of error, for programs.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text holds no PEM certificate.
        case noCertificate
        /// A PEM certificate cannot be read.
        case malformedCertificate
        /// The text holds no PEM private key.
        case noPrivateKey
        /// A PEM private key cannot be read.
        case malformedPrivateKey
        /// The private key is protected by a pass phrase; this library does not prompt for it.
        case encryptedPrivateKey
        /// The private key is not the one the certificate was made for.
        case keyMismatch
        /// The text holds no PEM revocation list.
        case noRevocationList
        /// A PEM revocation list cannot be read.
        case malformedRevocationList
        /// An OCSP response cannot be read.
        case malformedOCSPResponse
        /// An OCSP response is about another certificate, or does not report it as good.
        case unfitOCSPResponse
        /// The certificate has expired.
        case certificateExpired
        /// The certificate is not valid yet.
        case certificateNotYetValid
        /// A DNS name or IP address is malformed.
        case invalidName
        /// A TLS setting is rejected: an unknown protocol name, a key too weak, an empty list.
        case invalidConfiguration
        /// The peer speaks plain HTTP instead of TLS.
        case plainHTTP
        /// The peer does not speak TLS.
        case notTLS
        /// The peer offers only versions of TLS that are not accepted.
        case unsupportedVersion
        /// The two sides have no cipher suite, group or signature algorithm in common.
        case noSharedParameters
        /// The two sides have no application protocol in common (RFC 7301 3.2).
        case noApplicationProtocol
        /// The peer's certificate was not accepted.
        case certificateRejected
        /// The peer ended the connection by an alert.
        case alertReceived
        /// The peer violated the protocol: a record is forged, out of order or too long.
        case protocolViolation
        /// OpenSSL failed: no memory, no random bytes, a missing provider.
        case libraryFailure
    }

    /// The kind of error.
    public let code: Code

    /// The operation and its object: "certificate chain cert.pem".
    public let context: String

    /// The entries of OpenSSL's error queue, oldest first, removed from it at the point of failure.
    public let reasons: [String]

    /// Creates an error.
    public init(_ code: Code, context: String, reasons: [String] = []) {
        self.code = code
        self.context = context
        self.reasons = reasons
    }

    /// Creates an error with all entries of this thread's OpenSSL error queue, which is empty afterwards.
    static func draining(_ code: Code, context: String) -> OpenSSLError {
        OpenSSLError(code, context: context, reasons: ErrorQueue.drain().map(\.text))
    }
}

extension OpenSSLError: Equatable {
    /// Compares by ``code`` alone.
    public static func == (left: OpenSSLError, right: OpenSSLError) -> Bool { left.code == right.code }
}

extension OpenSSLError: CustomStringConvertible {
    /// One line: the operation, the error, a remedy, OpenSSL's own reasons.
    public var description: String {
        let details = reasons.isEmpty ? "" : " (\(reasons.joined(separator: "; ")))"
        return "\(context): \(code.explanation)\(details)"
    }
}

extension OpenSSLError.Code {
    fileprivate var explanation: String {
        switch self {
        case .noCertificate: "no certificate in it; expected a PEM block \"BEGIN CERTIFICATE\""
        case .malformedCertificate: "the certificate cannot be read"
        case .noPrivateKey: "no private key in it; expected a PEM block \"BEGIN PRIVATE KEY\""
        case .malformedPrivateKey: "the private key cannot be read"
        case .encryptedPrivateKey: "the private key is encrypted; store it decrypted, readable by the server only"
        case .keyMismatch: "the key does not belong to the certificate"
        case .noRevocationList: "no revocation list in it; expected a PEM block \"BEGIN X509 CRL\""
        case .malformedRevocationList: "the revocation list cannot be read"
        case .malformedOCSPResponse: "the response cannot be read; expected DER, as openssl ocsp -respout writes it"
        case .unfitOCSPResponse: "it cannot be sent to clients"
        case .certificateExpired: "the certificate has expired"
        case .certificateNotYetValid: "the certificate is not valid yet; check the clock"
        case .invalidName: "not a DNS name or IP address"
        case .invalidConfiguration: "rejected"
        case .plainHTTP: "the peer speaks plain HTTP, not TLS"
        case .notTLS: "the peer does not speak TLS"
        case .unsupportedVersion: "the peer offers no accepted version of TLS"
        case .noSharedParameters: "no cipher suite, group or signature algorithm in common with the peer"
        case .noApplicationProtocol: "no application protocol in common with the peer"
        case .certificateRejected: "the peer's certificate is not accepted"
        case .alertReceived: "the peer ended the connection by an alert"
        case .protocolViolation: "the peer violated the TLS protocol"
        case .libraryFailure: "OpenSSL failed"
        }
    }
}
