// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Percent-encoding of RFC 3986 section 2.1.
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// A text of which everything is encoded but what is unreserved (RFC 3986 section 2.3), and one character more.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - kept: The character that stays besides.
    /// - Returns: ASCII.
    static func encode(_ text: String, keeping kept: Unicode.Scalar = "/") -> String {
        let kept = UInt8(ascii: kept)
        guard !text.utf8.allSatisfy({ isUnreserved($0) || $0 == kept }) else { return text }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count * 2)
        for byte in text.utf8 {
            if isUnreserved(byte) || byte == kept {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
