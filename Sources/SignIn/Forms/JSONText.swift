// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A value to be written as JSON (RFC 8259).
enum JSONValue: Sendable {
    /// A string.
    case string(String)
    /// A whole number.
    case integer(Int)
    /// True or false.
    case bool(Bool)
    /// Null.
    case null
    /// Values in order.
    case array([JSONValue])
    /// Names and values in order; the names differ.
    case object([(String, JSONValue)])

    /// The value as JSON, without white space.
    ///
    /// Characters with a meaning in HTML or JavaScript are escaped in strings, so that the text is safe in both.
    var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .string(let string): Self.write(string, to: &text)
        case .integer(let number): text += String(number)
        case .bool(let value): text += value ? "true" : "false"
        case .null: text += "null"
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let fields):
            text += "{"
            for (index, (name, value)) in fields.enumerated() {
                if index > 0 { text += "," }
                Self.write(name, to: &text)
                text += ":"
                value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "<", ">", "&", "\u{7F}", "\u{2028}", "\u{2029}", "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
