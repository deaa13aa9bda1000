// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import FoundationEssentials

/// JSON that can be printed on a terminal.
package enum PrintableJSON {
    /// Encodes a value on one line, with sorted keys.
    ///
    /// - Parameter value: The value.
    /// - Returns: The JSON. Characters that control a terminal are written as `\u....`; they occur in strings only.
    /// - Throws: The error of the value's `encode(to:)`.
    package static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = String(decoding: try encoder.encode(value), as: UTF8.self)
        var result = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            guard Printable.isControl(scalar) else {
                result.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            // All of them are below 0x10000.
            result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars
        }
        return String(result)
    }
}
