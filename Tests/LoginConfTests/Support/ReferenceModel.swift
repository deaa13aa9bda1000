// SPDX-License-Identifier: Apache-2.0

/// A simple model of the JDK's parser of login.conf, without error recovery and positions.
///
/// The model follows the observed behaviour of `StreamTokenizer`, `ConfigFile` and `PropertyExpander`. A test compares it
/// with all recorded answers of the JDK. It also lists the hazards of a text: the parts that the JDK accepts, but the
/// parser of this project rejects.
struct ReferenceModel {
    /// A part of a text that the JDK accepts and the parser rejects.
    enum Hazard: String, Hashable {
        case loneSlash, unterminatedString, unterminatedComment, byteOrderMark, invalidName, nonASCIIFlag, emptyContext,
            notUTF8
    }

    /// The error for a text that the JDK rejects.
    struct Rejection: Error {}

    private enum Token: Equatable {
        case word([UInt16])
        case string([UInt16], quote: UInt16)
        case number
        case endOfFile
        case character(UInt16)
    }

    private let units: [UInt16]
    private let property: ([UInt16]) -> [UInt16]?
    private var position = 0
    private var token = Token.endOfFile
    private(set) var hazards: Set<Hazard> = []

    /// Returns the contexts and the hazards of a text; the contexts are nil if the JDK rejects the text.
    static func read(
        _ bytes: [UInt8],
        property: (String) -> String?
    ) -> (entries: [CanonicalEntry]?, hazards: Set<Hazard>) {
        withoutActuallyEscaping(property) { property in
            // Malformed bytes become U+FFFD.
            let text = String(decoding: bytes, as: UTF8.self)
            var model = ReferenceModel(units: Array(text.utf16)) { name in
                property(String(decoding: name, as: UTF16.self)).map { Array($0.utf16) }
            }
            if Array(text.utf8) != bytes { model.hazards.insert(.notUTF8) }
            let entries = try? model.file()
            return (entries, model.hazards)
        }
    }

    private init(units: [UInt16], property: @escaping ([UInt16]) -> [UInt16]?) {
        self.units = units
        self.property = property
    }

    // MARK: Tokens

    private enum Class { case space, wordStart, digit, doubleQuote, singleQuote, slash, other }

    private static func kind(of unit: UInt16) -> Class {
        switch unit {
        case 0...0x20: return .space
        case 0x22: return .doubleQuote
        case 0x27: return .singleQuote
        case 0x2F: return .slash
        case 0x30...0x39, 0x2D, 0x2E: return .digit
        case 0x41...0x5A, 0x61...0x7A, 0x24, 0x2A, 0x5F: return .wordStart
        case 0xA0...: return .wordStart
        default: return .other
        }
    }

    private func unit(_ offset: Int = 0) -> UInt16? {
        position + offset < units.count ? units[position + offset] : nil
    }

    private static func isLineEnd(_ unit: UInt16) -> Bool { unit == 0x0A || unit == 0x0D }

    private mutating func next() -> Token {
        while let first = unit() {
            switch Self.kind(of: first) {
            case .space: position += 1
            case .slash: comment()
            case .wordStart: return word()
            case .digit: return numberOrDash(first)
            case .doubleQuote, .singleQuote: return string(first)
            case .other:
                position += 1
                return .character(first)
            }
        }
        return .endOfFile
    }

    private mutating func word() -> Token {
        var text: [UInt16] = []
        while let unit = unit() {
            let kind = Self.kind(of: unit)
            guard kind == .wordStart || kind == .digit else { break }
            if unit == 0xFEFF { hazards.insert(.byteOrderMark) }
            text.append(unit)
            position += 1
        }
        return .word(text)
    }

    private mutating func numberOrDash(_ first: UInt16) -> Token {
        if first == 0x2D {
            position += 1
            guard let second = unit(), second == 0x2E || 0x30...0x39 ~= second else { return .character(0x2D) }
        }
        var hasDot = false
        while let unit = unit() {
            if unit == 0x2E, !hasDot {
                hasDot = true
            } else if !(0x30...0x39 ~= unit) {
                break
            }
            position += 1
        }
        return .number
    }

    private mutating func string(_ quote: UInt16) -> Token {
        position += 1
        var text: [UInt16] = []
        while let unit = unit() {
            if unit == quote {
                position += 1
                return .string(text, quote: quote)
            }
            if Self.isLineEnd(unit) { break }
            position += 1
            guard unit == 0x5C else {
                text.append(unit)
                continue
            }
            guard let escaped = self.unit() else {
                text.append(0xFFFF)
                break
            }
            position += 1
            text.append(escape(escaped))
        }
        hazards.insert(.unterminatedString)
        return .string(text, quote: quote)
    }

    private mutating func escape(_ first: UInt16) -> UInt16 {
        switch first {
        case 0x61: return 0x07
        case 0x62: return 0x08
        case 0x66: return 0x0C
        case 0x6E: return 0x0A
        case 0x72: return 0x0D
        case 0x74: return 0x09
        case 0x76: return 0x0B
        case 0x30...0x37:
            var value = first - 0x30
            if let second = unit(), 0x30...0x37 ~= second {
                value = value * 8 + second - 0x30
                position += 1
                if first <= 0x33, let third = unit(), 0x30...0x37 ~= third {
                    value = value * 8 + third - 0x30
                    position += 1
                }
            }
            return value
        default: return first
        }
    }

    private mutating func comment() {
        if unit(1) == 0x2A {
            position += 2
            while position < units.count {
                if unit() == 0x2A, unit(1) == 0x2F {
                    position += 2
                    return
                }
                position += 1
            }
            hazards.insert(.unterminatedComment)
        } else {
            if unit(1) != 0x2F { hazards.insert(.loneSlash) }
            // The JDK skips the character after a lone `/`. If that is a line end, it skips the next line too.
            position = min(position + 2, units.count)
            while let unit = unit(), !Self.isLineEnd(unit) { position += 1 }
        }
    }

    // MARK: Contexts

    private mutating func advance() { token = next() }

    private mutating func file() throws -> [CanonicalEntry] {
        var entries: [CanonicalEntry] = []
        advance()
        while token != .endOfFile {
            let entry = try entry()
            if entries.contains(where: { $0.name == entry.name }) { throw Rejection() }
            entries.append(entry)
        }
        return entries
    }

    private mutating func entry() throws -> CanonicalEntry {
        let name: [UInt16]?
        switch token {
        case .word(let text): name = text
        case .string(let text, let quote):
            name = text
            if quote != 0x22 { hazards.insert(.invalidName) }
        case .number, .character, .endOfFile:
            name = nil
            hazards.insert(.invalidName)
        }
        advance()
        try match("{")
        var modules: [CanonicalModule] = []
        while token != .character(0x7D) { modules.append(try module()) }
        advance()
        try match(";")
        if modules.isEmpty { hazards.insert(.emptyContext) }
        return CanonicalEntry(name: name, modules: modules)
    }

    private mutating func module() throws -> CanonicalModule {
        let className = try text()
        let flag = String(decoding: try text(), as: UTF16.self)
        guard ["REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL"].contains(flag.uppercased()) else { throw Rejection() }
        if !flag.utf8.allSatisfy({ $0 < 0x80 }) { hazards.insert(.nonASCIIFlag) }
        var options: [[UInt16]: [UInt16]] = [:]
        while token != .character(0x3B) {
            let key = try text()
            try match("=")
            options[key] = try expanded(try text())
        }
        advance()
        if className.isEmpty { throw Rejection() }
        return CanonicalModule(className: className, flag: flag.uppercased(), options: options)
    }

    private mutating func text() throws -> [UInt16] {
        switch token {
        case .word(let text), .string(let text, quote: 0x22):
            advance()
            return text
        case .string, .number, .character, .endOfFile: throw Rejection()
        }
    }

    private mutating func match(_ character: Unicode.Scalar) throws {
        guard token == .character(UInt16(character.value)) else { throw Rejection() }
        advance()
    }

    // MARK: Values

    private func expanded(_ value: [UInt16]) throws -> [UInt16] {
        var result: [UInt16] = []
        var rest = value[...]
        while let first = rest.first {
            guard rest.starts(with: [0x24, 0x7B]) else {
                result.append(first)
                rest.removeFirst()
                continue
            }
            if rest.dropFirst(2).first == 0x7B {
                let after = rest.dropFirst(2)
                guard let close = after.indices.first(where: { after[$0...].starts(with: [0x7D, 0x7D]) }) else {
                    result += rest
                    break
                }
                result += rest[...(close + 1)]
                rest = rest[(close + 2)...]
                continue
            }
            guard let close = rest.firstIndex(of: 0x7D) else {
                result += rest
                break
            }
            let name = Array(rest[..<close].dropFirst(2))
            rest = rest[(close + 1)...]
            if name == [0x2F] {
                result.append(0x2F)
            } else if let replacement = name.isEmpty ? nil : property(name) {
                result += replacement
            } else {
                throw Rejection()
            }
        }
        if result.isEmpty, !value.isEmpty { throw Rejection() }
        return result
    }
}
