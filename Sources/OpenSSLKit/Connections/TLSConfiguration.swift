// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A version of TLS that can be negotiated; older ones are neither offered nor accepted (RFC 8996).
public enum TLSVersion: String, Sendable, Hashable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
}

/// The servers that a client trusts; there is no "any".
public enum TLSTrust: Sendable {
    /// Servers whose chain ends in a certificate of the system's store.
    case system
    /// Servers whose chain ends in one of these, and whose certificate has the requested name (RFC 6125).
    case authorities([Certificate])
    /// Servers whose own certificate has one of these SHA-256 digests (pinning); its name, issuer and dates are not
    /// checked.
    case pinned(Set<Digest>)
}

/// The configuration of a ``TLSContext``.
public struct TLSConfiguration: Sendable {
    /// The side of the connection, with its certificate or its trust.
    public enum Role: Sendable {
        /// Accepts connections and authenticates itself by an identity.
        case server(TLSIdentity)
        /// Opens connections and verifies the server.
        case client(TLSTrust)
    }

    /// The side of the connection.
    public var role: Role

    /// The lowest version to accept.
    ///
    /// The default is 1.2.
    public var minimumVersion: TLSVersion

    /// The highest version to offer or accept; for tests.
    var maximumVersion = TLSVersion.tls13

    /// Names of application protocols (RFC 7301), the preferred first: "http/1.1".
    ///
    /// The default is none. A server with names rejects a client that offers only others, by the alert
    /// no_application_protocol, and accepts one that offers none. A server without names ignores the client's offer.
    public var applicationProtocols: [String]

    /// Cipher suites and groups.
    ///
    /// The default is ``TLSParameters/intermediate``.
    public var parameters = TLSParameters.intermediate

    /// The keys of a server's session tickets; nil, the default, for no resumption.
    ///
    /// There is no early data (RFC 8446 2.3) in either case.
    public var sessionTickets: SessionTicketKeys?

    /// The rule for certificates of clients; nil, the default, to request none.
    public var clientCertificates: ClientCertificatePolicy?

    /// The identity that a client presents to a server that requests a certificate; nil, the default, for none.
    public var clientIdentity: TLSIdentity?

    /// A server's further identities, for clients that request their names; other clients get the identity of the role.
    public var hosts: [TLSHost] = []

    /// A name of the service, which separates its sessions from those of other servers with the same policy and ticket
    /// keys.
    ///
    /// The default is empty. Several addresses of one service may share it, and it must stay the same when the service
    /// is reloaded.
    public var sessionScope = ""

    /// Makes a configuration for one side.
    public init(role: Role, minimumVersion: TLSVersion = .tls12, applicationProtocols: [String] = []) {
        self.role = role
        self.minimumVersion = minimumVersion
        self.applicationProtocols = applicationProtocols
    }

    /// Makes the configuration of a server.
    public static func server(
        _ identity: TLSIdentity,
        minimumVersion: TLSVersion = .tls12,
        applicationProtocols: [String] = [],
        sessionTickets: SessionTicketKeys? = nil,
        clientCertificates: ClientCertificatePolicy? = nil
    ) -> TLSConfiguration {
        var configuration = TLSConfiguration(
            role: .server(identity),
            minimumVersion: minimumVersion,
            applicationProtocols: applicationProtocols
        )
        configuration.sessionTickets = sessionTickets
        configuration.clientCertificates = clientCertificates
        return configuration
    }

    /// Makes the configuration of a client.
    ///
    /// - Parameters:
    ///   - trust: The servers that the client trusts.
    ///   - identity: The identity that the client presents to a server that requests a certificate.
    ///   - minimumVersion: The lowest version to accept.
    ///   - applicationProtocols: Names of application protocols.
    /// - Returns: A client's configuration.
    public static func client(
        trusting trust: TLSTrust,
        identity: TLSIdentity? = nil,
        minimumVersion: TLSVersion = .tls12,
        applicationProtocols: [String] = []
    ) -> TLSConfiguration {
        var configuration = TLSConfiguration(
            role: .client(trust),
            minimumVersion: minimumVersion,
            applicationProtocols: applicationProtocols
        )
        configuration.clientIdentity = identity
        return configuration
    }
}
