// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What is known of a client's connection.
public struct Connection: Sendable {
    /// The client's address, in text form; nil if it has none.
    public let peer: String?
    /// The name the client has asked TLS for, in lower case (RFC 6066 section 3); nil if it has asked for none.
    public let serverName: String?

    /// A connection.
    ///
    /// - Parameters:
    ///   - peer: The client's address.
    ///   - serverName: The name the client has asked TLS for.
    public init(peer: String?, serverName: String? = nil) {
        self.peer = peer
        self.serverName = serverName
    }
}
