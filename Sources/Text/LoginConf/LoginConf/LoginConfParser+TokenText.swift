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
    mutating func value(of token: LoginConfToken) -> String {
        let value = string(of: token)
        return token.content == .plain ? value : expanded(value, at: token)
    }

    /// Returns the control flag in a token; nil if the token is not a flag.
    ///
    /// The letters may be in upper or lower case. The JDK also accepts some letters outside of ASCII; they are rejected
    /// here.
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
    private mutating func expanded(_ value: String, at token: LoginConfToken) -> String {
        guard case .file(let expansion) = dialect, token.content != .replacement, !diagnostics.isFull else {
            return value
        }
        do throws(Expander.Fault) {
            return try Expander(syntax: .jdk, expansion: expansion).string(of: value)
        } catch {
            diagnostics.add(text.diagnostic(of: error, in: token.range), at: token.range)
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
