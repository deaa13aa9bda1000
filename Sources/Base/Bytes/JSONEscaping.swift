// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// Returns the JSON text with some characters written as `\u....` (RFC 8259 section 7).
    ///
    /// - Parameter isEscaped: Returns true for a character to escape. The character must be below U+10000, and must
    ///   appear only in strings of the JSON text.
    /// - Returns: JSON text with the same value.
    package func escapingCharactersOfJSON(where isEscaped: (Unicode.Scalar) -> Bool) -> String {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            guard isEscaped(scalar) else {
                result.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars
        }
        return String(result)
    }
}
