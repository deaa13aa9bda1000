// SPDX-License-Identifier: Apache-2.0

/// Text from a helper.
package enum HelperText {
    /// Returns a text for the log, without control characters; bytes that are not UTF-8 are replaced.
    ///
    /// - Parameter bytes: The text.
    /// - Returns: The text with control characters as in `\u{1b}`.
    package static func escaped(_ bytes: some Collection<UInt8>) -> String {
        var text = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if isControl(scalar) {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Returns whether a character is a control character, a line or a paragraph separator.
    ///
    /// - Parameter scalar: The character.
    /// - Returns: True for C0, DEL, C1, U+2028 and U+2029.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        default: false
        }
    }
}
