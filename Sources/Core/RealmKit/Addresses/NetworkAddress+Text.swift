// SPDX-License-Identifier: Apache-2.0

internal import Bytes

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

    /// Returns the range of the longest run of zero groups; the first run if several have the same length.
    ///
    /// The range is empty if no run has at least two groups.
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
