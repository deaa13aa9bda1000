// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit

/// A search filter in which `%s`, `%n` and `%d` stand for values of a login (RFC 4515).
struct FilterTemplate: Sendable {
    enum Value: Sendable, Hashable {
        /// `%s`: the user name without a domain.
        case name
        /// `%n`: the user name as it was typed.
        case typedName
        /// `%d`: the distinguished name of the user.
        case distinguishedName
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

    private enum Part: Sendable {
        case text(String)
        case value(Value)
    }

    private var parts: [Part] = []
    /// The attributes that are compared with a user name for equality.
    private(set) var nameAttributes: [NameAttribute] = []
    /// All attributes that are compared with a value, in lower case, each once.
    private(set) var comparedAttributes: [String] = []

    /// The template, as it is configured.
    let text: String

    /// Reads a filter with at least one of the allowed values.
    ///
    /// The parentheses around it may be missing, as in the properties of GlassFish.
    init(_ text: String, allowing allowed: [Value]) throws(BadValue) {
        self.text = text
        let complete = text.utf8.first == UInt8(ascii: "(") ? text : "(\(text))"
        let offset = complete.utf8.count - text.utf8.count > 0 ? 1 : 0
        var reader = Reader(bytes: Array(complete.utf8), offset: offset, allowed: allowed)
        try reader.readFilter(depth: 0)
        guard reader.place == reader.bytes.count else { throw reader.fault("has something after its end") }
        guard !reader.values.isEmpty else {
            throw BadValue("has no \(allowed.map(Reader.spelling).joined(separator: " or ")): \(text)")
        }
        var start = 0
        for (place, value) in reader.values {
            parts.append(.text(Self.plain(reader.bytes[start..<place])))
            parts.append(.value(value))
            start = place + 2
        }
        parts.append(.text(Self.plain(reader.bytes[start...])))
        nameAttributes = reader.nameAttributes
        comparedAttributes = reader.comparedAttributes
    }

    /// True if `%d` is the only value.
    var usesOnlyDistinguishedName: Bool {
        parts.allSatisfy { if case .value(let value) = $0 { value == .distinguishedName } else { true } }
    }

    /// The filter for all users: any text stands for the user name.
    var filterForAll: String {
        parts.map { if case .text(let text) = $0 { text } else { "*" } }.joined()
    }

    func filter(_ value: (Value) -> String) -> String {
        var filter = ""
        for part in parts {
            switch part {
            case .text(let text): filter += text
            case .value(let kind): filter += LDAPText.filterValue(value(kind).utf8)
            }
        }
        return filter
    }

    /// Returns a part of the template with `%%` replaced by `%`.
    private static func plain(_ bytes: ArraySlice<UInt8>) -> String {
        var plain: [UInt8] = []
        var isSecond = false
        for byte in bytes {
            if byte == UInt8(ascii: "%"), !isSecond {
                isSecond = true
                continue
            }
            isSecond = false
            plain.append(byte)
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// Reads the grammar of RFC 4515.
    private struct Reader {
        let bytes: [UInt8]
        /// The number of bytes that are not in the configured text.
        let offset: Int
        let allowed: [Value]
        var place = 0
        var values: [(place: Int, value: Value)] = []
        var nameAttributes: [NameAttribute] = []
        var comparedAttributes: [String] = []
        private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

        func fault(_ problem: String) -> BadValue {
            let before = String(decoding: bytes[..<min(place, bytes.count)], as: UTF8.self).unicodeScalars.count
            return BadValue("\(problem) at character \(max(1, before + 1 - offset)) of the filter")
        }

        static func spelling(_ value: Value) -> String {
            switch value {
            case .name: "%s"
            case .typedName: "%n"
            case .distinguishedName: "%d"
            }
        }

        mutating func readFilter(depth: Int) throws(BadValue) {
            guard depth < 32 else { throw fault("is nested too deeply") }
            guard next == UInt8(ascii: "(") else { throw fault("needs an opening parenthesis") }
            place += 1
            switch next {
            case UInt8(ascii: "&"), UInt8(ascii: "|"):
                place += 1
                repeat { try readFilter(depth: depth + 1) } while next == UInt8(ascii: "(")
            case UInt8(ascii: "!"):
                place += 1
                // A name in a negated part is not the name of the found user.
                let before = nameAttributes
                try readFilter(depth: depth + 1)
                nameAttributes = before
            default: try readItem()
            }
            guard next == UInt8(ascii: ")") else { throw fault("needs a closing parenthesis") }
            place += 1
        }

        private mutating func readItem() throws(BadValue) {
            let start = place
            while let byte = next, Self.isAttributeByte(byte) { place += 1 }
            let attribute = bytes[start..<place]
            guard !attribute.isEmpty else { throw fault("needs the name of an attribute") }
            let isMatchingRule = attribute.last == UInt8(ascii: ":")
            let isName = isMatchingRule ? Self.isMatchingRule(attribute) : Self.isDescription(attribute)
            guard isName || next != UInt8(ascii: "=") else {
                place = start
                throw fault("is no name of an attribute")
            }
            var isEquality = true
            if let byte = next, "~<>".utf8.contains(byte) {
                isEquality = false
                place += 1
            }
            guard next == UInt8(ascii: "=") else { throw fault("needs = after the name of an attribute") }
            guard isName, isEquality || !isMatchingRule else {
                place = start
                throw fault("is no name of an attribute")
            }
            place += 1
            let value = place
            try readValue(of: isEquality ? attribute : [], allowsWildcards: isEquality && !isMatchingRule)
            let name = Self.type(attribute)
            let isPresence = bytes[value..<place].elementsEqual("*".utf8)
            if !isPresence, !name.isEmpty, !comparedAttributes.contains(name) { comparedAttributes.append(name) }
        }

        /// Returns the name of an attribute without options and matching rules, such as `uid:caseExactMatch:`, in lower
        /// case.
        private static func type(_ bytes: ArraySlice<UInt8>) -> String {
            let plain = bytes.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
            return String(decoding: plain, as: UTF8.self).lowercased()
        }

        /// Returns whether bytes are the name of an attribute with or without options (RFC 4512 section 2.5).
        private static func isDescription(_ bytes: ArraySlice<UInt8>) -> Bool {
            let parts = bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            guard let type = parts.first, isObjectIdentifier(type) else { return false }
            return parts.dropFirst().allSatisfy { !$0.isEmpty && $0.allSatisfy(isKeyByte) }
        }

        /// Returns whether bytes are an extensible match without its `=`: an attribute, `:dn` and the name of a rule, of
        /// which the attribute or the rule may be missing (RFC 4515 section 3).
        private static func isMatchingRule(_ bytes: ArraySlice<UInt8>) -> Bool {
            var parts = bytes.dropLast().split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let attribute = parts.removeFirst()
            if let first = parts.first, first.elementsEqual("dn".utf8) || first.elementsEqual("DN".utf8) {
                parts.removeFirst()
            }
            guard attribute.isEmpty || isDescription(attribute), parts.count <= 1 else { return false }
            return parts.isEmpty ? !attribute.isEmpty : isObjectIdentifier(parts[0])
        }

        /// Returns whether bytes are a name or numbers with dots (RFC 4512 section 1.4).
        private static func isObjectIdentifier(_ bytes: ArraySlice<UInt8>) -> Bool {
            guard let first = bytes.first, isKeyByte(first), first != UInt8(ascii: "-") else { return false }
            guard ASCII.isDigit(first) else { return bytes.allSatisfy(isKeyByte) }
            let numbers = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            return numbers.allSatisfy { !$0.isEmpty && $0.allSatisfy(ASCII.isDigit) }
        }

        private static func isKeyByte(_ byte: UInt8) -> Bool { byte.isAlphanumeric || byte == UInt8(ascii: "-") }

        /// Reads the value of an item; `attribute` is empty if it is not compared for equality.
        private mutating func readValue(of attribute: ArraySlice<UInt8>, allowsWildcards: Bool) throws(BadValue) {
            let start = place
            var found: [(place: Int, value: Value)] = []
            var hasWildcard = false
            while let byte = next, byte != UInt8(ascii: ")") {
                switch byte {
                case UInt8(ascii: "("), 0: throw fault("has a character that must be written as \\28 or \\00")
                case UInt8(ascii: "*"):
                    guard allowsWildcards else { throw fault("cannot have * here, only after a plain =") }
                    hasWildcard = true
                case UInt8(ascii: "\\"):
                    let digits = bytes[(place + 1)...].prefix(2)
                    guard digits.count == 2, digits.allSatisfy({ Hexadecimal.value(of: $0) != nil }) else {
                        throw fault("needs two hexadecimal digits after a backslash")
                    }
                    place += 2
                case UInt8(ascii: "%"): if let value = try readPlaceholder() { found.append((place - 1, value)) }
                default: break
                }
                place += 1
            }
            values += found
            let names = found.filter { $0.value != .distinguishedName }
            guard !attribute.isEmpty, !hasWildcard, found.count == 1, let name = names.first else { return }
            let plain = Self.type(attribute)
            guard !plain.isEmpty else { return }
            nameAttributes.append(
                NameAttribute(
                    name: plain,
                    prefix: FilterTemplate.plain(Self.decoded(bytes[start..<name.place])),
                    suffix: FilterTemplate.plain(Self.decoded(bytes[(name.place + 2)..<place])),
                    value: name.value
                )
            )
        }

        /// Returns a part of a value with each backslash and its digits replaced by their byte, and `%` by `%%`: the
        /// part is still one of a template.
        private static func decoded(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            var decoded: [UInt8] = []
            var rest = bytes
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "\\"), let high = rest.popFirst().flatMap(Hexadecimal.value),
                    let low = rest.popFirst().flatMap(Hexadecimal.value)
                else {
                    decoded.append(byte)
                    continue
                }
                let value = high << 4 | low
                decoded += value == UInt8(ascii: "%") ? [value, value] : [value]
            }
            return decoded[...]
        }

        /// Reads the character after `%`, and returns the value; nil for `%%`.
        private mutating func readPlaceholder() throws(BadValue) -> Value? {
            place += 1
            let value: Value? =
                switch next {
                case UInt8(ascii: "s"): .name
                case UInt8(ascii: "n"): .typedName
                case UInt8(ascii: "d"): .distinguishedName
                case UInt8(ascii: "%"): nil
                default: throw fault("takes \(allowed.map(Self.spelling).joined(separator: ", ")) or %%, not this %")
                }
            if let value, !allowed.contains(value) { throw fault("cannot have \(Self.spelling(value)) here") }
            return value
        }

        private static func isAttributeByte(_ byte: UInt8) -> Bool { byte.isAlphanumeric || "-.;:".utf8.contains(byte) }
    }
}
#endif
