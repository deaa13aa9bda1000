// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// Where a request came from: the peer of its connection, or, if that is a trusted proxy, whom it names.
///
/// Source: RFC 7239 section 5.2 for what proxies write; CVE-2024-47070.
enum ClientAddress: Sendable, Hashable {
    /// The address as text; nil if not even the peer of the connection is known.
    case address(String?)
    /// A trusted proxy names somebody, and it cannot be read whom: 400. It is not taken for nobody, whom rules about
    /// networks and limits for addresses would not know.
    case unreadable(String)

    /// How many hops there may be.
    static let maximumHops = 50
    /// How long all fields may be together.
    static let maximumBytes = 2048

    /// Goes from the peer backwards over trusted proxies to the first who is none.
    ///
    /// What stands left of that one is its own word, and not looked at: a client may have written anything there.
    ///
    /// - Parameters:
    ///   - peer: The address at the other end of the connection.
    ///   - trusted: The proxies whose word is taken.
    ///   - forwarded: The values of all `X-Forwarded-For` fields in order; not asked for unless the peer is trusted.
    /// - Returns: The address, as ``NetworkAddress`` writes it; the peer as it is where nobody is trusted.
    static func find(
        peer: String?,
        trusted: [AddressBlock],
        forwarded: @autoclosure () -> [String]
    ) -> ClientAddress {
        guard !trusted.isEmpty, let peer else { return .address(peer) }
        guard var address = NetworkAddress(peer[...]) else { return .address(peer) }
        func isTrusted(_ address: NetworkAddress) -> Bool { trusted.contains { $0.contains(address) } }
        guard isTrusted(address) else { return .address(address.description) }
        let values = forwarded()
        guard values.reduce(0, { $0 + $1.utf8.count + 1 }) <= maximumBytes + 1 else {
            return .unreadable("X-Forwarded-For is longer than \(maximumBytes) bytes")
        }
        let entries = values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        guard entries.count <= maximumHops else { return .unreadable("X-Forwarded-For names too many") }
        for entry in entries.reversed() {
            guard let hop = Self.hop(entry) else { return .unreadable("X-Forwarded-For holds what is no address") }
            address = hop
            guard isTrusted(hop) else { break }
        }
        return .address(address.description)
    }

    /// Whether the peer of a connection is a proxy whose word is taken.
    static func isTrusted(_ peer: String?, _ trusted: [AddressBlock]) -> Bool {
        guard let address = peer.flatMap({ NetworkAddress($0[...]) }) else { return false }
        return trusted.contains { $0.contains(address) }
    }

    /// One entry: an address, with a port or without.
    private static func hop(_ entry: Substring) -> NetworkAddress? {
        var text = entry
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
        guard !text.utf8.contains(UInt8(ascii: "%")) else { return nil }
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

    /// Whether a text is nothing, or a `:` and a port.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.utf8.first else { return true }
        let digits = text.utf8.dropFirst()
        return colon == UInt8(ascii: ":") && digits.allSatisfy { (0x30...0x39).contains($0) }
            && UInt16(text.dropFirst()) != nil
    }
}

/// Host and port that a request is for: as it names them itself, or, from a trusted proxy, as that says.
enum ClientAuthority {
    /// Finds them.
    ///
    /// - Parameters:
    ///   - own: What the request itself names.
    ///   - peer: The address at the other end of the connection.
    ///   - trusted: The proxies whose word is taken.
    ///   - forwarded: The values of all `X-Forwarded-Host` fields; not asked for unless the peer is trusted, and of no
    ///     effect unless there is exactly one.
    /// - Returns: Host and port, yet to be read.
    static func find(
        own: String,
        peer: String?,
        trusted: [AddressBlock],
        forwarded: @autoclosure () -> [String]
    ) -> String {
        guard ClientAddress.isTrusted(peer, trusted) else { return own }
        let forwarded = forwarded()
        guard let host = forwarded.first, forwarded.count == 1 else { return own }
        return host
    }
}
