// SPDX-License-Identifier: Apache-2.0

import RealmKit

@testable import LoginConf

/// Writes contexts as login.conf, for tests that parse the text again and compare the contexts.
enum LoginConfWriter {
    /// The error for contexts that cannot be written.
    enum Unwritable: Error, Sendable, Hashable {
        /// A value contains a `${...}` that parsers would expand.
        ///
        /// login.conf cannot contain such a value, because references are expanded after escapes. `${{...}}` and an
        /// unclosed `${` are not expanded, so they can be written.
        case expands(key: String, context: String)
        /// A context has no modules.
        case noModules(context: String)
        /// A module has no class name.
        case noClassName(context: String)
        /// Two contexts have the same name.
        case duplicate(context: String)
    }

    /// Returns the contexts as text, with one module per line and option values in double quotes.
    static func text(of entries: [LoginEntry]) throws(Unwritable) -> String {
        var text = ""
        var names: Set<[UInt8]> = []
        for entry in entries {
            guard names.insert(Array(entry.name.utf8)).inserted else { throw .duplicate(context: entry.name) }
            guard !entry.modules.isEmpty else { throw .noModules(context: entry.name) }
            text += word(entry.name) + " {\n"
            for module in entry.modules {
                guard !module.className.isEmpty else { throw .noClassName(context: entry.name) }
                text += "    \(word(module.className)) \(module.flag.rawValue)"
                for option in module.options {
                    guard isKeptByExpansion(option.value) else {
                        throw .expands(key: option.key, context: entry.name)
                    }
                    text += " \(word(option.key))=\(LoginConfEscapes.quoted(option.value))"
                }
                text += ";\n"
            }
            text += "};\n"
        }
        return text
    }

    /// Returns a name, class or key; it is in double quotes unless it is a word of ASCII.
    private static func word(_ text: String) -> String {
        var scanner = Scanner(Array(text.utf8), .loginConf)
        let token = scanner.next()
        let isWord = token.kind == .word && token.start == 0 && token.end == scanner.bytes.count
        return isWord && text.utf8.allSatisfy { $0 < 0x80 } ? text : LoginConfEscapes.quoted(text)
    }

    /// Returns whether parsers leave a value unchanged.
    ///
    /// The value is expanded without properties, so that every reference except `${/}` is an error.
    private static func isKeptByExpansion(_ value: String) -> Bool {
        let text = SourceText(name: "", bytes: [])
        let expanded = try? Expander(syntax: .jdk, expansion: .none, text: text, range: .none).bytes(of: value)
        return expanded?.elementsEqual(value.utf8) ?? false
    }
}
