// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import FoundationEssentials

/// JSON that can be printed on a terminal.
package enum PrintableJSON {
    /// Encodes a value on one line, with sorted keys.
    ///
    /// - Parameter value: The value.
    /// - Returns: The JSON. Characters that control a terminal are written as `\u....`.
    /// - Throws: The error of the value's `encode(to:)`.
    package static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self).escapingCharactersOfJSON(
            where: Printable.isControl
        )
    }
}
