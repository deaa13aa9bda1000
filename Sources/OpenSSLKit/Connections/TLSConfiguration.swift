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
///
/// Cipher suites and groups are not settings: TLS 1.2 with ECDHE and AEAD suites alone, the three suites of TLS 1.3,
/// the groups X25519, P-256 and P-384 (Mozilla "intermediate", version 5.7). The client's order of suites counts, as
/// it knows whether it has AES in hardware.
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

    /// Names of application protocols (RFC 7301), the preferred first: "http/1.1".
    ///
    /// The default is none. A server with names refuses a client that offers others only, by the alert
    /// no_application_protocol, and accepts one that offers none. A server without names ignores what is offered.
    public var applicationProtocols: [String]

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
        applicationProtocols: [String] = []
    ) -> TLSConfiguration {
        TLSConfiguration(
            role: .server(identity),
            minimumVersion: minimumVersion,
            applicationProtocols: applicationProtocols
        )
    }

    /// Makes the configuration of a client.
    public static func client(
        trusting trust: TLSTrust,
        minimumVersion: TLSVersion = .tls12,
        applicationProtocols: [String] = []
    ) -> TLSConfiguration {
        TLSConfiguration(
            role: .client(trust),
            minimumVersion: minimumVersion,
            applicationProtocols: applicationProtocols
        )
    }
}
