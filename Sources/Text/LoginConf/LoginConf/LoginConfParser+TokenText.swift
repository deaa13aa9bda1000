// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

extension LoginConfParser {
    /// Returns the text of a word or string, with its escapes replaced.
    @inline(__always)
    func string(of token: LoginConfToken) -> String {
        if token.content.rawValue >= LoginConfToken.Content.escapes.rawValue { return decoded(token) }
        let quotes = token.kind == .string ? 1 : 0
        let range = Int(token.start) + quotes..<max(Int(token.end) - quotes, Int(token.start) + quotes)
        // The text was checked to be UTF-8 before it was parsed. A token of the scanner begins and ends between two
        // characters, so its bytes are UTF-8 too.
        return unsafe String(copying: UTF8Span(unchecked: scanner.bytes.span.extracting(range)))
    }

    /// Returns the value of an option; in login.conf its references are expanded.
    @inline(__always)
    mutating func value(of token: LoginConfToken, key: LoginConfToken) -> String {
        let value = string(of: token)
        return token.content == .plain ? value : expanded(value, at: token, key: key)
    }

    /// Returns the control flag in a token, in upper or lower case; nil if the token is not a flag.
    ///
    /// The JDK also accepts some letters outside of ASCII; they are rejected here.
    @inline(__always)
    func controlFlag(of token: LoginConfToken) -> ControlFlag? {
        guard token.isText else { return nil }
        if token.content != .plain { return escapedFlag(of: token) }
        let quotes: UInt32 = token.kind == .string ? 1 : 0
        return Self.controlFlag(
            in: scanner.bytes.span,
            at: Int(token.start + quotes),
            count: token.length - Int(2 * quotes)
        )
    }

    @inline(__always)
    private static func controlFlag(in bytes: Span<UInt8>, at start: Int, count: Int) -> ControlFlag? {
        guard 8...10 ~= count else { return nil }
        // Setting the bit 0x20 makes a letter lower case. It does not turn another byte into a letter.
        var letters: UInt64 = 0
        for index in start..<start + 8 { letters = letters << 8 | UInt64(bytes[index] | 0x20) }
        let ninth = count > 8 ? bytes[start + 8] | 0x20 : 0
        let tenth = count > 9 ? bytes[start + 9] | 0x20 : 0
        switch (letters, ninth, tenth) {
        case (0x7265_7175_6972_6564, 0, 0): return .required
        case (0x7265_7175_6973_6974, 0x65, 0): return .requisite
        case (0x7375_6666_6963_6965, 0x6E, 0x74): return .sufficient
        case (0x6F70_7469_6F6E_616C, 0, 0): return .optional
        default: return nil
        }
    }

    @inline(never)
    private func escapedFlag(of token: LoginConfToken) -> ControlFlag? {
        let bytes = Array(string(of: token).utf8)
        return Self.controlFlag(in: bytes.span, at: 0, count: bytes.count)
    }

    @inline(never)
    private mutating func expanded(_ value: String, at token: LoginConfToken, key: LoginConfToken) -> String {
        guard case .file(let expansion) = dialect, token.content != .replacement, !diagnostics.isFull else {
            return value
        }
        do throws(Diagnostic) {
            let isSecret = !text.names.isHarmless(string(of: key))
            let expander = Expander(syntax: .jdk, expansion: expansion, isSecret: isSecret)
            return try expander.string(of: value, at: token.range, in: text)
        } catch {
            diagnostics.add(error, at: token.range)
            return value
        }
    }

    @inline(never)
    private func decoded(_ token: LoginConfToken) -> String {
        var content = scanner.bytes[Int(token.start)..<min(Int(token.end), scanner.bytes.count)]
        if token.kind == .string, let quote = content.popFirst(), content.last == quote { content.removeLast() }
        guard token.content == .escapes else { return String(decoding: content, as: UTF8.self) }
        return LoginConfEscapes.unescaped(content)
    }
}

/// The escapes of strings in login.conf.
enum LoginConfEscapes {
    /// Returns the content of a string with its escapes replaced.
    ///
    /// The escapes are `\n \r \t \b \f \a \v`, and octal numbers: up to three digits if the first is 0 to 3, otherwise
    /// up to two. Any other character after a backslash stands for itself. Source: `java.io.StreamTokenizer`.
    static func unescaped(_ content: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        var rest = content
        while let byte = rest.popFirst() {
            guard byte == .backslash, let escaped = rest.popFirst() else {
                result.append(byte)
                continue
            }
            guard var value = octal(escaped) else {
                result.append(character(for: escaped))
                continue
            }
            for _ in 0..<(escaped <= UInt8(ascii: "3") ? 2 : 1) {
                guard let digit = rest.first.flatMap(octal) else { break }
                value = value << 3 | digit
                rest.removeFirst()
            }
            result += Array(String(Unicode.Scalar(value)).utf8)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns a text in double quotes, with `"`, backslash and control characters escaped.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\0"..." ", "\u{7F}"..."\u{9F}":
                quoted += scalar == " " ? " " : escape(scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func escape(_ value: UInt32) -> String {
        let digits = String(value, radix: 8)
        return "\\" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }

    private static func octal(_ byte: UInt8) -> UInt8? {
        UInt8(ascii: "0")...UInt8(ascii: "7") ~= byte ? byte - UInt8(ascii: "0") : nil
    }

    private static func character(for escaped: UInt8) -> UInt8 {
        switch escaped {
        case UInt8(ascii: "a"): 0x07
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "v"): 0x0B
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "r"): 0x0D
        default: escaped
        }
    }
}
