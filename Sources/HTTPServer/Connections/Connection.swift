// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit

/// What is known of a client's connection.
public struct Connection: Sendable {
    /// The client's address, in text form; nil if it has none.
    public let peer: String?
    /// The name the client has asked TLS for, in lower case (RFC 6066 section 3); nil if it has asked for none.
    public let serverName: String?

    /// The client's certificate and those it was verified by, its own first; empty if it has shown none or was asked for
    /// none.
    public let clientChain: [Certificate]

    /// A connection.
    ///
    /// - Parameters:
    ///   - peer: The client's address.
    ///   - serverName: The name the client has asked TLS for.
    ///   - clientChain: The client's certificate and those it was verified by.
    public init(peer: String?, serverName: String? = nil, clientChain: [Certificate] = []) {
        self.peer = peer
        self.serverName = serverName
        self.clientChain = clientChain
    }
}
