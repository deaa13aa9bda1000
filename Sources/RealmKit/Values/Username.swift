// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A name somebody wants to sign in with, checked for what no realm should ever see.
///
/// A `Username` is not empty, has at most ``maximumBytes`` bytes of UTF-8, holds no control characters (C0, DEL, C1,
/// line and paragraph separators) and neither begins nor ends with white space. Nothing is changed on the way in: two
/// names that differ in a byte are two names.
///
/// Source: RFC 7617 section 2 (control characters), GlassFish's rules for user names (blanks at the ends).
public struct Username: Sendable, Hashable, CustomStringConvertible {
    /// The longest name accepted, in bytes of UTF-8.
    public static let maximumBytes = 1024

    /// The name exactly as it was given.
    public let text: String

    /// Accepts a name, or says why not.
    ///
    /// - Parameter text: The name as it was typed or sent.
    /// - Throws: ``BadUsername`` when the text breaks one of the rules above.
    public init(_ text: String) throws(BadUsername) {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= Self.maximumBytes else { throw .tooLong }
        guard !text.unicodeScalars.contains(where: Self.isForbidden) else { throw .controlCharacter }
        guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last,
            !first.properties.isWhitespace, !last.properties.isWhitespace
        else { throw .blankAtAnEnd }
        self.text = text
    }

    /// The name, unchanged.
    public var description: String { text }

    /// Whether the names are the same, byte by byte; `String` would take an accent written in two ways for the same.
    public static func == (left: Username, right: Username) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// Whether the name begins with these very bytes.
    ///
    /// Bytes are compared, not characters: an accent written as two scalars does not match one written as one. That is
    /// what `String.startsWith` does in Java.
    ///
    /// - Parameter prefix: The text to look for; an empty one is the beginning of every name.
    /// - Returns: True if the name has these bytes in front.
    public func starts(with prefix: String) -> Bool {
        let name = text.utf8Span.span
        let wanted = prefix.utf8Span.span
        guard wanted.count <= name.count else { return false }
        for index in wanted.indices where name[index] != wanted[index] { return false }
        return true
    }

    /// The name in one case, whichever it was typed in.
    ///
    /// Letters are lowered, raised and lowered again: some that differ in lower case are the same in upper case (the two
    /// small sigmas), and some have an upper case that is none of theirs (the dotless i).
    public var caseFolded: String {
        // Most names are ASCII, where once is enough.
        let lowered = text.lowercased()
        return text.utf8.allSatisfy({ $0 < 0x80 }) ? lowered : lowered.uppercased().lowercased()
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        default: false
        }
    }
}

/// Why a text cannot be a ``Username``.
public enum BadUsername: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no text.
    case empty
    /// There are more than ``Username/maximumBytes`` bytes.
    case tooLong
    /// There is a control character, a line or a paragraph separator.
    case controlCharacter
    /// White space stands at the beginning or at the end.
    case blankAtAnEnd

    /// A sentence for a person, without the name itself.
    public var description: String {
        switch self {
        case .empty: "the user name is empty"
        case .tooLong: "the user name is longer than \(Username.maximumBytes) bytes"
        case .controlCharacter: "the user name holds a control character"
        case .blankAtAnEnd: "the user name begins or ends with white space"
        }
    }
}
