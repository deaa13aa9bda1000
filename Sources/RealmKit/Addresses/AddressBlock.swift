// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Addresses with the same first bits, as in `10.0.0.0/8`, `2001:db8::/32` or `127.0.0.1`.
public struct AddressBlock: Sendable, Hashable, CustomStringConvertible {
    private let first: UInt128
    private let length: Int

    /// Reads a block.
    ///
    /// - Parameter text: An address, and behind a `/` how many of its bits count; all of them if there is none.
    /// - Throws: ``BadValue`` for what is no address, and for bits behind those that count.
    public init(_ text: String) throws(BadValue) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ NetworkAddress($0) }), !text.contains("%") else {
            throw BadValue("takes addresses such as 10.0.0.0/8, 127.0.0.1 or 2001:db8::/32, not \(text)")
        }
        let isVersion4 = !text.contains(":")
        let most = isVersion4 ? 32 : 128
        var length = most
        if parts.count == 2 {
            guard let number = Int(parts[1]), (0...most).contains(number), !parts[1].hasPrefix("+") else {
                throw BadValue("takes a length from 0 to \(most) behind the /, not \(parts[1])")
            }
            length = number
        }
        self.length = length + 128 - most
        first = address.prefix(self.length)
        guard first == address.bits else {
            throw BadValue("takes the first address of a block, and \(parts[0]) is not the first one of \(text)")
        }
    }

    /// The block as it is written: `10.0.0.0/8`, `2001:db8::/32`; the address alone where all bits count.
    public var description: String {
        let address = NetworkAddress(bits: first)
        guard length < 128 else { return address.description }
        // An IPv6 block above the mapped addresses is no block of IPv4.
        return length >= 96 && address.isMapped ? "\(address)/\(length - 96)" : "\(address.version6Text)/\(length)"
    }

    /// Whether every address of IPv4 or every one of IPv6 is one of the block.
    package var isEverything: Bool { length == 0 || length == 96 && first == NetworkAddress.mapped }

    /// Whether an address is one of the block; an IPv4 address that comes mapped into IPv6 is the IPv4 address.
    package func contains(_ address: NetworkAddress) -> Bool { address.prefix(length) == first }
}
