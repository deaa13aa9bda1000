// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A user name as a client sends it, checked against the rules for all realms.
///
/// It is not empty, has at most ``maximumBytes`` bytes of UTF-8, contains no control characters (C0, DEL, C1, line and
/// paragraph separators) and neither begins nor ends with white space. The text is kept unchanged: names that differ in
/// a byte are different names.
///
/// Source: RFC 7617 section 2 (control characters), GlassFish's rules for user names (white space at the ends).
public struct Username: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of a name, in bytes of UTF-8.
    public static let maximumBytes = 1024

    /// The name, unchanged.
    public let text: String

    /// Checks a name as it was typed or sent; throws if it breaks one of the rules above.
    public init(_ text: String) throws(BadUsername) {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= Self.maximumBytes else { throw .tooLong }
        guard !text.containsControlCharacter else { throw .controlCharacter }
        guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last,
            !first.properties.isWhitespace, !last.properties.isWhitespace
        else { throw .whiteSpaceAtEnds }
        self.text = text
    }

    /// The name, unchanged.
    public var description: String { text }

    /// Compares the bytes; `String` treats canonically equivalent spellings as equal.
    public static func == (left: Username, right: Username) -> Bool { left.text.hasBytes(of: right.text) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

    /// A name that no user has, with the domain of this name, to test whether a back end answers; nil if it is too long.
    package var inventedUser: Username? {
        let bytes = text.utf8
        let prefix = bytes.lastIndex(of: UInt8(ascii: "\\")).map { text[...$0] } ?? ""
        let domain = bytes.firstIndex(of: UInt8(ascii: "@")).map { text[$0...] } ?? ""
        let number = String(UInt64.random(in: .min ... .max), radix: 36)
        return try? Username("\(prefix)gatehouse\(number)\(domain)")
    }

    /// Returns whether the name begins with the bytes of a text.
    ///
    /// Bytes are compared, not characters: an accented letter of two scalars does not match the same letter of one
    /// scalar. `String.startsWith` in Java does the same.
    public func starts(with prefix: String) -> Bool {
        let name = text.utf8Span.span
        let wanted = prefix.utf8Span.span
        guard wanted.count <= name.count else { return false }
        for index in wanted.indices where name[index] != wanted[index] { return false }
        return true
    }

    /// The case-folded name: names that differ only in case have the same case-folded name, in every script.
    ///
    /// The text is converted to lower case, to upper case and to lower case again. A single conversion is not enough:
    /// the two small sigmas have the same upper case, and the dotless i has the upper case of `i`.
    public var caseFolded: String {
        // For ASCII a single conversion to lower case is enough.
        let lowered = text.lowercased()
        return text.utf8.allSatisfy({ $0 < 0x80 }) ? lowered : lowered.uppercased().lowercased()
    }
}

/// The rule of ``Username`` that a text breaks.
public enum BadUsername: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text is empty.
    case empty
    /// The text has more than ``Username/maximumBytes`` bytes.
    case tooLong
    /// The text contains a control character, a line or a paragraph separator.
    case controlCharacter
    /// The text begins or ends with white space.
    case whiteSpaceAtEnds

    /// A message for the user, without the name itself.
    public var description: String {
        switch self {
        case .empty: "the user name is empty"
        case .tooLong: "the user name is longer than \(Username.maximumBytes) bytes"
        case .controlCharacter: "the user name contains a control character"
        case .whiteSpaceAtEnds: "the user name begins or ends with white space"
        }
    }
}
