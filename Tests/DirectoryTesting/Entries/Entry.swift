// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// An entry of a directory, as it is written to LDIF (RFC 2849).
package struct Entry: Sendable {
    /// The distinguished name.
    package let name: String
    /// The attributes in their order; an attribute with several values appears several times.
    package var attributes: [(type: String, value: String)]

    package init(_ name: String, _ attributes: [(type: String, value: String)]) {
        self.name = name
        self.attributes = attributes
    }

    /// The entry in LDIF, with an empty line at its end.
    package var ldif: String {
        let lines = [Self.line("dn", name)] + attributes.map { Self.line($0.type, $0.value) }
        return lines.joined(separator: "\n") + "\n\n"
    }

    /// Returns a line of LDIF.
    ///
    /// The value is written in Base64 unless it consists of letters and digits of ASCII and of a few other characters.
    package static func line(_ type: String, _ value: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789=,.{}-+@*()'/_".utf8)
        let isPlain = value.utf8.allSatisfy(plain.contains)
        return isPlain ? "\(type): \(value)" : "\(type):: \(Data(value.utf8).base64EncodedString())"
    }

    /// Escapes a value of an attribute in a distinguished name (RFC 4514).
    package static func escaped(_ value: String) -> String {
        var text = ""
        for (index, character) in value.enumerated() {
            let isAtEnd = index == 0 || index == value.count - 1
            let isSpecial = "\"+,;<>\\=".contains(character) || (index == 0 && character == "#")
            text += isSpecial || (isAtEnd && character == " ") ? "\\\(character)" : "\(character)"
        }
        return text
    }
}
