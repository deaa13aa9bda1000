// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import Bytes
package import RealmKit

/// The address of a request's client: the peer of its connection, or, if that is a trusted proxy, the address it
/// forwards.
///
/// Source: RFC 7239 section 5.2 for the format of the entries; CVE-2024-47070.
package enum ClientAddress: Sendable, Hashable {
    /// The address as text; nil if not even the peer of the connection is known.
    case address(String?)
    /// A trusted proxy forwards an address that cannot be parsed: 400.
    ///
    /// The request is not treated as one without an address: rules about networks and limits for addresses need one.
    case unreadable(String)

    /// The largest number of hops.
    static let maximumHops = 50
    /// The largest length of all fields together, in bytes.
    package static let maximumBytes = 2048

    /// Returns the first address that is not a trusted proxy, from the peer backwards; the leftmost one if all are
    /// trusted.
    ///
    /// The entries to the left of that address are not read: a client may have written anything there.
    ///
    /// - Parameters:
    ///   - peer: The address at the other end of the connection.
    ///   - trusted: The proxies whose forwarded headers are trusted.
    ///   - forwarded: The values of all `X-Forwarded-For` fields in order; evaluated only if the peer is trusted.
    /// - Returns: The address, as ``NetworkAddress`` writes it; the peer unchanged if no proxy is trusted.
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

    /// Returns whether the peer of a connection is a proxy whose forwarded headers are trusted.
    package static func isTrusted(_ peer: String?, _ trusted: [CIDRBlock]) -> Bool {
        guard let address = peer.flatMap({ NetworkAddress($0[...]) }) else { return false }
        return trusted.contains { $0.contains(address) }
    }

    /// Parses one entry: an address, with a port or without.
    private static func hop(_ entry: Substring.UTF8View) -> NetworkAddress? {
        // An address is ASCII, and no longer than this with brackets and a port.
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

    /// Returns whether a text is empty, or a `:` and a port.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.utf8.first else { return true }
        let digits = text.utf8.dropFirst()
        return colon == UInt8(ascii: ":") && digits.allSatisfy { (0x30...0x39).contains($0) }
            && UInt16(text.dropFirst()) != nil
    }
}
