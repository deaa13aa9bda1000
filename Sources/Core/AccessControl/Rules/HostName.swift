// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The canonical form of host names for comparison: in lower case and without a final dot.
///
/// Source: RFC 1034 section 3.1, RFC 1123 section 2.1; CVE-2026-77560, CVE-2026-48794.
package enum HostName {
    /// RFC 1035 section 2.3.4 allows 255 bytes in a DNS message: two more than the text, for the length byte of the
    /// first label and the final zero byte.
    package static let maximumBytes = 253

    /// Returns the canonical form of a host name or an IPv4 address; nil if the text is neither.
    ///
    /// A name has labels of 1 to 63 bytes: ASCII letters, digits, `-` and `_`. A label does not begin or end with `-`.
    package static func canonical(_ text: Substring) -> String? { canonical(text.utf8Span.span) }

    /// Returns the canonical form of a host in a configuration: names of hosts that serve web pages have no `_`.
    package static func canonicalInConfiguration(_ text: Substring) -> String? {
        text.utf8.contains(UInt8(ascii: "_")) ? nil : canonical(text)
    }

    /// Returns the canonical form of a host in bytes.
    package static func canonical(_ bytes: Span<UInt8>) -> String? {
        let count = bytes.count > 0 && bytes[bytes.count - 1] == UInt8(ascii: ".") ? bytes.count - 1 : bytes.count
        guard count > 0, count <= maximumBytes else { return nil }
        var length = 0
        var last = UInt8(ascii: "-")
        for index in 0..<count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "."):
                guard length > 0, last != UInt8(ascii: "-") else { return nil }
                length = -1
            case UInt8(ascii: "-"): guard length > 0 else { return nil }
            default: guard ASCII.isLetterOrDigit(byte) || byte == UInt8(ascii: "_") else { return nil }
            }
            length += 1
            last = byte
            guard length <= 63 else { return nil }
        }
        guard length > 0, last != UInt8(ascii: "-") else { return nil }
        return unsafe String(unsafeUninitializedCapacity: count) { name in
            for index in 0..<count { unsafe name.initializeElement(at: index, to: ASCII.lowercased(bytes[index])) }
            return count
        }
    }
}
