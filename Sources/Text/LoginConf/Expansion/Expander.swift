// SPDX-License-Identifier: Apache-2.0

/// Replaces the references `${...}` of a value from left to right, as the JDK does for option values of login.conf.
///
/// References in a replacement are not expanded. `${{...}}` and the text after an unclosed `${` or `${{` are not
/// changed. Source: the observed behaviour of OpenJDK 17 `sun.security.util.PropertyExpander`.
struct Expander {
    /// The kinds of references that are allowed, and whether an unclosed `${` is an error.
    enum Syntax {
        /// Only properties are allowed; `env:X` is the name of a property. An unclosed `${` is copied.
        case jdk
        /// Properties, `env:` and `file:` are allowed. An unclosed `${` is copied.
        case jdkWithSources
        /// Properties, `env:` and `file:` are allowed. An unclosed `${` is an error.
        case strict
    }

    /// An error: a reference cannot be replaced, or the whole value expands to nothing.
    struct Fault: Error {
        /// The reference as it is written; nil if the error is about the whole value.
        var reference: String?
        var message: String
        var hint: String?
    }

    let syntax: Syntax
    let expansion: Expansion

    /// Returns the value with every reference replaced; the content of a file may be any bytes.
    func bytes(of value: String) throws(Fault) -> [UInt8] {
        let source = Array(value.utf8)
        var result: [UInt8] = []
        var copied = 0
        while let open = Self.index(of: .dollar, then: .openBrace, in: source, from: copied) {
            result += source[copied..<open]
            let inside = open + 2
            if inside < source.count, source[inside] == .openBrace {
                guard let close = Self.index(of: .closeBrace, then: .closeBrace, in: source, from: inside) else {
                    copied = try copyUnclosedReference(of: source, from: open, into: &result)
                    break
                }
                result += source[open..<close + 2]
                copied = close + 2
            } else {
                guard let close = source[inside...].firstIndex(of: .closeBrace) else {
                    copied = try copyUnclosedReference(of: source, from: open, into: &result)
                    break
                }
                let name = String(decoding: source[inside..<close], as: UTF8.self)
                result += try replacement(of: name)
                copied = close + 1
            }
        }
        result += source[copied...]
        guard !result.isEmpty || source.isEmpty else {
            throw Fault(
                message: "\(DiagnosticText.word(value)) expands to nothing",
                hint: "write \"\" if an empty value is meant"
            )
        }
        return result
    }

    /// Returns the value with every reference replaced, as a string.
    func string(of value: String) throws(Fault) -> String {
        let bytes = try bytes(of: value)
        guard let string = String(validating: bytes, as: UTF8.self) else {
            throw Fault(message: "\(DiagnosticText.word(value)) expands to bytes that are not UTF-8")
        }
        return string
    }

    /// Copies the text from an unclosed `${` to the end, and returns the offset of the end.
    private func copyUnclosedReference(
        of source: [UInt8],
        from open: Int,
        into result: inout [UInt8]
    ) throws(Fault) -> Int {
        if syntax == .strict {
            throw Fault(
                reference: String(decoding: source[open...], as: UTF8.self),
                message: "this `${` is not closed",
                hint: "close it with `}`"
            )
        }
        result += source[open...]
        return source.count
    }

    private func replacement(of name: String) throws(Fault) -> [UInt8] {
        if name == "/" { return [.slash] }
        let source = syntax == .jdk ? nil : ExternalReference(name)
        guard !(source?.name ?? name).isEmpty else {
            throw Fault(reference: "${\(name)}", message: "`${\(name)}` has no name")
        }
        switch source {
        case .environment(let variable)?:
            guard let value = expansion.environment(variable) else {
                let message = "the environment variable \(DiagnosticText.word(variable)) is not set"
                throw Fault(reference: "${\(name)}", message: message)
            }
            return Array(value.utf8)
        case .file(let path)?:
            switch expansion.file(path) {
            case .success(let content): return content.withoutLastLineEnd
            case .failure(let fault):
                let message = "cannot read the file \(DiagnosticText.word(path)): \(fault.reason)"
                throw Fault(reference: "${\(name)}", message: message)
            }
        case nil:
            guard let value = expansion.property(name) else {
                throw Fault(
                    reference: "${\(name)}",
                    message: "the property \(DiagnosticText.word(name)) is not defined",
                    hint: hint(for: name)
                )
            }
            return Array(value.utf8)
        }
    }

    private func hint(for name: String) -> String? {
        if syntax == .strict {
            guard expansion.environment(name) != nil else { return "set it with -D NAME=VALUE" }
            return "for the environment variable write `${env:\(name)}`"
        }
        guard ExternalReference(name) != nil else { return nil }
        return "`${env:...}` and `${file:...}` work in realms.conf only"
    }

    /// Returns the index at which the two given bytes follow each other for the first time; nil if they never do.
    static func index(of first: UInt8, then second: UInt8, in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + 1 < bytes.count {
            if bytes[index] == first, bytes[index + 1] == second { return index }
            index += 1
        }
        return nil
    }
}

/// A reference to an environment variable or a file.
private enum ExternalReference {
    case environment(String)
    case file(String)

    init?(_ name: String) {
        if name.hasPrefix("env:") {
            self = .environment(String(name.dropFirst(4)))
        } else if name.hasPrefix("file:") {
            self = .file(String(name.dropFirst(5)))
        } else {
            return nil
        }
    }

    var name: String {
        switch self {
        case .environment(let name), .file(let name): name
        }
    }
}

extension [UInt8] {
    /// The content of a file without its last line end, which most editors add.
    fileprivate var withoutLastLineEnd: [UInt8] {
        guard last == .lineFeed else { return self }
        let kept = dropLast()
        return Array(kept.last == .carriageReturn ? kept.dropLast() : kept)
    }
}
