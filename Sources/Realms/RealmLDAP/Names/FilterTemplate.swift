// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit

/// A search filter in which `%s`, `%n` and `%d` stand for values of a login (RFC 4515).
struct FilterTemplate: Sendable {
    enum Value: Character, Sendable {
        /// The user name without a domain.
        case name = "s"
        /// The user name as it was typed.
        case typedName = "n"
        /// The distinguished name of the user.
        case distinguishedName = "d"
    }

    /// An attribute whose value must be the user name.
    struct NameAttribute: Sendable, Hashable {
        /// In lower case.
        let name: String
        /// The texts before and after the user name.
        var prefix = ""
        var suffix = ""
        var value = Value.name
    }

    /// The values, each with the text before it.
    private let values: [(text: String, value: Value)]
    /// The text after the last value.
    private let end: String
    /// The attributes that are compared with a user name for equality.
    let nameAttributes: [NameAttribute]
    /// All attributes that are compared with a value, in lower case, each once.
    let comparedAttributes: [String]
    /// The template, as it is configured.
    let text: String

    /// Reads a filter with at least one of the allowed values.
    ///
    /// The parentheses around it may be missing, as in the properties of GlassFish.
    init(_ text: String, allowing allowed: [Value]) throws(BadValue) {
        self.text = text
        let isComplete = text.utf8.first == UInt8(ascii: "(")
        var reader = FilterReader(
            bytes: Array((isComplete ? text : "(\(text))").utf8),
            offset: isComplete ? 0 : 1,
            allowed: allowed
        )
        try reader.readFilter(depth: 0)
        guard reader.next == nil else { throw reader.fault("has something after its end") }
        guard !reader.values.isEmpty else {
            throw BadValue("has no \(allowed.map { "%\($0.rawValue)" }.joined(separator: " or ")): \(text)")
        }
        values = reader.values
        end = String(decoding: reader.literal, as: UTF8.self)
        nameAttributes = reader.nameAttributes
        comparedAttributes = reader.comparedAttributes
    }

    /// True if `%d` is the only value.
    var usesOnlyDistinguishedName: Bool { values.allSatisfy { $0.value == .distinguishedName } }

    /// The filter for all users: any text stands for the user name.
    var filterForAll: String { values.map { $0.text + "*" }.joined() + end }

    func filter(_ value: (Value) -> String) -> String {
        values.map { $0.text + LDAPText.filterValue(value($0.value).utf8) }.joined() + end
    }
}

/// Reads the grammar of RFC 4515.
private struct FilterReader {
    let bytes: [UInt8]
    /// The number of bytes that are not in the configured text.
    let offset: Int
    let allowed: [FilterTemplate.Value]
    private var place = 0
    private(set) var values: [(text: String, value: FilterTemplate.Value)] = []
    /// The text after the last value, with `%` for `%%`.
    private(set) var literal: [UInt8] = []
    private(set) var nameAttributes: [FilterTemplate.NameAttribute] = []
    private(set) var comparedAttributes: [String] = []

    init(bytes: [UInt8], offset: Int, allowed: [FilterTemplate.Value]) {
        (self.bytes, self.offset, self.allowed) = (bytes, offset, allowed)
    }

    var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    func fault(_ problem: String) -> BadValue {
        let before = String(decoding: bytes[..<min(place, bytes.count)], as: UTF8.self).unicodeScalars.count
        return BadValue("\(problem) at character \(max(1, before + 1 - offset)) of the filter")
    }

    private mutating func take(_ count: Int = 1) {
        literal += bytes[place..<(place + count)]
        place += count
    }

    mutating func readFilter(depth: Int) throws(BadValue) {
        guard depth < 32 else { throw fault("is nested too deeply") }
        guard next == UInt8(ascii: "(") else { throw fault("needs an opening parenthesis") }
        take()
        switch next {
        case UInt8(ascii: "&"), UInt8(ascii: "|"):
            take()
            repeat { try readFilter(depth: depth + 1) } while next == UInt8(ascii: "(")
        case UInt8(ascii: "!"):
            take()
            // A name in a negated part is not the name of the found user.
            let before = nameAttributes
            try readFilter(depth: depth + 1)
            nameAttributes = before
        default: try readItem()
        }
        guard next == UInt8(ascii: ")") else { throw fault("needs a closing parenthesis") }
        take()
    }

    private mutating func readItem() throws(BadValue) {
        let start = place
        while let byte = next, byte.isAlphanumeric || "-.;:".utf8.contains(byte) { take() }
        let attribute = bytes[start..<place]
        guard !attribute.isEmpty else { throw fault("needs the name of an attribute") }
        let isMatchingRule = attribute.last == UInt8(ascii: ":")
        let isEquality = next.map { "~<>".utf8.contains($0) } != true
        if !isEquality { take() }
        guard next == UInt8(ascii: "=") else { throw fault("needs = after the name of an attribute") }
        guard Self.isAttribute(attribute), isEquality || !isMatchingRule else {
            place = start
            throw fault("is no name of an attribute")
        }
        take()
        let type = attribute.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
        let name = String(decoding: type, as: UTF8.self).lowercased()
        let valueStart = place
        let (texts, found, hasWildcard) = try readValue(allowsWildcards: isEquality && !isMatchingRule)
        guard !name.isEmpty, !bytes[valueStart..<place].elementsEqual("*".utf8) else { return }
        if !comparedAttributes.contains(where: name.hasBytes) { comparedAttributes.append(name) }
        guard isEquality, !hasWildcard, found.count == 1, found[0] != .distinguishedName else { return }
        nameAttributes.append(.init(name: name, prefix: texts[0], suffix: texts[1], value: found[0]))
    }

    /// Reads the value of an item, and returns the texts before and after its placeholders, without escapes.
    private mutating func readValue(
        allowsWildcards: Bool
    ) throws(BadValue) -> (texts: [String], found: [FilterTemplate.Value], hasWildcard: Bool) {
        var texts: [[UInt8]] = [[]]
        var found: [FilterTemplate.Value] = []
        var hasWildcard = false
        while let byte = next, byte != UInt8(ascii: ")") {
            var plain = byte
            switch byte {
            case UInt8(ascii: "("), 0: throw fault("has a character that must be written as \\28 or \\00")
            case UInt8(ascii: "*"):
                guard allowsWildcards else { throw fault("cannot have * here, only after a plain =") }
                hasWildcard = true
                take()
            case UInt8(ascii: "\\"):
                guard let escaped = PercentEncoding.decode(bytes.span, at: place) else {
                    throw fault("needs two hexadecimal digits after a backslash")
                }
                plain = escaped
                take(3)
            case UInt8(ascii: "%"):
                place += 1
                guard next != UInt8(ascii: "%") else {
                    take()
                    break
                }
                found.append(try readPlaceholder())
                texts.append([])
                continue
            default: take()
            }
            texts[texts.count - 1].append(plain)
        }
        return (texts.map { String(decoding: $0, as: UTF8.self) }, found, hasWildcard)
    }

    /// Reads the letter after `%`.
    private mutating func readPlaceholder() throws(BadValue) -> FilterTemplate.Value {
        guard let value = next.flatMap({ FilterTemplate.Value(rawValue: Character(UnicodeScalar($0))) }) else {
            throw fault("takes \(allowed.map { "%\($0.rawValue)" }.joined(separator: ", ")) or %%, not this %")
        }
        guard allowed.contains(value) else { throw fault("cannot have %\(value.rawValue) here") }
        place += 1
        values.append((String(decoding: literal, as: UTF8.self), value))
        literal = []
        return value
    }

    // MARK: Names of attributes

    /// Returns whether bytes are an attribute, or an extensible match without its `=`: an attribute, `:dn` and a rule, of
    /// which the attribute or the rule may be missing (RFC 4515 section 3).
    private static func isAttribute(_ bytes: ArraySlice<UInt8>) -> Bool {
        var parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let attribute = parts.removeFirst()
        guard let end = parts.popLast() else { return isDescription(attribute) }
        if let first = parts.first, first.elementsEqual("dn".utf8) || first.elementsEqual("DN".utf8) {
            parts.removeFirst()
        }
        guard end.isEmpty, attribute.isEmpty || isDescription(attribute), parts.count <= 1 else { return false }
        return parts.first.map(isObjectIdentifier) ?? !attribute.isEmpty
    }

    /// Returns whether bytes are the name of an attribute with or without options (RFC 4512 section 2.5).
    private static func isDescription(_ bytes: ArraySlice<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        return isObjectIdentifier(parts[0]) && parts.dropFirst().allSatisfy { !$0.isEmpty && $0.allSatisfy(isKeyByte) }
    }

    /// Returns whether bytes are a name or numbers with dots (RFC 4512 section 1.4).
    private static func isObjectIdentifier(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first.isAlphanumeric else { return false }
        guard ASCII.isDigit(first) else { return bytes.allSatisfy(isKeyByte) }
        let numbers = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.allSatisfy { !$0.isEmpty && $0.allSatisfy(ASCII.isDigit) }
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool { byte.isAlphanumeric || byte == UInt8(ascii: "-") }
}
#endif
