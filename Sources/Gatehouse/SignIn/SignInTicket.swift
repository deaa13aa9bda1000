// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import Sessions

/// What a page of the sign-in is to remember until its form comes back.
struct SignInTicket: Sendable, Hashable {
    /// Where to go after the sign-in; nil for the usual place.
    var target: String?
    /// What the page says besides; the meaning is the pages'.
    var notice: UInt8 = 0
    /// When it was made, in nanoseconds of a clock that only moves on.
    var issued: UInt64
}

/// Seals tickets for a browser and opens them again, so that the server remembers nothing of a page that it has shown.
///
/// A flood of requests for the first page fills no table then. A ticket is not secret: it can be read, but not changed,
/// and another browser has no use for it.
struct SignInTickets: Sendable {
    private static let version: UInt8 = 1
    private static let headCount = 11
    /// The longest text that is looked at.
    static let maximumLength = 3072

    private let key: HMACKey

    /// With a key of this process alone.
    ///
    /// - Throws: ``OpenSSLError`` when there is no randomness.
    init() throws(OpenSSLError) {
        var random = try RandomBytes.make(32)
        defer { for index in random.indices { random[index] = 0 } }
        key = try HMACKey(random.span)
    }

    /// With a key.
    ///
    /// - Parameter key: The key; it may serve other purposes too.
    init(key: HMACKey) { self.key = key }

    /// Seals a ticket.
    ///
    /// - Parameters:
    ///   - ticket: The ticket; its target is one of ``ReturnTarget``, or no longer than that.
    ///   - browser: The digest of the browser's token.
    /// - Returns: Base64url.
    /// - Throws: ``OpenSSLError`` when it cannot be computed.
    func seal(_ ticket: SignInTicket, for browser: Digest) throws(OpenSSLError) -> String {
        var bytes: [UInt8] = [Self.version]
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: ticket.issued >> UInt64(shift)))
        }
        bytes.append(ticket.notice)
        bytes.append(ticket.target == nil ? 0 : 1)
        bytes.append(contentsOf: (ticket.target ?? "").utf8)
        bytes.append(contentsOf: try tag(bytes.span, browser).bytes)
        return Base64URL.text(bytes.span)
    }

    /// Opens a ticket.
    ///
    /// - Parameters:
    ///   - text: What ``seal(_:for:)`` gave.
    ///   - browser: The digest of the token of the browser that sent it.
    ///   - now: The moment, of the clock that the tickets are made with.
    ///   - lifetime: How many nanoseconds a ticket is good for.
    /// - Returns: The ticket; nil if it was altered, is another browser's, or is too old.
    /// - Throws: ``OpenSSLError`` when it cannot be computed.
    func open(
        _ text: Span<UInt8>,
        from browser: Digest,
        now: UInt64,
        lifetime: UInt64
    ) throws(OpenSSLError) -> SignInTicket? {
        guard text.count <= Self.maximumLength, let bytes = Self.decoded(text),
            bytes.count >= Self.headCount + Digest.byteCount
        else { return nil }
        let end = bytes.count - Digest.byteCount
        let content = bytes.span.extracting(0..<end)
        let sealed = try tag(content, browser).bytes
        guard constantTimeEqual(sealed.span, bytes.span.extracting(end..<bytes.count)) else { return nil }
        guard content[0] == Self.version else { return nil }
        let issued = bytes[1...8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard issued <= now, now - issued <= lifetime else { return nil }
        let target = String(decoding: bytes[Self.headCount..<end], as: UTF8.self)
        return SignInTicket(target: bytes[10] == 0 ? nil : target, notice: bytes[9], issued: issued)
    }

    private static func decoded(_ text: Span<UInt8>) -> [UInt8]? {
        let count = text.count * 3 / 4
        var bytes = [UInt8](repeating: 0, count: count)
        return Base64URL.read(text, length: count, { bytes[$0] = $1 }) ? bytes : nil
    }

    /// The tag of a ticket and its browser; length-prefixed, so that no two pairs are the same bytes.
    private func tag(_ content: Span<UInt8>, _ browser: Digest) throws(OpenSSLError) -> Digest {
        let purpose: StaticString = "gatehouse sign-in ticket"
        let owner = browser.bytes
        return try key.tag { message in
            message.append(field: purpose.description.utf8Span.span)
            message.append(field: owner.span)
            message.append(field: content)
        }
    }
}
