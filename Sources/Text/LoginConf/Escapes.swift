// SPDX-License-Identifier: Apache-2.0

/// The escapes of strings in login.conf.
enum LoginConfEscapes {
    /// Returns the content of a string with its escapes replaced.
    ///
    /// The escapes are `\n \r \t \b \f \a \v`, and octal numbers: up to three digits if the first is 0 to 3, otherwise
    /// up to two. Any other character after a backslash stands for itself. Source: `java.io.StreamTokenizer`.
    static func unescaped(_ content: ArraySlice<UInt8>) -> String {
        guard content.contains(.backslash) else { return String(decoding: content, as: UTF8.self) }
        var result: [UInt8] = []
        var rest = content
        while let byte = rest.popFirst() {
            guard byte == .backslash, let escaped = rest.popFirst() else {
                result.append(byte)
                continue
            }
            guard var value = octal(escaped) else {
                result.append(character(for: escaped))
                continue
            }
            for _ in 0..<(escaped <= UInt8(ascii: "3") ? 2 : 1) {
                guard let digit = rest.first.flatMap(octal) else { break }
                value = value << 3 | digit
                rest.removeFirst()
            }
            result += Array(String(Unicode.Scalar(value)).utf8)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns a text in double quotes, with `"`, backslash and control characters escaped.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\0"..." ", "\u{7F}"..."\u{9F}":
                quoted += scalar == " " ? " " : escape(scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func escape(_ value: UInt32) -> String {
        let digits = String(value, radix: 8)
        return "\\" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }

    private static func octal(_ byte: UInt8) -> UInt8? {
        UInt8(ascii: "0")...UInt8(ascii: "7") ~= byte ? byte - UInt8(ascii: "0") : nil
    }

    private static func character(for escaped: UInt8) -> UInt8 {
        switch escaped {
        case UInt8(ascii: "a"): 0x07
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "v"): 0x0B
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "r"): 0x0D
        default: escaped
        }
    }
}
