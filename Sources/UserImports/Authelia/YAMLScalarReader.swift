// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes

/// A reader of the texts of one line of YAML.
struct YAMLScalarReader {
    private let bytes: [UInt8]
    private let line: Int
    private var index = 0

    /// - Parameters:
    ///   - text: The line without its indentation, or the rest of it.
    ///   - line: The number of the line.
    init(_ text: Substring.UTF8View, line: Int) {
        bytes = Array(text)
        self.line = line
    }

    private func fault(_ reason: String) -> YAMLReader.Fault { YAMLReader.Fault(line: line, reason: reason) }

    // MARK: Parts of a line

    /// Reads a key and the colon after it.
    mutating func readKey() throws(YAMLReader.Fault) -> String {
        let key: String
        if isQuote(bytes.first) {
            key = try readQuoted()
            skipBlanks()
        } else {
            key = try text(try plain(isKey: true))
            guard !key.hasBytes(of: "<<") else { throw fault("the merge key << is not read") }
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else {
            throw fault("a key and a colon are expected here")
        }
        guard index <= 1024 else { throw fault("the key is longer than 1024 bytes") }
        index += 1
        guard index == bytes.count || bytes[index] == 0x20 else { throw fault("there is no blank after the colon") }
        return key
    }

    /// Reads the value after a key; nil if the line ends before it.
    mutating func readValue() throws(YAMLReader.Fault) -> YAMLNode? {
        skipBlanks()
        guard index < bytes.count, !isComment else { return nil }
        let value = try bytes[index] == UInt8(ascii: "[") ? readFlowList() : readScalar()
        try expectEnd()
        return value
    }

    /// Reads the value of an item of a list.
    mutating func readItem() throws(YAMLReader.Fault) -> YAMLNode {
        skipBlanks()
        guard index < bytes.count, !isComment else { throw fault("an item of a list must be a text on the same line") }
        let value = try readScalar()
        try expectEnd()
        return value
    }

    private mutating func readScalar() throws(YAMLReader.Fault) -> YAMLNode {
        if isQuote(bytes[index]) { return .scalar(try readQuoted(), isPlain: false, line: line) }
        return .scalar(try text(try plain(isKey: false)), isPlain: true, line: line)
    }

    /// Reads a list such as `[admins, 'night shift']`.
    private mutating func readFlowList() throws(YAMLReader.Fault) -> YAMLNode {
        index += 1
        var items: [YAMLNode] = []
        while true {
            skipBlanks()
            guard index < bytes.count else { throw fault("a list in brackets must end on the same line") }
            if bytes[index] == UInt8(ascii: "]") {
                index += 1
                return .list(items, line: line)
            }
            items.append(try readFlowItem())
            skipBlanks()
            guard index < bytes.count else { throw fault("a list in brackets must end on the same line") }
            if bytes[index] == UInt8(ascii: ",") {
                index += 1
            } else if bytes[index] != UInt8(ascii: "]") {
                throw fault("a comma or a bracket is expected in the list")
            }
        }
    }

    private mutating func readFlowItem() throws(YAMLReader.Fault) -> YAMLNode {
        if isQuote(bytes[index]) { return .scalar(try readQuoted(), isPlain: false, line: line) }
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: ","), bytes[index] != UInt8(ascii: "]") { index += 1 }
        let item = trimmed(start..<index)
        try checkStart(of: item)
        guard !bytes[item].contains(where: { Array("[]{}:#?&*!|>%@`\"'".utf8).contains($0) }) else {
            throw fault("a text with special characters in a list in brackets must be in quotes")
        }
        return .scalar(try text(item), isPlain: true, line: line)
    }

    private mutating func expectEnd() throws(YAMLReader.Fault) {
        skipBlanks()
        guard index < bytes.count, !isComment else { return }
        throw fault("text after the value")
    }

    // MARK: Plain texts

    /// Returns the range of a text without quotes, up to a colon or a comment.
    private mutating func plain(isKey: Bool) throws(YAMLReader.Fault) -> Range<Int> {
        let start = index
        try checkStart(of: start..<bytes.count)
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: ":"), index + 1 == bytes.count || bytes[index + 1] == 0x20 {
                guard isKey else { throw fault("a colon and a blank in a text; write the text in quotes") }
                break
            }
            if bytes[index] == UInt8(ascii: "#"), index > start, bytes[index - 1] == 0x20 { break }
            index += 1
        }
        let range = trimmed(start..<index)
        try checkStart(of: range)
        return range
    }

    /// Rejects a text without quotes that begins with a character of YAML's syntax.
    private func checkStart(of range: Range<Int>) throws(YAMLReader.Fault) {
        guard let first = range.first.map({ bytes[$0] }) else { throw fault("a text is expected here") }
        switch first {
        case UInt8(ascii: "&"), UInt8(ascii: "*"): throw fault("anchors and aliases are not read")
        case UInt8(ascii: "!"): throw fault("tags are not read")
        case UInt8(ascii: "|"), UInt8(ascii: ">"): throw fault("a text of several lines is not read")
        case UInt8(ascii: "{"), UInt8(ascii: "["): throw fault("a mapping or a list is not expected here")
        case _: break
        }
        let isDash = first == UInt8(ascii: "-") && (range.count == 1 || bytes[range.lowerBound + 1] == 0x20)
        guard !isDash, !Array("?:,]}#%@`\"'".utf8).contains(first) else {
            throw fault("a text cannot begin with this character; write it in quotes")
        }
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var end = range.upperBound
        while end > range.lowerBound, bytes[end - 1] == 0x20 { end -= 1 }
        return range.lowerBound..<end
    }

    private func text(_ range: Range<Int>) throws(YAMLReader.Fault) -> String {
        guard let text = String(validating: bytes[range], as: UTF8.self) else { throw fault("it is not UTF-8") }
        return text
    }

    // MARK: Texts in quotes

    private func isQuote(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
    private var isComment: Bool { bytes[index] == UInt8(ascii: "#") && (index == 0 || bytes[index - 1] == 0x20) }

    private mutating func skipBlanks() { while index < bytes.count, bytes[index] == 0x20 { index += 1 } }

    private mutating func readQuoted() throws(YAMLReader.Fault) -> String {
        let quote = bytes[index]
        index += 1
        var content: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == quote {
                // In single quotes, two quotes stand for one.
                guard quote == UInt8(ascii: "'"), index < bytes.count, bytes[index] == quote else {
                    return try string(content)
                }
                index += 1
                content.append(quote)
            } else if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                try readEscape(into: &content)
            } else {
                content.append(byte)
            }
        }
        throw fault("a quote is not closed on its line")
    }

    private func string(_ content: [UInt8]) throws(YAMLReader.Fault) -> String {
        guard let text = String(validating: content, as: UTF8.self) else { throw fault("it is not UTF-8") }
        return text
    }

    private mutating func readEscape(into content: inout [UInt8]) throws(YAMLReader.Fault) {
        guard index < bytes.count else { throw fault("a quote is not closed on its line") }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), 0x20: content.append(byte)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "x"): try readCode(digits: 2, into: &content)
        case UInt8(ascii: "u"): try readCode(digits: 4, into: &content)
        case UInt8(ascii: "U"): try readCode(digits: 8, into: &content)
        case _: throw fault("this sequence after a backslash is not read")
        }
    }

    private mutating func readCode(digits: Int, into content: inout [UInt8]) throws(YAMLReader.Fault) {
        var code: UInt32 = 0
        for _ in 0..<digits {
            guard index < bytes.count, let digit = Hexadecimal.value(of: bytes[index]) else {
                throw fault("hexadecimal digits are expected after the backslash")
            }
            code = code << 4 | UInt32(digit)
            index += 1
        }
        guard let scalar = Unicode.Scalar(code) else { throw fault("this code is not a character") }
        content += Array(UTF8.encode(scalar) ?? .init())
    }
}
