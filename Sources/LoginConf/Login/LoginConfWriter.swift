// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// Writes login contexts as a login.conf that the JDK and ``LoginConf`` read back to the same contexts.
public enum LoginConfWriter {
    /// Why contexts cannot be written.
    public enum Unwritable: Error, Sendable, Hashable {
        /// A value holds a `${...}` that a reader would expand. login.conf has no way to write it: the expansion comes
        /// after the escapes. `${{...}}` and a `${` that is never closed are left alone by readers and can be written.
        case expands(key: String, context: String)
        /// A context without modules, which no reader would find.
        case noModules(context: String)
        /// A module without a class name.
        case noClassName(context: String)
        /// Two contexts of the same name.
        case duplicate(context: String)
    }

    /// The contexts as text, in their order: one module a line, option values always in double quotes.
    ///
    /// - Throws: What login.conf cannot say.
    public static func text(of entries: [LoginEntry]) throws(Unwritable) -> String {
        var text = ""
        var names: Set<ExactText> = []
        for entry in entries {
            guard names.insert(ExactText(entry.name)).inserted else { throw .duplicate(context: entry.name) }
            guard !entry.modules.isEmpty else { throw .noModules(context: entry.name) }
            text += word(entry.name) + " {\n"
            for module in entry.modules {
                guard !module.className.isEmpty else { throw .noClassName(context: entry.name) }
                text += "    \(word(module.className)) \(module.flag.rawValue)"
                for option in module.options {
                    guard isKeptByExpansion(option.value) else {
                        throw .expands(key: option.key, context: entry.name)
                    }
                    text += " \(word(option.key))=\(quoted(option.value))"
                }
                text += ";\n"
            }
            text += "};\n"
        }
        return text
    }

    /// A text in double quotes: `"` and backslash escaped, control characters by letter or as three octal digits.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\0"..." ", "\u{7F}"..."\u{9F}":
                quoted += scalar == " " ? " " : octal(scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func octal(_ value: UInt32) -> String {
        let digits = String(value, radix: 8)
        return "\\" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }

    /// A name, class or key: bare if it reads as one word, else quoted.
    private static func word(_ text: String) -> String {
        var scanner = LoginConfScanner(Array(text.utf8))
        let token = scanner.next()
        let isWord = token.kind == .word && token.start == 0 && Int(token.end) == scanner.bytes.count
        return isWord && text.utf8.allSatisfy { $0 < 0x80 } ? text : quoted(text)
    }

    /// Whether readers leave a value as it is: with no property defined every reference but `${/}` is a fault.
    private static func isKeptByExpansion(_ value: String) -> Bool {
        do throws(Expander.Fault) {
            let expanded = try Expander(syntax: .jdk, expansion: .none).bytes(of: value)
            return expanded.elementsEqual(value.utf8)
        } catch {
            return false
        }
    }
}
