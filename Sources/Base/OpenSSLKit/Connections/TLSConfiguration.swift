// SPDX-License-Identifier: Apache-2.0

/// A version of TLS that can be negotiated; older versions are not supported (RFC 8996).
public enum TLSVersion: String, Sendable, Hashable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
}

/// The servers that a client trusts.
public enum TLSTrust: Sendable {
    /// Servers whose chain ends in a certificate of the system's store.
    case system
    /// Servers whose chain ends in one of these certificates and whose certificate has the requested name (RFC 6125).
    case authorities([Certificate])
    /// Servers whose public key has one of these SHA-256 digests, see ``Certificate/publicKeyDigest()``.
    ///
    /// If there are authorities, the chain, the dates and the requested name are checked too. Without authorities,
    /// only the key is checked.
    case pinnedKeys(Set<Digest>, authorities: [Certificate] = [])
    /// No server: the handshake records the server's public key and fails, so that a program can show its fingerprint.
    case noServer(recording: PresentedKey)
}

/// The configuration of a ``TLSContext``.
public struct TLSConfiguration: Sendable {
    /// The role in connections: server or client.
    public enum Role: Sendable {
        /// A server, which authenticates itself with an identity.
        case server(TLSIdentity)
        /// A client, which trusts certain servers.
        case client(TLSTrust)
    }

    /// The role in connections.
    public var role: Role
    /// The lowest version of TLS that is accepted.
    public var minimumVersion: TLSVersion
    /// The highest version of TLS that is offered or accepted; only tests change it.
    var maximumVersion = TLSVersion.tls13
    /// The names of application protocols (RFC 7301), such as "http/1.1", the preferred one first.
    ///
    /// A server without protocols ignores the client's. A server with protocols accepts a client that offers no
    /// protocols. It rejects a client that offers only other protocols, with the alert no_application_protocol.
    public var applicationProtocols: [String]
    /// The cipher suites and groups; ``TLSParameters/intermediate`` by default.
    public var parameters = TLSParameters.intermediate
    /// The keys of a server's session tickets; nil, the default, if sessions cannot be resumed.
    ///
    /// Early data (RFC 8446 2.3) is never accepted.
    public var sessionTickets: SessionTicketKeys?
    /// The policy for client certificates; nil, the default, if the server does not request certificates.
    public var clientCertificates: ClientCertificatePolicy?
    /// The identity that a client presents to a server that requests a certificate; nil, the default, for no identity.
    public var clientIdentity: TLSIdentity?
    /// The additional identities of a server, each for some host names; other names get the identity in `role`.
    public var hosts: [TLSHost] = []
    /// The name of the service to which the server's sessions belong; empty by default.
    ///
    /// A server does not resume the sessions of a service with another name, even if both have the same policy and
    /// ticket keys. Servers on several addresses may have the same name. The name must stay the same when the service
    /// is reloaded, so that its sessions can still be resumed.
    public var sessionScope = ""

    private init(_ role: Role, minimumVersion: TLSVersion, applicationProtocols: [String]) {
        (self.role, self.minimumVersion, self.applicationProtocols) = (role, minimumVersion, applicationProtocols)
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
            .server(identity),
            minimumVersion: minimumVersion,
            applicationProtocols: applicationProtocols
        )
        configuration.sessionTickets = sessionTickets
        configuration.clientCertificates = clientCertificates
        return configuration
    }

    /// Makes the configuration of a client, which presents the identity to a server that requests a certificate.
    public static func client(
        trusting trust: TLSTrust,
        identity: TLSIdentity? = nil,
        minimumVersion: TLSVersion = .tls12,
        applicationProtocols: [String] = []
    ) -> TLSConfiguration {
        var configuration = TLSConfiguration(
            .client(trust),
            minimumVersion: minimumVersion,
            applicationProtocols: applicationProtocols
        )
        configuration.clientIdentity = identity
        return configuration
    }
}
