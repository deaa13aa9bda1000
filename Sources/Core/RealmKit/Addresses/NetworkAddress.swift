// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc

/// An IPv6 address, or an IPv4 address as an IPv4-mapped one (RFC 4291 section 2.5.5.2).
package struct NetworkAddress: Sendable, Hashable {
    static let ipv4MappedPrefix: UInt128 = 0xFFFF_0000_0000

    package let bits: UInt128

    package var isIPv4Mapped: Bool { bits >> 32 == Self.ipv4MappedPrefix >> 32 }

    /// True for `::` and `0.0.0.0`, which stand for all addresses of a machine.
    package var isUnspecified: Bool { bits == 0 || bits == Self.ipv4MappedPrefix }

    /// True for `::1` and `127.0.0.0/8`.
    package var isLoopback: Bool { isIPv4Mapped ? bits >> 24 & 0xFF == 127 : bits == 1 }

    /// Parses an IPv6 address (RFC 4291 section 2.2), ignoring a zone after `%`, or an IPv4 address in dotted decimals
    /// without leading zeros, which some programs read as octal.
    package init?(_ text: Substring) {
        let zone = text.utf8.firstIndex(of: UInt8(ascii: "%"))
        let address = String(zone.map { text[..<$0] } ?? text)
        // A valid address has at most 45 bytes. A C string ends at the first 0.
        guard address.utf8.count <= 45, !address.utf8.contains(0) else { return nil }
        var (version6, version4) = (in6_addr(), in_addr())
        if unsafe inet_pton(AF_INET6, address, &version6) == 1 {
            bits = unsafe withUnsafeBytes(of: version6) { unsafe $0.reduce(0) { $0 << 8 | UInt128($1) } }
        } else if unsafe inet_pton(AF_INET, address, &version4) == 1 {
            bits = Self.ipv4MappedPrefix | UInt128(UInt32(bigEndian: version4.s_addr))
        } else {
            return nil
        }
    }

    init(bits: UInt128) { self.bits = bits }

    /// The address with all bits after a prefix set to zero.
    package func prefix(_ length: Int) -> UInt128 {
        length <= 0 ? 0 : bits & (UInt128.max << UInt128(128 - min(length, 128)))
    }
}

extension NetworkAddress: CustomStringConvertible {
    /// The canonical text: `192.0.2.1` for IPv4, the form of RFC 5952 section 4 for IPv6.
    package var description: String {
        guard isIPv4Mapped else { return version6Text }
        var text: [UInt8] = []
        text.reserveCapacity(15)
        for (index, shift) in stride(from: 24, through: 0, by: -8).enumerated() {
            if index > 0 { text.append(UInt8(ascii: ".")) }
            ASCII.append(decimal: Int(truncatingIfNeeded: bits >> UInt128(shift) & 0xFF), to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The address in IPv6 notation; an IPv4 address is written as an IPv4-mapped IPv6 address.
    package var version6Text: String {
        let groups = (0..<8).map { UInt16(truncatingIfNeeded: bits >> (112 - 16 * $0)) }
        let zeros = Self.longestZeros(groups)
        let texts = groups.map { String($0, radix: 16) }
        guard !zeros.isEmpty else { return texts.joined(separator: ":") }
        return texts[..<zeros.lowerBound].joined(separator: ":") + "::"
            + texts[zeros.upperBound...].joined(separator: ":")
    }

    /// Returns the first of the longest runs of at least two zero groups; an empty range if there is none.
    private static func longestZeros(_ groups: [UInt16]) -> Range<Int> {
        var best = 0..<0
        var start = 0
        for index in 0...groups.count where index == groups.count || groups[index] != 0 {
            if index - start > max(best.count, 1) { best = start..<index }
            start = index + 1
        }
        return best
    }
}

/// A block of addresses with the same first bits, such as `10.0.0.0/8`, `2001:db8::/32` or `127.0.0.1`.
public struct CIDRBlock: Sendable, Hashable, CustomStringConvertible {
    fileprivate let first: UInt128
    fileprivate let length: Int

    /// Reads an address, or an address and a prefix length, such as `10.0.0.0/8`.
    ///
    /// - Throws: ``BadValue`` if the text is not an address block, or if the address has a bit set after the prefix.
    public init(_ text: String) throws(BadValue) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ NetworkAddress($0) }), !text.contains("%") else {
            throw BadValue("takes addresses such as 10.0.0.0/8, 127.0.0.1 or 2001:db8::/32, not \(text)")
        }
        let isVersion4 = !text.contains(":")
        let maximum = isVersion4 ? 32 : 128
        var length = maximum
        if parts.count == 2 {
            guard let number = Int(parts[1]), (0...maximum).contains(number), !parts[1].hasPrefix("+") else {
                throw BadValue("takes a prefix length from 0 to \(maximum) after the /, not \(parts[1])")
            }
            length = number
        }
        self.length = length + 128 - maximum
        first = address.prefix(self.length)
        guard first == address.bits else {
            throw BadValue("takes the first address of a block; \(parts[0]) is not the first address of \(text)")
        }
    }

    /// The block in CIDR notation, such as `10.0.0.0/8`; a single address has no prefix length.
    public var description: String {
        let address = NetworkAddress(bits: first)
        guard length < 128 else { return address.description }
        // A block with a shorter prefix than 96 bits also contains addresses that are not IPv4-mapped.
        return length >= 96 && address.isIPv4Mapped ? "\(address)/\(length - 96)" : "\(address.version6Text)/\(length)"
    }

    /// True if the block is larger than each private network: 10.0.0.0/8 (RFC 1918) and fc00::/7 (RFC 4193); so are the
    /// two halves of all addresses, 0.0.0.0/1 and 128.0.0.0/1.
    package var isLargerThanPrivateNetworks: Bool {
        let hasIPv4 =
            NetworkAddress(bits: first).isIPv4Mapped || contains(NetworkAddress(bits: NetworkAddress.ipv4MappedPrefix))
        return length < 7 || hasIPv4 && length < 104
    }

    /// Returns whether the block contains an address; an IPv4-mapped IPv6 address is treated as the IPv4 address.
    package func contains(_ address: NetworkAddress) -> Bool { address.prefix(length) == first }
}

/// Blocks of addresses in which an address is found in a time that hardly depends on their number.
package struct CIDRSet: Sendable {
    /// The blocks in the order of their first addresses, without those that another one contains.
    private var blocks: [CIDRBlock] = []

    package init(_ blocks: [CIDRBlock]) {
        // Two blocks are disjoint, or one contains the other. Of two with the same first address the greater comes first.
        for block in blocks.sorted(by: { ($0.first, $0.length) < ($1.first, $1.length) }) {
            if let last = self.blocks.last, last.contains(NetworkAddress(bits: block.first)) { continue }
            self.blocks.append(block)
        }
    }

    package var isEmpty: Bool { blocks.isEmpty }

    package func contains(_ address: NetworkAddress) -> Bool {
        // The only block that may contain the address is the last one that begins at the address or before it.
        let next = blocks.partitioningIndex { $0.first > address.bits }
        return next > 0 && blocks[next - 1].contains(address)
    }
}

extension Array {
    /// Returns the index of the first element that meets a condition, in an array in which all elements after it do too.
    func partitioningIndex(where isLater: (Element) -> Bool) -> Int {
        var range = indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = isLater(self[middle]) ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
        }
        return range.lowerBound
    }
}
