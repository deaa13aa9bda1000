// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit

/// The properties of a client's connection that responders need.
public struct Connection: Sendable {
    /// The client's address as text; nil if the channel has no address.
    public let peer: String?
    /// The server name that the client sent in its TLS handshake, in lower case (RFC 6066 section 3); nil if the client
    /// sent no name.
    public let serverName: String?

    /// The verified chain of the client's certificate, from this certificate to the authority; empty if the client sent
    /// no certificate.
    public let clientChain: [Certificate]

    /// Makes a connection.
    ///
    /// - Parameters:
    ///   - peer: The client's address.
    ///   - serverName: The server name that the client sent in its TLS handshake.
    ///   - clientChain: The verified chain of the client's certificate, from this certificate to the authority.
    public init(peer: String?, serverName: String? = nil, clientChain: [Certificate] = []) {
        self.peer = peer
        self.serverName = serverName
        self.clientChain = clientChain
    }
}
