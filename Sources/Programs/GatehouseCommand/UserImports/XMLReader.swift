// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A reader of a strict part of XML 1.0: elements with attributes, and comments.
///
/// Every file that it accepts is well-formed XML, and has the same meaning. It rejects everything else, with line and
/// column: document types, entities other than the five of XML, processing instructions, CDATA sections, text between
/// elements, and more than ``maximumDepth`` levels.
struct XMLReader {
    struct Fault: Error {
        let line: Int
        let column: Int
        let reason: String
    }

    static let maximumDepth = 16

    private let bytes: [UInt8]
    private var index = 0
    private var openNames: [String] = []
    /// The number of the line of an earlier index.
    private var known = (index: 0, line: 1)

    /// Reads a file; `body` gets every element at its start tag.
    static func read(_ bytes: [UInt8], _ body: (XMLTag) throws(Fault) -> Void) throws(Fault) {
        var reader = XMLReader(bytes: bytes)
        try reader.checkCharacters()
        try reader.readDeclaration()
        try reader.readElements(body)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func readElements(_ body: (XMLTag) throws(Fault) -> Void) throws(Fault) {
        var hasRoot = false
        skipBlanks()
        while let byte = next {
            guard byte == UInt8(ascii: "<") else { throw fault("text is not expected here") }
            if skip("<!--") {
                try skipComment()
            } else if skip("</") {
                try readEnd()
            } else if starts(with: "<!") || starts(with: "<?") {
                throw fault("a document type, a CDATA section or a processing instruction is not read")
            } else {
                guard !openNames.isEmpty || !hasRoot else { throw fault("a second root element") }
                hasRoot = true
                try body(try readStart())
            }
            skipBlanks()
        }
        if let name = openNames.last { throw fault("the element \(name) is not closed") }
        guard hasRoot else { throw fault("there is no element") }
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    // MARK: Characters

    /// Creates an error at the current place; the column is counted in bytes.
    private func fault(_ reason: String) -> Fault { fault(reason, at: index) }

    private func fault(_ reason: String, at index: Int) -> Fault {
        let before = bytes[..<min(index, bytes.count)]
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return Fault(line: before.count { $0 == 0x0A } + 1, column: before.count - start + 1, reason: reason)
    }

    /// Rejects bytes that are not UTF-8, and characters that XML does not allow (XML 1.0 section 2.2).
    private func checkCharacters() throws(Fault) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Fault(line: BadUserFile.lineOfBadUTF8(in: bytes), column: 1, reason: "it is not UTF-8")
        }
        guard let place = text.unicodeScalars.firstIndex(where: { !Self.isAllowed($0) }) else { return }
        throw fault("it contains a control character", at: text.utf8.distance(from: text.startIndex, to: place))
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: true
        case 0x00...0x1F, 0xFFFE, 0xFFFF: false
        case _: true
        }
    }

    private func starts(with text: StaticString) -> Bool { bytes[index...].starts(with: text.description.utf8) }

    /// Skips a text; returns false if another text follows.
    private mutating func skip(_ text: StaticString) -> Bool {
        guard starts(with: text) else { return false }
        index += text.utf8CodeUnitCount
        return true
    }

    private mutating func skipBlanks() {
        while let byte = next, Self.isBlank(byte) { index += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    // MARK: Markup

    /// Reads the XML declaration; throws if the file is not in UTF-8.
    private mutating func readDeclaration() throws(Fault) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        guard starts(with: "<?xml"), index + 5 < bytes.count, Self.isBlank(bytes[index + 5]) else { return }
        let start = index
        index += 5
        let attributes = try readAttributes()
        guard skip("?>") else { throw fault("the end of the XML declaration is expected here") }
        let names = attributes.map { UTF8Text($0.name) }
        guard
            [["version"], ["version", "encoding"], ["version", "standalone"], ["version", "encoding", "standalone"]]
                .contains(names), attributes[0].value.hasBytes(of: "1.0")
        else { throw fault("this XML declaration is not read", at: start) }
        if let encoding = attributes.first(where: { $0.name.hasBytes(of: "encoding") })?.value.lowercased() {
            guard ["utf-8", "utf8", "us-ascii"].contains(where: { $0.hasBytes(of: encoding) }) else {
                throw fault("the encoding must be UTF-8, not \(encoding)", at: start)
            }
        }
    }

    private mutating func skipComment() throws(Fault) {
        let start = index
        while next != nil {
            if skip("--") {
                guard skip(">") else { throw fault("-- within a comment") }
                return
            }
            index += 1
        }
        throw fault("the comment is not closed", at: start)
    }

    private mutating func readEnd() throws(Fault) {
        let start = index
        let name = try readName()
        skipBlanks()
        guard skip(">") else { throw fault("> is expected here") }
        guard let open = openNames.popLast(), open.hasBytes(of: name) else {
            throw fault("the end of an element that is not open: \(name)", at: start)
        }
    }

    private mutating func readStart() throws(Fault) -> XMLTag {
        let start = index
        known = (start, known.line + bytes[known.index..<start].count { $0 == 0x0A })
        let depth = openNames.count
        guard depth < Self.maximumDepth else { throw fault("more than \(Self.maximumDepth) levels") }
        index += 1
        let name = try readName()
        let attributes = try readAttributes()
        if !skip("/>") {
            guard skip(">") else { throw fault("an attribute or > is expected here") }
            openNames.append(name)
        }
        return XMLTag(name: name, attributes: attributes, depth: depth, line: known.line)
    }

    private mutating func readName() throws(Fault) -> String {
        let start = index
        while let byte = next, Self.isName(byte, isFirst: index == start) { index += 1 }
        guard index > start else { throw fault("a name is expected here") }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// True if a name may contain a character; names with other letters than those of ASCII are not read.
    private static func isName(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: ":"):
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !isFirst
        case _: false
        }
    }

    // MARK: Attributes

    private mutating func readAttributes() throws(Fault) -> [(name: String, value: String)] {
        var attributes: [(name: String, value: String)] = []
        while true {
            let hasBlank = next.map(Self.isBlank) ?? false
            skipBlanks()
            guard let byte = next, Self.isName(byte, isFirst: true) else { return attributes }
            guard hasBlank else { throw fault("a blank is expected before the attribute") }
            let start = index
            let name = try readName()
            guard !attributes.contains(where: { $0.name.hasBytes(of: name) }) else {
                throw fault("the attribute \(name) occurs twice", at: start)
            }
            guard attributes.count < 100 else { throw fault("more than 100 attributes", at: start) }
            skipBlanks()
            guard skip("=") else { throw fault("= is expected here") }
            skipBlanks()
            attributes.append((name, try readAttributeValue()))
        }
    }

    /// Reads a value in quotes; line ends and tabs are blanks (XML 1.0 section 3.3.3).
    private mutating func readAttributeValue() throws(Fault) -> String {
        guard let quote = next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw fault("a value in quotes is expected here")
        }
        let start = index
        var value: [UInt8] = []
        index += 1
        while let byte = next {
            switch byte {
            case quote:
                index += 1
                // The whole file is UTF-8.
                return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "<"): throw fault("< within a value; write &lt;")
            case UInt8(ascii: "&"): value += String(try readReference()).utf8
            case _:
                value.append(Self.isBlank(byte) ? 0x20 : byte)
                // A CR and a LF are one line end.
                index += starts(with: "\r\n") ? 2 : 1
            }
        }
        throw fault("the value is not closed", at: start)
    }

    private mutating func readReference() throws(Fault) -> Unicode.Scalar {
        let start = index
        let entities: [(StaticString, Unicode.Scalar)] = [
            ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
        ]
        for (name, character) in entities where skip(name) { return character }
        guard skip("&#") else { throw fault("this entity is not read", at: start) }
        let radix = skip("x") ? 16 : 10
        let digits = bytes[index...].prefix(8).prefix { Hexadecimal.value(of: $0) != nil }
        index += digits.count
        guard skip(";"), let code = UInt32(String(decoding: digits, as: UTF8.self), radix: radix),
            let scalar = Unicode.Scalar(code), Self.isAllowed(scalar)
        else { throw fault("this is not a reference to a character", at: start) }
        return scalar
    }
}

struct XMLTag {
    let name: String
    let attributes: [(name: String, value: String)]
    /// The number of elements around this element.
    let depth: Int
    let line: Int

    subscript(name: String) -> String? { attributes.first { $0.name.hasBytes(of: name) }?.value }
}
