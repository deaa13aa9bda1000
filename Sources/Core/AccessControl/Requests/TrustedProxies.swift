// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import RealmKit

/// The trusted proxies of a configuration.
///
/// Only this type reads forwarded header fields: the address of the client and the requested host.
package struct TrustedProxies: Sendable {
    package let networks: [CIDRBlock]
    /// True if the `X-Forwarded-Host` of these proxies replaces `Host`.
    package let setForwardedHost: Bool

    package init(_ networks: [CIDRBlock] = [], setForwardedHost: Bool = false) {
        self.networks = networks
        self.setForwardedHost = setForwardedHost
    }

    package func contains(_ peer: String?) -> Bool {
        // Without trusted proxies the address of the peer is not parsed.
        !networks.isEmpty && ClientAddress.isTrusted(peer, networks)
    }

    /// Replaces the address of the peer by that of the client; returns the reason for a 400 if a trusted proxy has sent
    /// an address that cannot be parsed.
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

    /// Sets the host of a client, if a trusted proxy has sent `X-Forwarded-Host`; returns the reason for a 400 if the
    /// fields name different hosts.
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

/// The address of the client of a request: that of the connection's peer, or, if the peer is a trusted proxy, the one
/// in `X-Forwarded-For` (RFC 7239 section 5.2 for the format of the entries; CVE-2024-47070).
package enum ClientAddress: Sendable, Hashable {
    /// The address as text; nil if the peer of the connection is not known.
    case address(String?)
    /// 400, with the reason: a trusted proxy has sent an address that cannot be parsed, which rules for networks and
    /// limits for addresses need.
    case unreadable(String)

    /// The maximum number of addresses in all fields.
    static let maximumHops = 50
    /// The maximum length of all fields together, in bytes.
    package static let maximumBytes = 2048

    /// Returns the rightmost address that is not a trusted proxy, or the leftmost address if all are trusted.
    ///
    /// Entries to the left of it are not read, because the client may have forged them. If no proxy is trusted, the
    /// peer is returned unchanged.
    package static func find(
        peer: String?,
        trusted: [CIDRBlock],
        forwarded: @autoclosure () -> [UTF8Text]
    ) -> ClientAddress {
        guard !trusted.isEmpty, let peer else { return .address(peer) }
        guard var address = NetworkAddress(peer[...]) else { return .address(peer) }
        func isTrusted(_ address: NetworkAddress) -> Bool { trusted.contains { $0.contains(address) } }
        guard isTrusted(address) else { return .address(address.description) }
        let values = forwarded()
        guard values.reduce(0, { $0 + $1.count + 1 }) <= maximumBytes + 1 else {
            return .unreadable("X-Forwarded-For is longer than \(maximumBytes) bytes")
        }
        let entries = values.flatMap {
            $0.string.utf8.split(separator: ASCII.comma, omittingEmptySubsequences: false)
        }
        guard entries.count <= maximumHops else { return .unreadable("X-Forwarded-For has too many addresses") }
        for entry in entries.reversed() {
            guard let hop = Self.hop(entry) else {
                return .unreadable("X-Forwarded-For contains an entry that is not an address")
            }
            address = hop
            guard isTrusted(hop) else { break }
        }
        return .address(address.description)
    }

    package static func isTrusted(_ peer: String?, _ trusted: [CIDRBlock]) -> Bool {
        guard let address = peer.flatMap({ NetworkAddress($0[...]) }) else { return false }
        return trusted.contains { $0.contains(address) }
    }

    /// Parses an entry: an address with or without a port.
    private static func hop(_ entry: Substring.UTF8View) -> NetworkAddress? {
        // An address with brackets and a port is ASCII and has at most 64 bytes.
        let isBlank = { (byte: UInt8) in ASCII.isBlank(byte) }
        guard let first = entry.firstIndex(where: { !isBlank($0) }), let last = entry.lastIndex(where: { !isBlank($0) })
        else { return nil }
        let trimmed = entry[first...last]
        guard trimmed.count <= 64, trimmed.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }) else { return nil }
        let text = Substring(trimmed)
        if text.utf8.first == UInt8(ascii: "[") {
            guard let end = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let inner = text[text.utf8.index(after: text.startIndex)..<end]
            guard inner.utf8.contains(UInt8(ascii: ":")), isPort(text[text.utf8.index(after: end)...]) else {
                return nil
            }
            return NetworkAddress(inner)
        }
        if let dot = text.utf8.firstIndex(of: UInt8(ascii: ".")),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), dot < colon
        {
            return isPort(text[colon...]) ? NetworkAddress(text[..<colon]) : nil
        }
        return NetworkAddress(text)
    }

    /// True for an empty text, or a `:` and a port.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.utf8.first else { return true }
        let digits = text.utf8.dropFirst()
        return colon == UInt8(ascii: ":") && digits.allSatisfy { (0x30...0x39).contains($0) }
            && UInt16(text.dropFirst()) != nil
    }
}

/// The host and port that a request is for: the value of `Host` or, if the configuration trusts the proxy to set it, of
/// `X-Forwarded-Host`.
///
/// `X-Forwarded-Host` is not used by default, because some proxies set only `X-Forwarded-For` and forward the
/// `X-Forwarded-Host` of the client. The application behind Gatehouse may still use it, so a request is rejected if
/// this field and `Host` name different hosts.
package enum ClientAuthority: Sendable, Hashable {
    /// The host and port, not parsed yet.
    case authority(String)
    /// 400, with the reason: the request names two hosts, or a host that cannot be parsed.
    case rejected(String)

    /// Returns the host and port, or the reason for the rejection; `hostField` is the value of `Host` or `:authority`,
    /// and the fields `X-Forwarded-Host` are read only if the peer is trusted.
    package static func find(
        hostField: String,
        peer: String?,
        trusted: [CIDRBlock],
        usesForwardedHost: Bool,
        forwarded: @autoclosure () -> [UTF8Text]
    ) -> ClientAuthority {
        guard ClientAddress.isTrusted(peer, trusted) else { return .authority(hostField) }
        let forwarded = forwarded()
        guard let named = forwarded.first else { return .authority(hostField) }
        guard forwarded.count == 1 else { return .rejected("X-Forwarded-Host occurs more than once") }
        guard let host = RequestHost(named.string) else { return .rejected("X-Forwarded-Host is not a single host") }
        if usesForwardedHost { return .authority(named.string) }
        guard RequestHost(hostField)?.name.hasBytes(of: host.name) == true else {
            return .rejected("X-Forwarded-Host and Host name different hosts")
        }
        return .authority(hostField)
    }
}
