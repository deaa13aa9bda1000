// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The client that began a session, as lists of sessions show it.
///
/// Address and user agent come from outside. Characters that are not printable are removed, so that a terminal, a page or
/// a log can show them like any other text.
public struct SessionClient: Sendable, Hashable {
    /// The longest ``userAgent``, in bytes of UTF-8.
    public static let maximumBytes = 256
    /// The longest ``address``, in bytes of UTF-8; IPv6 addresses with a zone are shorter.
    private static let maximumAddressBytes = 64

    /// The client's address; nil if it is not known.
    public let address: String?
    /// The user agent; empty if the client does not send it.
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

/// Text from outside that is safe to show.
enum PrintableText {
    /// Removes control characters and invisible ones, and cuts a text that is too long.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - maximumBytes: The most bytes of UTF-8 of the result.
    /// - Returns: The rest, with blanks for line breaks.
    static func clean(_ text: String, maximumBytes: Int) -> String {
        var cleaned = String.UnicodeScalarView()
        var bytes = 0
        // A long text with few printable characters is not read to its end.
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
        // Format characters can reverse text on a page; the others are invisible, or differ between fonts.
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
