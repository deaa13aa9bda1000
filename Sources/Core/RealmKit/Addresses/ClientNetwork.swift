// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The network whose failed logins are counted together: an IPv4 address, or an IPv6 network with a 64-bit prefix.
///
/// A client usually controls a whole IPv6 network of this size. For a text that is not an address, failures are counted
/// under its first 16 characters: input that cannot be parsed must not disable a check (CVE-2024-47070).
public struct ClientNetwork: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Hashable {
        case version4(UInt32)
        case version6(UInt64)
        case other(UTF8Text)
    }

    private let kind: Kind

    /// Creates the network of an address without a port, or reads the ``description`` of a network.
    public init(_ text: String) {
        self.init(text, address: NetworkAddress(text.hasSuffix("::/64") ? text.dropLast(3) : text[...]))
    }

    package init(_ text: String, address: NetworkAddress?) {
        guard let address else {
            kind = .other(UTF8Text(String(text.unicodeScalars.prefix(16))))
            return
        }
        if address.isIPv4Mapped {
            kind = .version4(UInt32(truncatingIfNeeded: address.bits))
        } else {
            kind = .version6(UInt64(address.bits >> 64))
        }
    }

    private init(_ kind: Kind) { self.kind = kind }

    /// The IPv4 address, or the IPv6 network, such as `2001:db8:0:1::/64`.
    public var description: String {
        switch kind {
        case .version4(let bits):
            [24, 16, 8, 0].map { "\(UInt8(truncatingIfNeeded: bits >> $0))" }.joined(separator: ".")
        case .version6(let bits):
            [48, 32, 16, 0].map { String(UInt16(truncatingIfNeeded: bits >> $0), radix: 16) }.joined(separator: ":")
                + "::/64"
        case .other(let text): text.string
        }
    }

    /// The network of 24 bits (IPv4) or 48 bits (IPv6) around this one, which a client with many addresses usually controls.
    package var surroundingNetwork: ClientNetwork {
        switch kind {
        case .version4(let bits): ClientNetwork(.version4(bits & 0xFFFF_FF00))
        case .version6(let bits): ClientNetwork(.version6(bits & ~0xFFFF))
        case .other: self
        }
    }

    /// Returns the source of a request, for queues in which sources take turns: an IPv4 address, or the /48 network of an
    /// IPv6 address, which a provider may assign to one customer; `here` for a login that did not come over a network.
    package static func source(_ peer: String?) -> String {
        guard let peer else { return "here" }
        let network = ClientNetwork(peer)
        if case .version6 = network.kind { return network.surroundingNetwork.description }
        return network.description
    }
}
