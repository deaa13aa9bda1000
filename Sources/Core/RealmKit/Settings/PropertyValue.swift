// SPDX-License-Identifier: Apache-2.0

internal import Files

/// A value of the kind that its ``Property`` declares.
public enum PropertyValue: Sendable {
    /// A text, a path, or one of the words of a choice.
    case string(String)
    /// A whole number.
    case integer(Int)
    /// True or false.
    case boolean(Bool)
    /// A duration, zero or more.
    case duration(Duration)
    /// Any number of words.
    case list([String])
    /// Confidential bytes.
    case secret(Secret)
    /// Other realms of the configuration; one for the kind ``Property/Kind/realm``.
    case realms([BoundRealm])

    /// Reads a value from the words after the property's name, without quotes and with `${...}` expanded.
    ///
    /// A configuration creates a reference to a realm from its realms instead.
    ///
    /// - Throws: ``BadValue`` that describes the expected form.
    public init(_ words: [String], as kind: Property.Kind) throws(BadValue) {
        if case .list = kind {
            self = .list(words)
            return
        }
        if case .realms = kind { throw Self.reference }
        guard let word = words.first, words.count == 1 else {
            throw BadValue(words.isEmpty ? "needs a value" : "takes one value; quote it if it holds blanks")
        }
        switch kind {
        case .realm, .realms: throw Self.reference
        case .string, .path, .location, .list: self = .string(word)
        case .secret: self = .secret(Secret(utf8: word))
        case .integer(let bounds): self = .integer(try Self.integer(word, within: bounds))
        case .boolean: self = .boolean(try Self.boolean(word))
        case .duration: self = .duration(try Self.duration(word))
        case .choice(let choices):
            guard choices.contains(word) else {
                throw BadValue("is one of \(choices.joined(separator: ", ")), not \(word)")
            }
            self = .string(word)
        }
    }

    private static let reference = BadValue("refers to a realm, and only a realm block can do that")

    private static func integer(_ word: String, within bounds: ClosedRange<Int>) throws(BadValue) -> Int {
        guard let number = Int(word), bounds.contains(number) else {
            throw BadValue("is a whole number from \(bounds.lowerBound) to \(bounds.upperBound), not \(word)")
        }
        return number
    }

    private static func boolean(_ word: String) throws(BadValue) -> Bool {
        switch word.lowercased() {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: throw BadValue("is true or false, not \(word)")
        }
    }

    private static func duration(_ word: String) throws(BadValue) -> Duration {
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        let units: [Substring: Int] = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let number = Int(digits), let unit = units[word.dropFirst(digits.count)],
            case (let milliseconds, let overflow) = number.multipliedReportingOverflow(by: unit), !overflow
        else { throw BadValue("is a time such as 250ms, 30s, 5m, 12h or 7d, not \(word)") }
        return .milliseconds(milliseconds)
    }
}

/// A text is not a value of the expected kind.
public struct BadValue: Error, Sendable, Hashable, CustomStringConvertible {
    /// The end of a sentence that begins with the property's name, as in `is true or false, not maybe`.
    public let description: String

    /// Creates a fault.
    public init(_ description: String) { self.description = description }
}

extension PropertyValue {
    /// The value as text, for comparing two configurations; empty for a secret.
    package var configurationText: String {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .boolean(let isSo): "\(isSo)"
        case .duration(let time): "\(time)"
        case .list(let words): words.joined(separator: "\u{0}")
        case .secret: ""
        case .realms(let realms): realms.map(\.name).joined(separator: "\u{0}")
        }
    }
}

extension [String: PropertyValue] {
    /// Returns all names and values as text, sorted by name; paths in a folder, that of the configuration, are relative to it.
    package func configurationTexts(of schema: PropertySchema, in folder: String) -> [String] {
        sorted { $0.key < $1.key }.flatMap { name, value in
            let text = value.configurationText
            switch schema[name]?.kind {
            case .path: return [name, FilePath.relative(text[...], to: folder)]
            case .location(let scheme) where text.utf8.starts(with: "\(scheme):".utf8):
                let start = text.utf8.index(text.startIndex, offsetBy: scheme.utf8.count + 1)
                return [name, text[..<start] + FilePath.relative(text[start...], to: folder)]
            default: return [name, text]
            }
        }
    }
}
