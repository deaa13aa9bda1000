// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What a server asks of its clients by way of certificates.
///
/// A certificate that is shown must be good, whether one is asked for or demanded: its chain ends in one of the
/// authorities, it is valid now, for the use of clients (RFC 5280 4.2.1.12), not revoked. Otherwise there is no
/// connection. The same holds again, with the authorities, lists and the clock of that moment, when a session is resumed.
public struct ClientCertificatePolicy: Sendable {
    /// Whether a client may do without.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// A client may show none.
        case optional
        /// A client without one is refused.
        case required
    }

    /// Whether a client may do without.
    public let mode: Mode
    /// Where chains must end; their names are sent to clients, which choose a certificate by them.
    public let authorities: [Certificate]
    /// The revoked certificates; if there is one list, there must be one of every authority in a chain.
    public let revocationLists: [RevocationList]
    /// How many intermediates a chain may have between the client's certificate and the authority's.
    public let maximumDepth: Int

    /// Makes a policy.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` for no authority, for one that is no certificate
    ///   authority (RFC 5280 4.2.1.9), for a depth outside 0 to 20.
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
            let context = "certificate \(authority.subject), which is not one of an authority"
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
