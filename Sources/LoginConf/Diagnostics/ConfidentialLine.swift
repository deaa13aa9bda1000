// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Lines of a configuration that messages do not show, because they may contain a password.
///
/// The log receives the messages of a reload, and more people may read it than the configuration.
enum ConfidentialLine {
    /// The number of bytes before a place that are searched; fewer than these are shown.
    static let reach = 1024

    /// Returns whether a line looks as if it contained a password, whatever kind of file it is in.
    ///
    /// These are statements and options whose name ends with `password` or `secret`, unless the value refers to a variable
    /// or a file; connection parameters such as `password=...`; and URLs with a user and a password.
    ///
    /// - Parameter line: The bytes of the line.
    /// - Returns: True if the line is not to be shown.
    static func isLikely(_ line: ArraySlice<UInt8>) -> Bool {
        hasNamedSecret(line) || hasURLWithPassword(line)
    }

    private static let names: [[UInt8]] = [Array("password".utf8), Array("secret".utf8)]

    /// Returns whether a word ends with one of the names, and a value follows that is not of the form `${...}`.
    private static func hasNamedSecret(_ line: ArraySlice<UInt8>) -> Bool {
        line.indices.contains { start in
            names.contains { name in
                guard let end = end(of: name, in: line, at: start) else { return false }
                var value = line[end...].drop { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: "=") }
                // More characters of the name, as in password-query, or a sentence.
                guard value.startIndex > end else { return false }
                if value.first == UInt8(ascii: "\"") { value = value.dropFirst() }
                guard let first = value.first, first != UInt8(ascii: ";") else { return false }
                return !value.starts(with: "${".utf8)
            }
        }
    }

    /// Returns the place after a name, compared without regard to case; nil if another text is there.
    private static func end(of name: [UInt8], in line: ArraySlice<UInt8>, at start: Int) -> Int? {
        let end = start + name.count
        guard end <= line.endIndex else { return nil }
        for (offset, byte) in name.enumerated() where line[start + offset] | 0x20 != byte { return nil }
        return end
    }

    /// Returns whether a word has `://`, then a colon, then an at sign.
    private static func hasURLWithPassword(_ line: ArraySlice<UInt8>) -> Bool {
        line.split { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: "\"") }.contains { word in
            guard let scheme = word.indices.first(where: { word[$0...].starts(with: "://".utf8) }) else { return false }
            let rest = word[(scheme + 3)...]
            guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return false }
            return rest[colon...].contains(UInt8(ascii: "@"))
        }
    }
}
