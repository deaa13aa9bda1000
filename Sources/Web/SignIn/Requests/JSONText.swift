// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import FoundationEssentials

/// Encodes the JSON of the session API (RFC 8259).
enum JSONText {
    /// Encodes a value on one line.
    ///
    /// The keys are sorted and in snake case. In strings, characters that are special in HTML or JavaScript are
    /// escaped, so the text is safe in both.
    ///
    /// - Parameter value: The value.
    /// - Returns: The JSON; `null` for a value that cannot be encoded, such as a number that is not finite.
    static func of(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let json: String
        do {
            json = String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            return "null"
        }
        return json.escapingCharactersOfJSON { scalar in
            switch scalar {
            case "<", ">", "&", "\u{7F}", "\u{2028}", "\u{2029}": true
            default: false
            }
        }
    }
}

/// A value that is encoded as `null` if it is nil.
///
/// `JSONEncoder` omits the key of an optional property that is nil.
struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable {
    let value: Value?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}
