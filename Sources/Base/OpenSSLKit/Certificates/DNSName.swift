// SPDX-License-Identifier: Apache-2.0

/// Checks the syntax of host names (RFC 952, RFC 1123 2.1) and their lengths (RFC 1035 2.3.4).
///
/// If a name has several labels, the first label may be `*`.
enum DNSName {
    static func isValid(_ name: String) -> Bool {
        guard (1...253).contains(name.utf8.count) else { return false }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.enumerated().allSatisfy { index, label in
            if index == 0 && labels.count > 1 && label.elementsEqual("*".utf8) { return true }
            return (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                && label.last != UInt8(ascii: "-") && label.allSatisfy(isLetterDigitHyphen)
        }
    }

    private static func isLetterDigitHyphen(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
