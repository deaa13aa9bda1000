// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit

/// A client's connection, as responders see it.
public struct Connection: Sendable {
    /// The client's address as text; nil if it has none.
    public let peer: String?
    /// The server name that the client sent in its TLS handshake, in lower case (RFC 6066 section 3); nil if it sent
    /// none.
    public let serverName: String?

    /// The client's certificate, followed by those it was verified with; empty if the client sent none.
    public let clientChain: [Certificate]

    /// A connection.
    ///
    /// - Parameters:
    ///   - peer: The client's address.
    ///   - serverName: The server name that the client sent in its TLS handshake.
    ///   - clientChain: The client's certificate, followed by those it was verified with.
    public init(peer: String?, serverName: String? = nil, clientChain: [Certificate] = []) {
        self.peer = peer
        self.serverName = serverName
        self.clientChain = clientChain
    }
}
