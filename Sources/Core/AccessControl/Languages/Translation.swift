// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The texts of the pages in one language.
package struct Translation: Sendable, Hashable {
    /// The tag of the language in lower case, such as `de` or `pt-br` (RFC 5646).
    package let language: String
    /// The texts by the raw value of their key, by which the templates of pages read them.
    package private(set) var texts: [String: String]
    /// The files that the texts come from, in their order; empty for a built-in translation without changes.
    package private(set) var files: [String] = []
    /// The keys without a text in the files or in a built-in translation of the language; their texts are in English.
    package private(set) var lacking: Set<MessageKey> = []
    /// The translation file of a built-in translation; empty for other languages.
    package let builtInFile: String

    package static let english = Translation(language: "en", builtIn: PackageResources.en_conf)
    package static let german = Translation(language: "de", builtIn: PackageResources.de_conf)
    package static let french = Translation(language: "fr", builtIn: PackageResources.fr_conf)

    /// Reads a file of this folder, in which each line is a name and a quoted text without escapes.
    private init(language: String, builtIn file: [UInt8]) {
        self.language = language
        builtInFile = String(decoding: file, as: UTF8.self)
        texts = [:]
        for line in builtInFile.utf8.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: "\""))
            guard parts.count == 3, let name = parts[0].split(separator: UInt8(ascii: " ")).first else { continue }
            texts[String(Substring(name))] = String(Substring(parts[1]))
        }
    }

    /// A copy of a translation, for another language.
    package init(language: String, copying other: Translation) {
        self.language = language
        builtInFile = ""
        texts = other.texts
        lacking = Set(MessageKey.allCases)
    }

    /// A key without a text, which no complete translation has, is its own text.
    package subscript(key: MessageKey) -> String { texts[key.rawValue] ?? key.rawValue }

    /// Returns a text with its placeholders, such as `{user}`, replaced by the values with their names.
    ///
    /// A value is not searched for placeholders.
    package func text(_ key: MessageKey, _ values: [String: String]) -> String {
        let text = self[key]
        guard !values.isEmpty else { return text }
        var result = ""
        for part in Placeholder.parts(of: text) {
            switch part {
            case .text(let text): result += text
            case .placeholder(let name): result += values[String(name)] ?? "{\(name)}"
            }
        }
        return result
    }

    /// Notes a file that texts come from, and the keys without a text in it.
    package mutating func addFile(_ name: String, lacking keys: [MessageKey]) {
        files.append(name)
        if builtInFile.isEmpty { lacking.formIntersection(keys) }
    }

    package mutating func replace(_ key: MessageKey, by text: String) { texts[key.rawValue] = text }
}

/// A part of a text: a placeholder, or the text between two placeholders.
package enum Placeholder {
    case text(Substring)
    case placeholder(Substring)

    /// Returns the parts of a text; a `{` without a `}` after it is part of the text.
    static func parts(of text: String) -> [Placeholder] {
        var parts: [Placeholder] = []
        var rest = Substring(text)
        while let open = rest.utf8.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].utf8.firstIndex(of: UInt8(ascii: "}"))
        {
            if open > rest.startIndex { parts.append(.text(rest[..<open])) }
            parts.append(.placeholder(rest[rest.utf8.index(after: open)..<close]))
            rest = rest[rest.utf8.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(rest)) }
        return parts
    }

    /// Returns the names of the placeholders of a text, sorted.
    package static func names(in text: String) -> [String] {
        let names = parts(of: text).compactMap { if case .placeholder(let name) = $0 { String(name) } else { nil } }
        return Set(names).sorted()
    }
}
