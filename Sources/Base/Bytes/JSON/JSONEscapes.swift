// SPDX-License-Identifier: Apache-2.0

/// The characters of a string that are escaped in JSON.
package enum JSONEscapes: Sendable {
    /// Those that RFC 8259 section 7 requires: quotation marks, backslashes and control characters below U+0020.
    case required
    /// Also those that are special in HTML or JavaScript, so that the text is safe in both.
    case web
    /// Also those that control a terminal or change the direction of text.
    case terminal

    private func includes(_ scalar: Unicode.Scalar) -> Bool {
        switch (self, scalar) {
        case (.required, _): false
        case (.web, "<"), (.web, ">"), (.web, "&"), (.web, "\u{7F}"), (.web, "\u{2028}"), (.web, "\u{2029}"): true
        case (.web, _): false
        case (.terminal, _): LineText.isControl(scalar)
        }
    }

    func append(_ text: String, to bytes: inout [UInt8]) {
        let text = text.utf8Span.span
        bytes.append(addingCapacity: Self.capacity(for: text.count)) { output in append(text, to: &output) }
    }

    /// The maximum length of a string for a number of bytes: an escape sequence has at most six.
    package static func capacity(for count: Int) -> Int { 6 * count + 2 }

    /// Appends UTF-8 as a string with its quotation marks.
    package func append(_ text: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\""))
        appendContent(text, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// Appends UTF-8 as a part of a string.
    package func appendContent(_ text: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        var index = 0
        while index < text.count {
            let byte = text[index]
            let length = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
            let end = min(text.count, index + length)
            // All that is escaped is below U+10000.
            let scalar = length < 4 ? Self.scalar(text.extracting(index..<end)) : nil
            if let scalar, scalar.value < 0x20 || scalar == "\"" || scalar == "\\" || includes(scalar) {
                Self.escape(scalar, to: &output)
            } else {
                for place in index..<end { output.append(text[place]) }
            }
            index = end
        }
    }

    /// Returns the character of one to three bytes.
    private static func scalar(_ bytes: Span<UInt8>) -> Unicode.Scalar? {
        var value = UInt32(bytes[0])
        if bytes.count > 1 { value &= bytes.count == 2 ? 0x1F : 0x0F }
        for index in 1..<max(1, bytes.count) { value = value << 6 | UInt32(bytes[index] & 0x3F) }
        return Unicode.Scalar(value)
    }

    private static func escape(_ scalar: Unicode.Scalar, to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\\"))
        switch scalar {
        case "\u{8}": output.append(UInt8(ascii: "b"))
        case "\t": output.append(UInt8(ascii: "t"))
        case "\n": output.append(UInt8(ascii: "n"))
        case "\u{C}": output.append(UInt8(ascii: "f"))
        case "\r": output.append(UInt8(ascii: "r"))
        case "\"", "\\": output.append(UInt8(ascii: scalar))
        case _:
            output.append(UInt8(ascii: "u"))
            for shift in [12, 8, 4, 0] as [UInt32] {
                output.append(Hexadecimal.digit(of: UInt8(scalar.value >> shift & 15)))
            }
        }
    }
}
