// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The rule for certificates of clients.
///
/// A certificate that a client presents must be valid in both modes: its chain ends in one of the authorities, it has
/// not expired, it is for the use of clients (RFC 5280 4.2.1.12), and it is not revoked. Otherwise the handshake fails.
/// When a session is resumed, the certificate is verified again, with the authorities, the lists and the clock of that
/// moment.
public struct ClientCertificatePolicy: Sendable {
    /// The requirement for a certificate.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// A client may present no certificate.
        case optional
        /// A client without a certificate is rejected.
        case required
    }

    /// The requirement for a certificate.
    public let mode: Mode
    /// The authorities in which chains must end; their names are sent to clients, which choose a certificate by them.
    public let authorities: [Certificate]
    /// The revoked certificates; if there is one list, there must be one of every authority in a chain.
    public let revocationLists: [RevocationList]
    /// The number of intermediates that a chain may have between the client's certificate and the authority's.
    public let maximumDepth: Int

    /// Makes a policy.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` for no authority, for a certificate that is not of
    ///   an authority (RFC 5280 4.2.1.9), for a depth outside 0 to 20.
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
            throw OpenSSLError(.invalidConfiguration, context: "depth \(maximumDepth) of client certificate chains")
        }
        self.mode = mode
        self.authorities = authorities
        self.revocationLists = revocationLists
        self.maximumDepth = maximumDepth
    }
}
