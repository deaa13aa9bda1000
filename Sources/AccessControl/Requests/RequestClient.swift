// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import Bytes
package import RealmKit

/// The header fields of a request, in whatever form a server keeps them.
package protocol RequestFields {
    /// Host and port of `Host` or `:authority`; empty where there is none.
    var hostText: String { get }

    /// The values of all fields of a name, in order.
    ///
    /// - Parameter name: The name, in lower case.
    /// - Returns: The values of all fields of a name, in order.
    func values(named name: StaticString) -> [UTF8Text]

    /// Calls a closure with the bytes of each `Cookie` field, in order.
    func forEachCookieField(_ body: (Span<UInt8>) -> Void)
}

/// The client of a request: its address, the host it named and our cookies.
package struct RequestClient: Sendable {
    /// The address as text, of the peer or as a trusted proxy forwards it; nil if it is not known.
    package var address: String?
    /// True if the request has an `X-Forwarded-For` field and there are trusted proxies.
    package var isForwarded = false
    /// Host and port of the request where a proxy's field decides it; nil for those of `Host`.
    package var forwardedAuthority: String?
    /// Our cookies among those of the request.
    package var cookies = OurCookies()

    /// A client.
    ///
    /// - Parameter address: The address as text; nil where it is not known.
    package init(address: String?) { self.address = address }
}

/// Finds the client of a request behind the proxies that the configuration trusts.
///
/// This is the only place where forwarded header fields are read.
package struct TrustedProxies: Sendable {
    /// The networks of the proxies.
    package let networks: [CIDRBlock]
    /// True if their `X-Forwarded-Host` decides which host a request is for.
    package let setForwardedHost: Bool

    /// The proxies of a configuration.
    ///
    /// - Parameters:
    ///   - networks: The networks of the proxies.
    ///   - setForwardedHost: True if their `X-Forwarded-Host` decides which host a request is for.
    package init(_ networks: [CIDRBlock] = [], setForwardedHost: Bool = false) {
        self.networks = networks
        self.setForwardedHost = setForwardedHost
    }

    /// Returns whether the peer of a connection is one of these proxies.
    ///
    /// - Parameter peer: The address at the other end of the connection.
    /// - Returns: True if the peer is one of these proxies.
    package func contains(_ peer: String?) -> Bool { ClientAddress.isTrusted(peer, networks) }

    /// Reads the address of a request's client into `client`.
    ///
    /// - Parameters:
    ///   - client: The client, with the address of the peer.
    ///   - fields: The request's fields.
    /// - Returns: The reason for a 400 where a trusted proxy sent an address that cannot be read; else nil.
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

    /// Reads the host of a request into `client`, if a trusted proxy has sent `X-Forwarded-Host`.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - peer: The address at the other end of the connection.
    ///   - fields: The request's fields.
    /// - Returns: The reason for a 400 where the fields contradict each other; else nil.
    package func readHost(
        _ client: inout RequestClient,
        peer: String?,
        from fields: borrowing some RequestFields
    ) -> String? {
        guard contains(peer) else { return nil }
        let forwarded = fields.values(named: "x-forwarded-host")
        guard !forwarded.isEmpty else { return nil }
        switch ClientAuthority.find(
            own: fields.hostText,
            peer: peer,
            trusted: networks,
            isForwarded: setForwardedHost,
            forwarded: forwarded
        ) {
        case .authority(let authority):
            client.forwardedAuthority = authority
            return nil
        case .refused(let reason): return reason
        }
    }
}

extension RequestClient {
    /// Reads our cookies.
    ///
    /// - Parameter fields: The request's fields.
    package mutating func readCookies(from fields: borrowing some RequestFields) {
        var found = OurCookies()
        fields.forEachCookieField { found.read($0) }
        cookies = found
    }

    /// Host and port of the request.
    ///
    /// - Parameter fields: The request's fields.
    /// - Returns: Host and port of the request.
    package func authority(_ fields: borrowing some RequestFields) -> String {
        if let forwardedAuthority { return forwardedAuthority }
        return fields.hostText
    }
}
