// SPDX-License-Identifier: Apache-2.0

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

    /// The first address of the block, and the first one after it; between the edges of some blocks, all addresses belong to
    /// the same of them.
    package var edges: [NetworkAddress] {
        let next = length > 0 ? first.addingReportingOverflow(1 << UInt128(128 - length)) : (0, true)
        return [NetworkAddress(bits: first)] + (next.1 ? [] : [NetworkAddress(bits: next.0)])
    }

    /// Returns whether the block contains an address; an IPv4-mapped IPv6 address is treated as the IPv4 address.
    package func contains(_ address: NetworkAddress) -> Bool { address.prefix(length) == first }
}

/// Blocks of addresses in which an address is found in a time that hardly depends on their number.
package struct CIDRSet: Sendable {
    /// The blocks in the order of their first addresses, without those that another one contains.
    private var blocks: [CIDRBlock] = []

    package init(_ blocks: [CIDRBlock]) {
        // Two blocks are disjoint, or one contains the other. Of two with the same first address the greater comes
        // first.
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
    /// Returns the index of the first element that meets a condition, in an array in which all elements after it do
    /// too.
    func partitioningIndex(where isLater: (Element) -> Bool) -> Int {
        var range = indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = isLater(self[middle]) ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
        }
        return range.lowerBound
    }
}
