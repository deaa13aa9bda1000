// SPDX-License-Identifier: Apache-2.0

/// The type of a part of a distinguished name, such as OU.
struct NamePartType: Sendable, Hashable {
    /// The object identifier, such as `2.5.4.11`.
    let identifier: String

    static let commonName = NamePartType(identifier: "2.5.4.3")

    /// RFC 4514 section 3, and the types that appear in certificates of people and are known by these names.
    private static let identifiers = [
        "CN": "2.5.4.3", "SN": "2.5.4.4", "SERIALNUMBER": "2.5.4.5", "C": "2.5.4.6", "L": "2.5.4.7", "ST": "2.5.4.8",
        "STREET": "2.5.4.9", "O": "2.5.4.10", "OU": "2.5.4.11", "T": "2.5.4.12", "TITLE": "2.5.4.12",
        "GIVENNAME": "2.5.4.42", "DC": "0.9.2342.19200300.100.1.25", "UID": "0.9.2342.19200300.100.1.1",
        "EMAILADDRESS": "1.2.840.113549.1.9.1",
    ]

    private init(identifier: String) { self.identifier = identifier }

    /// Reads a short name in any case, or an object identifier; nil if the text is neither.
    init?(_ text: String) {
        if let known = Self.identifiers[text.uppercased()] {
            identifier = known
            return
        }
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count > 1, numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isDigit) }) else {
            return nil
        }
        identifier = text
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
