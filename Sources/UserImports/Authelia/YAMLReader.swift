// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes

/// A reader of a strict part of YAML 1.2: mappings, lists of texts, and texts on one line.
///
/// Every file that it accepts has the same meaning in YAML. It rejects everything else, with the line: anchors, aliases,
/// tags, texts of several lines, tabs, directives, several documents, merge keys, keys that occur twice, and more than
/// ``maximumDepth`` levels.
struct YAMLReader {
    /// An error, with the number of its line.
    struct Fault: Error {
        let line: Int
        let reason: String
    }

    static let maximumDepth = 16

    private struct Line {
        let number: Int
        let indent: Int
        /// The line without its indentation.
        let text: Substring.UTF8View
    }

    private let lines: [Line]
    private var index = 0

    /// Reads a file.
    ///
    /// - Parameter bytes: The file.
    /// - Returns: The value of the file.
    /// - Throws: ``Fault``.
    static func read(_ bytes: [UInt8]) throws(Fault) -> YAMLNode {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Fault(line: Self.line(ofInvalidUTF8: bytes), reason: "it is not UTF-8")
        }
        var reader = YAMLReader(lines: try Self.lines(of: text))
        guard let first = reader.lines.first else { throw Fault(line: 1, reason: "it is empty") }
        let node = try reader.readBlock(indent: first.indent, depth: 0)
        if reader.index < reader.lines.count {
            throw Fault(line: reader.lines[reader.index].number, reason: "the indentation is not that of a line before")
        }
        return node
    }

    private init(lines: [Line]) {
        self.lines = lines
    }

    // MARK: Lines

    private static func line(ofInvalidUTF8 bytes: [UInt8]) -> Int {
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
        where String(validating: line, as: UTF8.self) == nil {
            return index + 1
        }
        return 1
    }

    /// Returns the lines that are not blank and not a comment.
    private static func lines(of text: String) throws(Fault) -> [Line] {
        var lines: [Line] = []
        var number = 0
        var hasMarker = false
        for part in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            var line = part
            if line.last == 0x0D { line = line.dropLast() }
            if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
            try check(Substring(line), number: number)
            let content = line.drop { $0 == 0x20 }
            guard let first = content.first, first != UInt8(ascii: "#") else { continue }
            guard line.first != UInt8(ascii: "%") else { throw Fault(line: number, reason: "directives are not read") }
            let isMarker = line.starts(with: "---".utf8) || line.starts(with: "...".utf8)
            if isMarker {
                let isStart = line.trimmingBlanks.elementsEqual("---".utf8) && lines.isEmpty && !hasMarker
                guard isStart else { throw Fault(line: number, reason: "a file with several documents is not read") }
                hasMarker = true
                continue
            }
            lines.append(Line(number: number, indent: line.count - content.count, text: content))
        }
        return lines
    }

    private static func check(_ line: Substring, number: Int) throws(Fault) {
        for scalar in line.unicodeScalars {
            switch scalar.value {
            case 0x09: throw Fault(line: number, reason: "a tab is not read; write blanks")
            case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF:
                throw Fault(line: number, reason: "it contains a control character")
            case _: break
            }
        }
    }

    // MARK: Blocks

    private mutating func readBlock(indent: Int, depth: Int) throws(Fault) -> YAMLNode {
        let line = lines[index]
        guard depth < Self.maximumDepth else {
            throw Fault(line: line.number, reason: "more than \(Self.maximumDepth) levels")
        }
        return Self.isItem(line) ? try readList(indent: indent) : try readMapping(indent: indent, depth: depth)
    }

    private static func isItem(_ line: Line) -> Bool {
        line.text.first == UInt8(ascii: "-") && (line.text.count == 1 || line.text.dropFirst().first == 0x20)
    }

    private mutating func readList(indent: Int) throws(Fault) -> YAMLNode {
        let start = lines[index].number
        var items: [YAMLNode] = []
        while index < lines.count, lines[index].indent == indent, Self.isItem(lines[index]) {
            let line = lines[index]
            var scalars = YAMLScalarReader(line.text.dropFirst(), line: line.number)
            items.append(try scalars.readItem())
            index += 1
            try rejectContinuation(indent: indent)
        }
        return .list(items, line: start)
    }

    private mutating func readMapping(indent: Int, depth: Int) throws(Fault) -> YAMLNode {
        let start = lines[index].number
        var members: [YAMLMember] = []
        var keys: Set<UTF8Text> = []
        while index < lines.count, lines[index].indent == indent {
            let line = lines[index]
            guard !Self.isItem(line) else {
                throw Fault(line: line.number, reason: "a list is not expected here")
            }
            var scalars = YAMLScalarReader(line.text, line: line.number)
            let key = try scalars.readKey()
            guard keys.insert(UTF8Text(key)).inserted else {
                throw Fault(line: line.number, reason: "the key \(key.debugDescription) occurs twice")
            }
            index += 1
            if let value = try scalars.readValue() {
                try rejectContinuation(indent: indent)
                members.append(YAMLMember(key: key, line: line.number, value: value))
                continue
            }
            let isNested =
                index < lines.count
                && (lines[index].indent > indent || lines[index].indent == indent && Self.isItem(lines[index]))
            let value: YAMLNode =
                isNested
                ? try readBlock(indent: lines[index].indent, depth: depth + 1)
                : .scalar("", isPlain: true, line: line.number)
            if isNested, index < lines.count, lines[index].indent > indent {
                throw Fault(line: lines[index].number, reason: "the indentation is not that of a line before")
            }
            members.append(YAMLMember(key: key, line: line.number, value: value))
        }
        return .mapping(members, line: start)
    }

    /// Rejects a line that would continue the value of the line before.
    private func rejectContinuation(indent: Int) throws(Fault) {
        guard index < lines.count, lines[index].indent > indent else { return }
        throw Fault(line: lines[index].number, reason: "a value of several lines is not read; write it on one line")
    }
}

extension Substring.UTF8View {
    /// The bytes without leading and trailing spaces.
    fileprivate var trimmingBlanks: Substring.UTF8View {
        var bytes = drop { $0 == 0x20 }
        while bytes.last == 0x20 { bytes = bytes.dropLast() }
        return bytes
    }
}
