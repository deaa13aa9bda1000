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

    let syntax: Syntax
    let expansion: Expansion
    /// True for a value that messages may not quote: they name a reference in it only if there is nothing else in the
    /// value.
    var isSecret = false
    let text: SourceText
    /// The place of the value.
    let range: SourceRange

    /// Returns the value with every reference replaced.
    ///
    /// It throws an error at the reference, or at the whole value if the reference is not found.
    func string(of value: String) throws(Diagnostic) -> String {
        let bytes = try bytes(of: value)
        guard let string = String(validating: bytes, as: UTF8.self) else {
            throw error("\(shown(value)) expands to bytes that are not UTF-8")
        }
        return string
    }

    /// Returns the expanded value as bytes, because the content of a file may be any bytes.
    func bytes(of value: String) throws(Diagnostic) -> [UInt8] {
        let source = Array(value.utf8)
        var result: [UInt8] = []
        var copied = 0
        while let open = Self.index(of: .dollar, then: .openBrace, in: source, from: copied) {
            result += source[copied..<open]
            let inside = open + 2
            let isDouble = inside < source.count && source[inside] == .openBrace
            let close =
                isDouble
                ? Self.index(of: .closeBrace, then: .closeBrace, in: source, from: inside)
                : source[inside...].firstIndex(of: .closeBrace)
            guard let close else {
                if syntax == .strict {
                    let reference = String(decoding: source[open...], as: UTF8.self)
                    throw error("this `${` is not closed", at: reference, hint: "close it with `}`")
                }
                copied = open
                break
            }
            copied = isDouble ? close + 2 : close + 1
            if isDouble {
                result += source[open..<copied]
            } else {
                let name = source[inside..<close]
                let mayQuote = !isSecret || source[...].consistsOfReferences
                result += try replacement(of: String(decoding: name, as: UTF8.self), mayQuote: mayQuote)
            }
        }
        result += source[copied...]
        guard !result.isEmpty || source.isEmpty else {
            let message = "\(shown(value)) expands to nothing"
            throw error(message, hint: "write \"\" if an empty value is meant")
        }
        return result
    }

    private func error(_ message: String, at reference: String? = nil, hint: String? = nil) -> Diagnostic {
        text.error(at: text.place(of: reference, in: range), message, hint: hint)
    }

    private func shown(_ value: String) -> String { isSecret ? "the value" : DiagnosticText.word(value) }

    private func replacement(of name: String, mayQuote: Bool) throws(Diagnostic) -> [UInt8] {
        if name == "/" { return [.slash] }
        let reference = "${\(name)}"
        let source = syntax == .jdk ? nil : Source(name)
        let key = String(name.dropFirst(source?.rawValue.count ?? 0))
        guard !key.isEmpty else { throw error("`\(reference)` has no name", at: reference) }
        // A password may be within the reference, as in `${env:NAME:-default}` of a shell.
        let bareKey = name.utf8.dropFirst(Source(name)?.rawValue.utf8.count ?? 0)
        let isNamed = !isSecret || mayQuote && bareKey.allSatisfy { $0.isNamePart || $0 == .slash }
        let shownKey = isNamed ? " \(DiagnosticText.word(key))" : ""
        let message: String
        switch source {
        case .environment?:
            if let value = expansion.environment(key) { return Array(value.utf8) }
            message = "the environment variable\(shownKey) is not set"
        case .file?:
            switch expansion.file(key) {
            case .success(let content): return content.withoutLastLineEnd
            case .failure(let fault): message = "cannot read the file\(shownKey): \(fault.reason)"
            }
        case nil:
            if let value = expansion.property(key) { return Array(value.utf8) }
            message = "the property\(shownKey) is not defined"
        }
        throw error(message, at: reference, hint: source == nil ? hint(for: key) : nil)
    }

    private func hint(for name: String) -> String? {
        if syntax == .strict {
            guard expansion.environment(name) != nil else { return "set it with -D NAME=VALUE" }
            return "for the environment variable write `${env:\(name)}`"
        }
        return Source(name) == nil ? nil : "`${env:...}` and `${file:...}` work in realms.conf only"
    }

    /// Returns the index at which the two given bytes follow each other for the first time; nil if they never do.
    private static func index(of first: UInt8, then second: UInt8, in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + 1 < bytes.count {
            if bytes[index] == first, bytes[index + 1] == second { return index }
            index += 1
        }
        return nil
    }
}

extension SourceText {
    /// Returns the place of a reference in a value; the whole value if there is no reference or if it is not found.
    fileprivate func place(of reference: String?, in range: SourceRange) -> SourceRange {
        guard let wanted = reference.map({ Array($0.utf8) }), !wanted.isEmpty else { return range }
        // A reference with escapes is not found, because it is spelled differently in the text.
        guard let found = bytes[range.start..<min(range.end, bytes.count)].firstRange(of: wanted) else { return range }
        return SourceRange(found.lowerBound, found.upperBound)
    }
}

/// The source of a reference that is no property, as it is written before the name.
private enum Source: String, CaseIterable {
    case environment = "env:"
    case file = "file:"

    init?(_ reference: String) {
        guard let source = Self.allCases.first(where: { reference.hasPrefix($0.rawValue) }) else { return nil }
        self = source
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
