// SPDX-License-Identifier: Apache-2.0

/// The texts of log lines.
package enum LogText {
    /// Returns a text in quotes, with all but visible ASCII escaped, so that a client cannot forge log lines.
    package static func quoted(_ text: String) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count + 2)
        appendQuoted(text, to: &result)
        return String(decoding: result, as: UTF8.self)
    }

    /// Appends a text in quotes, as ``quoted(_:)`` returns it.
    package static func appendQuoted(_ text: String, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        appendEscaped(text, to: &line)
        line.append(UInt8(ascii: "\""))
    }

    /// Appends the text between the quotes of ``quoted(_:)``.
    package static func appendEscaped(_ text: String, to line: inout [UInt8]) {
        let isPlain = text.utf8.allSatisfy { byte in
            byte >= 0x20 && byte <= 0x7E && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        guard !isPlain else { return line += text.utf8 }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": line += [UInt8(ascii: "\\"), UInt8(ascii: scalar)]
            case " "..."~": line.append(UInt8(ascii: scalar))
            default: appendEscape(of: scalar, to: &line)
            }
        }
    }

    /// Appends an escape sequence such as `\u{301}`, by single bytes for speed: a path may contain thousands of them.
    private static func appendEscape(of scalar: Unicode.Scalar, to result: inout [UInt8]) {
        result += "\\u{".utf8
        var shift = max(0, (31 - scalar.value.leadingZeroBitCount) / 4 * 4)
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: scalar.value >> UInt32(shift) & 15)
            result.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            shift -= 4
        }
        result.append(UInt8(ascii: "}"))
    }
}
