// SPDX-License-Identifier: Apache-2.0
// Gatehouse

extension NetworkAddress: CustomStringConvertible {
    /// The canonical text of the address: `192.0.2.1`, or RFC 5952 section 4.
    package var description: String {
        guard isIPv4Mapped else { return version6Text }
        return [24, 16, 8, 0].map { "\(UInt8(truncatingIfNeeded: bits >> $0))" }.joined(separator: ".")
    }

    /// The address in IPv6 notation, also for an IPv4 address.
    package var version6Text: String {
        let groups = (0..<8).map { UInt16(truncatingIfNeeded: bits >> (112 - 16 * $0)) }
        let gap = Self.longestZeros(groups)
        let texts = groups.map { String($0, radix: 16) }
        guard !gap.isEmpty else { return texts.joined(separator: ":") }
        return texts[..<gap.lowerBound].joined(separator: ":") + "::"
            + texts[gap.upperBound...].joined(separator: ":")
    }

    /// Returns the first of the longest runs of zero groups; empty if no run has two groups.
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
