// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What is known of a client's connection.
public struct Connection: Sendable {
    /// The client's address, in text form; nil if it has none.
    public let peer: String?

    /// A connection.
    ///
    /// - Parameter peer: The client's address.
    public init(peer: String?) {
        self.peer = peer
    }
}
