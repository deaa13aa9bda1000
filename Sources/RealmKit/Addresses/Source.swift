// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Where attempts come from, as far as they are counted together: an IPv4 address, or a network of 64 bits of IPv6.
///
/// Whoever has one address of IPv6 has 2 to the 64 of them. What is no address is a source of its own and is counted like
/// any other (CVE-2024-47070: what cannot be understood must not turn a check off).
public struct Source: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Hashable {
        case version4(UInt32)
        case version6(UInt64)
        case other(String)
    }

    private let kind: Kind

    /// A source.
    ///
    /// - Parameter text: An address without a port, or what ``description`` has made of one.
    public init(_ text: String) {
        self.init(text, NetworkAddress(text.hasSuffix("::/64") ? text.dropLast(3) : text[...]))
    }

    /// A source whose text has been read already.
    package init(_ text: String, _ address: NetworkAddress?) {
        guard let address else {
            kind = .other(String(text.unicodeScalars.prefix(16)))
            return
        }
        if address.isMapped {
            kind = .version4(UInt32(truncatingIfNeeded: address.bits))
        } else {
            kind = .version6(UInt64(address.bits >> 64))
        }
    }

    private init(_ kind: Kind) { self.kind = kind }

    /// The address, or the network as in `2001:db8:0:1::/64`.
    public var description: String {
        switch kind {
        case .version4(let bits):
            [24, 16, 8, 0].map { "\(UInt8(truncatingIfNeeded: bits >> $0))" }.joined(separator: ".")
        case .version6(let bits):
            [48, 32, 16, 0].map { String(UInt16(truncatingIfNeeded: bits >> $0), radix: 16) }.joined(separator: ":")
                + "::/64"
        case .other(let text): text
        }
    }

    /// The network it is in, of 24 bits or 48: who has many of its addresses has brought all of them.
    package var neighbourhood: Source {
        switch kind {
        case .version4(let bits): Source(.version4(bits & 0xFFFF_FF00))
        case .version6(let bits): Source(.version6(bits & ~0xFFFF))
        case .other: self
        }
    }
}
