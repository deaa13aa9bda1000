// SPDX-License-Identifier: Apache-2.0

/// The policy for client certificates.
///
/// In both modes the handshake fails if the client presents a certificate that is not valid. A certificate is valid if
/// its chain ends in one of the authorities, it has not expired, it may be used by clients (RFC 5280 4.2.1.12), and it
/// is not revoked. When a session is resumed, the certificate is verified again, with the current authorities, lists
/// and time.
public struct ClientCertificatePolicy: Sendable {
    /// The requirement for a certificate.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// A client without a certificate is accepted.
        case optional
        /// A client without a certificate is rejected.
        case required
    }

    /// The requirement for a certificate.
    public let mode: Mode
    /// The authorities in which chains must end.
    ///
    /// The names of the authorities are sent to clients, so that clients can choose a certificate.
    public let authorities: [Certificate]
    /// The lists of revoked certificates.
    ///
    /// If there are lists, every authority of a client's chain needs a list. Otherwise the client's certificate is
    /// rejected.
    public let revocationLists: [RevocationList]
    /// The maximum number of intermediates between the client's certificate and the authority's certificate.
    public let maximumDepth: Int

    /// Makes a policy.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if `authorities` is empty or contains a certificate
    ///   that is not a CA certificate (RFC 5280 4.2.1.9), or if `maximumDepth` is not in 0 to 20.
    public init(
        mode: Mode,
        authorities: [Certificate],
        revocationLists: [RevocationList] = [],
        maximumDepth: Int = 1
    ) throws(OpenSSLError) {
        guard !authorities.isEmpty else {
            throw OpenSSLError(.invalidConfiguration, context: "empty list of client certificate authorities")
        }
        for authority in authorities where try !authority.isAuthority {
            let context = "certificate \(authority.subject), which is not a certificate authority"
            throw OpenSSLError(.invalidConfiguration, context: context)
        }
        guard (0...20).contains(maximumDepth) else {
            let context = "maximum depth \(maximumDepth) of client certificate chains (0 to 20)"
            throw OpenSSLError(.invalidConfiguration, context: context)
        }
        self.mode = mode
        self.authorities = authorities
        self.revocationLists = revocationLists
        self.maximumDepth = maximumDepth
    }
}
