// SPDX-License-Identifier: Apache-2.0
// Gatehouse

extension StringProtocol {
    /// Returns JSON in which some characters are written as `\u....` (RFC 8259 section 7).
    ///
    /// - Parameter isEscaped: Returns true for a character to escape. It must be one that JSON has only in strings, and
    ///   below U+10000.
    /// - Returns: JSON of the same meaning.
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
