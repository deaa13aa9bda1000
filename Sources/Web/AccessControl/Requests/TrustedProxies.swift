// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// The trusted proxies of a configuration.
///
/// This type reads the address of the client and the requested host from forwarded header fields. No other type reads
/// these fields.
package struct TrustedProxies: Sendable {
    /// The networks of the proxies.
    package let networks: [CIDRBlock]
    /// True if the `X-Forwarded-Host` of these proxies replaces `Host`.
    package let setForwardedHost: Bool

    /// The proxies of a configuration.
    ///
    /// - Parameters:
    ///   - networks: The networks of the proxies.
    ///   - setForwardedHost: True if the `X-Forwarded-Host` of these proxies replaces `Host`.
    package init(_ networks: [CIDRBlock] = [], setForwardedHost: Bool = false) {
        self.networks = networks
        self.setForwardedHost = setForwardedHost
    }

    /// Returns whether the peer of a connection is a trusted proxy.
    ///
    /// - Parameter peer: The address at the other end of the connection.
    /// - Returns: True if the peer is a trusted proxy.
    package func contains(_ peer: String?) -> Bool {
        // Without trusted proxies the address of the peer is not parsed.
        !networks.isEmpty && ClientAddress.isTrusted(peer, networks)
    }

    /// Sets the address of a client from the header fields.
    ///
    /// - Parameters:
    ///   - client: The client, with the address of the peer.
    ///   - fields: The request's fields.
    /// - Returns: The reason for a 400 if a trusted proxy has sent an address that cannot be parsed; nil otherwise.
    package func readAddress(
        _ client: inout RequestClient,
        from fields: borrowing some RequestFields
    ) -> String? {
        guard !networks.isEmpty else { return nil }
        let forwarded = fields.values(named: "x-forwarded-for")
        client.isForwarded = !forwarded.isEmpty
        switch ClientAddress.find(peer: client.address, trusted: networks, forwarded: forwarded) {
        case .address(let address):
            client.address = address
            return nil
        case .unreadable(let reason): return reason
        }
    }

    /// Sets the host of a client, if a trusted proxy has sent `X-Forwarded-Host`.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - peer: The address at the other end of the connection.
    ///   - fields: The request's fields.
    /// - Returns: The reason for a 400 if the fields name different hosts; nil otherwise.
    package func readHost(
        _ client: inout RequestClient,
        peer: String?,
        from fields: borrowing some RequestFields
    ) -> String? {
        guard contains(peer) else { return nil }
        let forwarded = fields.values(named: "x-forwarded-host")
        guard !forwarded.isEmpty else { return nil }
        switch ClientAuthority.find(
            hostField: fields.hostText,
            peer: peer,
            trusted: networks,
            usesForwardedHost: setForwardedHost,
            forwarded: forwarded
        ) {
        case .authority(let authority):
            client.forwardedAuthority = authority
            return nil
        case .rejected(let reason): return reason
        }
    }
}
