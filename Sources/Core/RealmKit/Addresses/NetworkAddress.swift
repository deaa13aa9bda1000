// SPDX-License-Identifier: Apache-2.0

/// An IPv6 or IPv4 address.
///
/// An IPv4 address is stored as an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2).
package struct NetworkAddress: Sendable, Hashable {
    static let ipv4MappedPrefix: UInt128 = 0xFFFF_0000_0000

    package let bits: UInt128

    package var isIPv4Mapped: Bool { bits >> 32 == Self.ipv4MappedPrefix >> 32 }

    /// True for `::` and `0.0.0.0`, which stand for all addresses of a machine.
    package var isUnspecified: Bool { bits == 0 || bits == Self.ipv4MappedPrefix }

    /// True for `::1` and `127.0.0.0/8`.
    package var isLoopback: Bool { isIPv4Mapped ? bits >> 24 & 0xFF == 127 : bits == 1 }

    /// Parses an IPv6 address (RFC 4291 section 2.2) or an IPv4 address in dotted decimal notation.
    ///
    /// A zone after `%` is ignored.
    package init?(_ text: Substring) {
        let zone = text.utf8.firstIndex(of: UInt8(ascii: "%"))
        let address = zone.map { text[..<$0] } ?? text
        // A valid address is ASCII text of at most 45 bytes.
        guard address.utf8.count <= 45, address.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        if address.utf8.contains(UInt8(ascii: ":")) {
            guard let bits = Self.version6(address) else { return nil }
            self.bits = bits
        } else {
            guard let bits = Self.version4(address) else { return nil }
            self.bits = Self.ipv4MappedPrefix | UInt128(bits)
        }
    }

    init(bits: UInt128) { self.bits = bits }

    /// Returns the address with all bits after a prefix set to zero.
    package func prefix(_ length: Int) -> UInt128 {
        length <= 0 ? 0 : bits & (UInt128.max << UInt128(128 - min(length, 128)))
    }

    private static func version4(_ text: Substring) -> UInt32? {
        var bits: UInt32 = 0
        var part: UInt32?
        var parts = 0
        for byte in text.utf8 {
            switch (byte, part) {
            case (UInt8(ascii: "."), let ended?) where parts < 3:
                bits = bits << 8 | ended
                parts += 1
                part = nil
            case (0x30...0x39, nil): part = UInt32(byte - 0x30)
            // A number with a leading zero is rejected, because some programs read it as octal.
            case (0x30...0x39, let begun?) where begun > 0:
                let value = begun * 10 + UInt32(byte - 0x30)
                guard value <= 255 else { return nil }
                part = value
            default: return nil
            }
        }
        guard let part, parts == 3 else { return nil }
        return bits << 8 | part
    }

    private static func version6(_ text: Substring) -> UInt128? {
        guard let doubleColon = text.utf8.firstRange(of: "::".utf8) else {
            guard let all = groups(text), all.count == 8 else { return nil }
            return bits(all)
        }
        let (before, after) = (text[..<doubleColon.lowerBound], text[doubleColon.upperBound...])
        guard let first = groups(before), let last = groups(after), first.count + last.count <= 7 else { return nil }
        return bits(first + [UInt16](repeating: 0, count: 8 - first.count - last.count) + last)
    }

    private static func groups(_ text: Substring) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.utf8.contains(UInt8(ascii: ".")) {
                guard let bits = version4(part) else { return nil }
                groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
                continue
            }
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
                let group = UInt16(part, radix: 16)
            else { return nil }
            groups.append(group)
        }
        return groups
    }

    private static func bits(_ groups: [UInt16]) -> UInt128 {
        groups.reduce(0) { $0 << 16 | UInt128($1) }
    }
}
