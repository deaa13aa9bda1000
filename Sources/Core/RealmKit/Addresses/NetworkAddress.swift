// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import LibC

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
        // Each IPv6 address has a colon, and no IPv4 address has one.
        if address.utf8.contains(ASCII.colon) {
            guard unsafe inet_pton(AF_INET6, address, &version6) == 1 else { return nil }
            bits = unsafe withUnsafeBytes(of: version6) { unsafe $0.reduce(0) { $0 << 8 | UInt128($1) } }
        } else {
            guard zone == nil, unsafe inet_pton(AF_INET, address, &version4) == 1 else { return nil }
            bits = Self.ipv4MappedPrefix | UInt128(UInt32(bigEndian: version4.s_addr))
        }
    }

    init(bits: UInt128) { self.bits = bits }

    /// Parses an address without a zone, and without or with a port: `192.0.2.1:80`, `[2001:db8::1]:80`.
    ///
    /// Without brackets, `::1:80` is an address of eight groups.
    package init?(withOrWithoutPort text: Substring) {
        // An address with brackets and a port is ASCII and has at most 64 bytes.
        let bytes = text.utf8
        guard bytes.count <= 64, bytes.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }) else { return nil }
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let inner = text[bytes.index(after: text.startIndex)..<end]
            guard inner.utf8.contains(ASCII.colon), Self.isPort(text[bytes.index(after: end)...]) else { return nil }
            self.init(inner)
        } else if let dot = bytes.firstIndex(of: UInt8(ascii: ".")), let colon = bytes.firstIndex(of: ASCII.colon),
            dot < colon
        {
            guard Self.isPort(text[colon...]) else { return nil }
            self.init(text[..<colon])
        } else {
            self.init(text)
        }
    }

    /// True for an empty text, or a `:` and a port.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.utf8.first else { return true }
        let digits = text.utf8.dropFirst()
        return colon == ASCII.colon && digits.allSatisfy(ASCII.isDigit) && UInt16(text.dropFirst()) != nil
    }

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
