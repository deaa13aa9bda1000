// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The host whose response has set the session cookie, to which the session belongs.
///
/// It has no port, because browsers send a cookie to all ports of a host. Two hosts are equal if their bytes are equal.
public struct SessionHost: Sendable {
    /// The maximum length of the name, in bytes.
    public static let maximumBytes = 255

    /// The name, or an address; IPv6 addresses are in brackets.
    public let name: String

    /// Creates a host from a name that the caller has brought into its one form: in lower case, and without a final dot.
    ///
    /// The result is nil if the name is empty or too long, or contains characters other than lower-case ASCII letters,
    /// digits, `.`, `-`, `_`, `[`, `:` and `]`.
    public init?(_ name: String) {
        let bytes = name.utf8
        guard (1...Self.maximumBytes).contains(bytes.count), bytes.allSatisfy(Self.isAllowed) else { return nil }
        self.name = name
    }

    /// A host whose name has been checked already.
    package init(checked name: String) { self.name = name }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: "]"):
            true
        default: false
        }
    }
}

extension SessionHost: Hashable {
    /// Returns whether the bytes are the same.
    public static func == (left: SessionHost, right: SessionHost) -> Bool { left.name.hasBytes(of: right.name) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { name.hashBytes(into: &hasher) }
}

extension SessionHost: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}

/// The client that began a session, for display in a list of sessions.
///
/// The client may have chosen the texts of ``address`` and ``userAgent``. Characters that are not printable are
/// removed, so that a terminal, a page or a log can show the texts safely.
public struct SessionClient: Sendable, Hashable {
    /// The maximum length of ``userAgent``, in bytes of UTF-8.
    public static let maximumBytes = 256
    /// Every valid address is shorter.
    private static let maximumAddressBytes = 64

    /// The client's address; nil if it is not known.
    public let address: String?
    /// The user agent; empty if the client does not send it.
    public let userAgent: String

    /// Creates a client from its address and the received value of its `User-Agent` field.
    public init(address: String?, userAgent: String) {
        self.address = address.map { PrintableText.clean($0, maximumBytes: Self.maximumAddressBytes) }
        self.userAgent = PrintableText.clean(userAgent, maximumBytes: Self.maximumBytes)
    }
}

enum PrintableText {
    /// Removes control and invisible characters, replaces white space by spaces, and cuts the text to bytes of UTF-8.
    static func clean(_ text: String, maximumBytes: Int) -> String {
        var cleaned = String.UnicodeScalarView()
        var bytes = 0
        // Only the beginning of a long text is read, to limit the cost.
        for scalar in text.unicodeScalars.prefix(maximumBytes * 4) {
            let kept = scalar.properties.isWhitespace ? " " : scalar
            guard isPrintable(kept) else { continue }
            bytes += UTF8.width(kept)
            guard bytes <= maximumBytes else { break }
            cleaned.append(kept)
        }
        return String(cleaned)
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Format characters can reverse the direction of text. Characters of the other categories are invisible, or
        // their appearance depends on the font.
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
