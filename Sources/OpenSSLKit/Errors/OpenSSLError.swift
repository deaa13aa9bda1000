// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A fault in a key, a certificate, a TLS connection or the OpenSSL library.
///
/// Two errors are equal if their ``code`` is equal. The text is for the log and for administrators; it never holds
/// key material, but ``reasons`` may name what a peer sent and is not for the peer's eyes.
public struct OpenSSLError: Error, Sendable {
    /// What kind of fault it was: what a program may act on.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text holds no PEM certificate.
        case noCertificate
        /// A PEM certificate cannot be read.
        case malformedCertificate
        /// The text holds no PEM private key.
        case noPrivateKey
        /// A PEM private key cannot be read.
        case malformedPrivateKey
        /// The private key is protected by a pass phrase; this library asks nobody for it.
        case encryptedPrivateKey
        /// The private key is not the one the certificate was made for.
        case keyMismatch
        /// The text holds no PEM revocation list.
        case noRevocationList
        /// A PEM revocation list cannot be read.
        case malformedRevocationList
        /// An OCSP response cannot be read.
        case malformedOCSPResponse
        /// An OCSP response is of another certificate, or does not say that it is good.
        case unfitOCSPResponse
        /// The certificate's end of validity has passed.
        case certificateExpired
        /// The certificate's begin of validity has not come.
        case certificateNotYetValid
        /// A DNS name or IP address is not one.
        case invalidName
        /// A TLS setting is refused: an unknown protocol name, a key too weak, an empty list.
        case invalidConfiguration
        /// The peer speaks plain HTTP instead of TLS.
        case plainHTTP
        /// The peer does not speak TLS.
        case notTLS
        /// The peer offers only versions of TLS that are refused.
        case unsupportedVersion
        /// The two sides have no cipher suite, group or signature algorithm in common.
        case noSharedParameters
        /// The two sides have no application protocol in common (RFC 7301 3.2).
        case noApplicationProtocol
        /// The peer's certificate was not accepted.
        case certificateRejected
        /// The peer ended the connection by an alert.
        case alertReceived
        /// The peer broke the protocol: a record forged, out of order, too long.
        case protocolViolation
        /// OpenSSL could not do what it always can: no memory, no randomness, a provider missing.
        case libraryFailure
    }

    /// The kind of fault.
    public let code: Code

    /// What was being done and to what: "certificate chain cert.pem".
    public let context: String

    /// What OpenSSL put in its error queue, oldest first; emptied from there at the point of failure.
    public let reasons: [String]

    /// Makes an error out of its parts.
    public init(_ code: Code, context: String, reasons: [String] = []) {
        self.code = code
        self.context = context
        self.reasons = reasons
    }

    /// Makes an error that takes along everything in this thread's OpenSSL error queue, leaving it empty.
    static func draining(_ code: Code, context: String) -> OpenSSLError {
        OpenSSLError(code, context: context, reasons: ErrorQueue.drain().map(\.text))
    }
}

extension OpenSSLError: Equatable {
    /// Compares by ``code`` alone.
    public static func == (left: OpenSSLError, right: OpenSSLError) -> Bool { left.code == right.code }
}

extension OpenSSLError: CustomStringConvertible {
    /// One line: what was done, what went wrong, what to do about it, OpenSSL's own reasons.
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
        case .unfitOCSPResponse: "it cannot be handed to clients"
        case .certificateExpired: "the certificate has expired"
        case .certificateNotYetValid: "the certificate is not valid yet; check the clock"
        case .invalidName: "not a DNS name or IP address"
        case .invalidConfiguration: "refused"
        case .plainHTTP: "the peer speaks plain HTTP, not TLS"
        case .notTLS: "the peer does not speak TLS"
        case .unsupportedVersion: "the peer offers no accepted version of TLS"
        case .noSharedParameters: "no cipher suite, group or signature algorithm in common with the peer"
        case .noApplicationProtocol: "no application protocol in common with the peer"
        case .certificateRejected: "the peer's certificate is not accepted"
        case .alertReceived: "the peer ended the connection by an alert"
        case .protocolViolation: "the peer broke the TLS protocol"
        case .libraryFailure: "OpenSSL failed"
        }
    }
}
