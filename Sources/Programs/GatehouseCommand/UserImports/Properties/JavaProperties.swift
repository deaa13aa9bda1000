// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The keys and values of a properties file of Java.
///
/// Source: `java.util.Properties.load`. As in the servers that write these files today, the text is UTF-8.
struct JavaProperties {
    struct Property {
        let key: String
        let value: String
        let line: Int
    }

    private(set) var properties: [Property] = []

    init(_ bytes: [UInt8], name: String) throws(BadUserFile) {
        var logical: [UInt8] = []
        var (first, isContinued) = (0, false)
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            var line = line
            if index == 0, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
            if line.last == 0x0D { line.removeLast() }
            line = line.drop(while: Self.isBlank)
            if !isContinued {
                guard let byte = line.first, byte != UInt8(ascii: "#"), byte != UInt8(ascii: "!") else { continue }
                (logical, first) = ([], index + 1)
            }
            isContinued = line.reversed().prefix { $0 == UInt8(ascii: "\\") }.count % 2 == 1
            logical += isContinued ? line.dropLast() : line
            if !isContinued { try add(logical, line: first, name: name) }
        }
        // Java ignores a backslash at the end of the file.
        if isContinued { try add(logical, line: first, name: name) }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0C }

    private mutating func add(_ line: [UInt8], line number: Int, name: String) throws(BadUserFile) {
        var rest = line[...]
        let key = Self.text(&rest) { Self.isBlank($0) || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }
        rest = rest.drop(while: Self.isBlank)
        if let byte = rest.first, byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":") {
            rest = rest.dropFirst().drop(while: Self.isBlank)
        }
        guard let key, let value = Self.text(&rest, until: { _ in false }) else {
            throw BadUserFile("\(name):\(number): it is not UTF-8, or has a malformed \\u")
        }
        properties.append(Property(key: key, value: value, line: number))
    }

    /// Reads a text with escapes; nil if it is malformed.
    private static func text(_ rest: inout ArraySlice<UInt8>, until isEnd: (UInt8) -> Bool) -> String? {
        var units: [UInt16] = []
        var plain: [UInt8] = []
        /// Appends the bytes before an escape.
        func flush() -> Bool {
            guard let text = String(validating: plain, as: UTF8.self) else { return false }
            units += text.utf16
            plain = []
            return true
        }
        while let byte = rest.first, !isEnd(byte) {
            rest.removeFirst()
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                plain.append(byte)
                continue
            }
            switch escaped {
            case UInt8(ascii: "t"): plain.append(0x09)
            case UInt8(ascii: "n"): plain.append(0x0A)
            case UInt8(ascii: "r"): plain.append(0x0D)
            case UInt8(ascii: "f"): plain.append(0x0C)
            case UInt8(ascii: "u"):
                let digits = rest.prefix(4).compactMap(Hexadecimal.value)
                guard digits.count == 4, flush() else { return nil }
                rest = rest.dropFirst(4)
                units.append(digits.reduce(0) { $0 << 4 | UInt16($1) })
            case _: plain.append(escaped)
            }
        }
        return flush() ? String(validating: units, as: UTF16.self) : nil
    }
}
