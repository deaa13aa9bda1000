// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Whence a session was begun, as lists of sessions show it.
///
/// Both come from outside: whatever is no printable text is taken out, so that they can be shown on a terminal or a page,
/// and be written into a log, without further care than any text needs there.
public struct SessionClient: Sendable, Hashable {
    /// The longest ``userAgent``, in bytes of UTF-8.
    public static let maximumBytes = 256
    /// The longest ``address``, in bytes of UTF-8; those of IPv6 with a zone are shorter.
    private static let maximumAddressBytes = 64

    /// The client's address; nil if it is not known.
    public let address: String?
    /// What the client calls itself; empty if it does not.
    public let userAgent: String

    /// A client.
    ///
    /// - Parameters:
    ///   - address: The client's address.
    ///   - userAgent: The field `User-Agent`, as it was sent.
    public init(address: String?, userAgent: String) {
        self.address = address.map { PrintableText.clean($0, maximumBytes: Self.maximumAddressBytes) }
        self.userAgent = PrintableText.clean(userAgent, maximumBytes: Self.maximumBytes)
    }
}

/// Text from outside that is to be shown.
enum PrintableText {
    /// A text without control characters and invisible ones, cut where it is too long.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - maximumBytes: How many bytes of UTF-8 may be left.
    /// - Returns: What is left; a line break has become a blank.
    static func clean(_ text: String, maximumBytes: Int) -> String {
        var cleaned = String.UnicodeScalarView()
        var bytes = 0
        // Where next to nothing is printable the rest is not looked at either: it may be long.
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
        // Format characters turn text around on a page; the others show nothing, or not the same everywhere.
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
