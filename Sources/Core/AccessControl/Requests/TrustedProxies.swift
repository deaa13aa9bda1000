// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import RealmKit

/// The trusted proxies of a configuration.
///
/// Only this type reads forwarded header fields: the address of the client and the requested host.
package struct TrustedProxies: Sendable {
    package let networks: [CIDRBlock]
    /// True if the `X-Forwarded-Host` of these proxies replaces `Host`.
    package let setForwardedHost: Bool

    /// The maximum number of addresses in all fields `X-Forwarded-For`.
    static let maximumHops = 50
    /// The maximum length of all fields `X-Forwarded-For` together, in bytes.
    static let maximumBytes = 2048

    /// A field of a trusted proxy that cannot be used, with the reason for the 400.
    struct BadField: Error, Hashable {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    package init(_ networks: [CIDRBlock] = [], setForwardedHost: Bool = false) {
        self.networks = networks
        self.setForwardedHost = setForwardedHost
    }

    package func contains(_ peer: String?) -> Bool {
        // Without trusted proxies the address of the peer is not parsed.
        guard !networks.isEmpty, let address = peer.flatMap({ NetworkAddress($0[...]) }) else { return false }
        return contains(address)
    }

    private func contains(_ address: NetworkAddress) -> Bool { networks.contains { $0.contains(address) } }

    // MARK: X-Forwarded-Host

    /// Sets the host of a client, if a trusted proxy has sent `X-Forwarded-Host`; returns the reason for a 400 if the
    /// fields name different hosts.
    ///
    /// The field is not used by default, because some proxies set only `X-Forwarded-For` and forward the
    /// `X-Forwarded-Host` of the client. The application behind Gatehouse may still use it, so a request is rejected if
    /// this field and `Host` name different hosts.
    package func readHost(
        _ client: inout RequestClient,
        peer: String?,
        from fields: borrowing some RequestFields
    ) -> String? {
        guard contains(peer) else { return nil }
        let forwarded = fields.values(named: "x-forwarded-host")
        guard let named = forwarded.first else { return nil }
        guard forwarded.count == 1 else { return "X-Forwarded-Host occurs more than once" }
        guard let host = RequestHost(named.string) else { return "X-Forwarded-Host is not a single host" }
        if setForwardedHost {
            client.forwardedAuthority = named.string
        } else if RequestHost(fields.hostText)?.name.hasBytes(of: host.name) != true {
            return "X-Forwarded-Host and Host name different hosts"
        }
        return nil
    }

    // MARK: X-Forwarded-For

    /// Replaces the address of the peer by that of the client; returns the reason for a 400 if a trusted proxy has sent
    /// an address that cannot be parsed, which rules for networks and limits for addresses need.
    package func readAddress(
        _ client: inout RequestClient,
        from fields: borrowing some RequestFields
    ) -> String? {
        guard !networks.isEmpty else { return nil }
        let forwarded = fields.values(named: "x-forwarded-for")
        client.isForwarded = !forwarded.isEmpty
        do throws(BadField) {
            client.address = try address(of: client.address, forwarded: forwarded)
            return nil
        } catch {
            return error.reason
        }
    }

    /// Returns the rightmost address that is not a trusted proxy, or the leftmost address if all are trusted; nil if the
    /// address of the peer is not known.
    ///
    /// Entries to the left of it are not read, because the client may have forged them. If no proxy is trusted, the
    /// peer is returned unchanged. Source: RFC 7239 section 5.2 for the format of the entries; CVE-2024-47070.
    func address(of peer: String?, forwarded: [UTF8Text]) throws(BadField) -> String? {
        guard !networks.isEmpty, let peer, var address = NetworkAddress(peer[...]) else { return peer }
        guard contains(address) else { return address.description }
        guard forwarded.reduce(0, { $0 + $1.count + 1 }) <= Self.maximumBytes + 1 else {
            throw BadField("X-Forwarded-For is longer than \(Self.maximumBytes) bytes")
        }
        let entries = forwarded.flatMap {
            $0.string.utf8.split(separator: ASCII.comma, omittingEmptySubsequences: false)
        }
        guard entries.count <= Self.maximumHops else { throw BadField("X-Forwarded-For has too many addresses") }
        for entry in entries.reversed() {
            guard let hop = Self.hop(entry) else {
                throw BadField("X-Forwarded-For contains an entry that is not an address")
            }
            address = hop
            guard contains(hop) else { break }
        }
        return address.description
    }

    /// Parses an entry: an address with or without a port.
    private static func hop(_ entry: Substring.UTF8View) -> NetworkAddress? {
        // An address with brackets and a port is ASCII and has at most 64 bytes.
        let isBlank = { (byte: UInt8) in ASCII.isBlank(byte) }
        guard let first = entry.firstIndex(where: { !isBlank($0) }), let last = entry.lastIndex(where: { !isBlank($0) })
        else { return nil }
        return NetworkAddress(withOrWithoutPort: Substring(entry[first...last]))
    }
}
