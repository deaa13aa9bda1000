// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A version of TLS that may be negotiated; older ones are not offered and not accepted (RFC 8996).
public enum TLSVersion: String, Sendable, Hashable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
}

/// Which servers a client takes for genuine; there is no "any".
public enum TLSTrust: Sendable {
    /// Those whose chain ends in a certificate of the system's store.
    case system
    /// Those whose chain ends in one of these, and that carry the name that was asked for (RFC 6125).
    case authorities([Certificate])
    /// Those whose own certificate has one of these SHA-256 digests, whatever its name, issuer and dates: pinning.
    case pinned(Set<Digest>)
}

/// What a ``TLSContext`` is made of.
public struct TLSConfiguration: Sendable {
    /// The side of the connection, and what only that side has.
    public enum Role: Sendable {
        /// Accepts connections and proves itself by an identity.
        case server(TLSIdentity)
        /// Opens connections and checks the server.
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
    /// The default is none. A server with names refuses a client that offers others only, by the alert
    /// no_application_protocol, and accepts one that offers none. A server without names ignores what is offered.
    public var applicationProtocols: [String]

    /// Cipher suites and groups.
    ///
    /// The default is ``TLSParameters/intermediate``.
    public var parameters = TLSParameters.intermediate

    /// The keys of a server's session tickets; nil, the default, for no resumption.
    ///
    /// There is no early data (RFC 8446 2.3) in either case.
    public var sessionTickets: SessionTicketKeys?

    /// What a server asks of its clients; nil, the default, for not asking for certificates.
    public var clientCertificates: ClientCertificatePolicy?

    /// What a client shows to a server that asks for a certificate; nil, the default, for nothing.
    public var clientIdentity: TLSIdentity?

    /// A server's further identities, for clients that ask for their names; others get that of the role.
    public var hosts: [TLSHost] = []

    /// A name for what this server is, where servers of one policy share ticket keys and their sessions are to be kept apart.
    ///
    /// The default is empty. It may be the same for several addresses of one service, and must be for one that is reloaded.
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
    ///   - trust: Which servers are genuine.
    ///   - identity: What the client shows to a server that asks for a certificate.
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
