// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import OpenSSLKit
internal import Sessions

/// The state of a sign-in page.
///
/// The form of the page sends this state back to the server.
struct SignInTicket: Sendable, Hashable {
    /// The target to return to after the sign-in; nil for the default.
    var target: String?
    /// The number of the notice on the page; see ``Notice``.
    var notice: UInt8 = 0
    /// The time of issue, in nanoseconds of a monotonic clock.
    var issued: UInt64
}

/// Seals tickets for a browser and opens them again.
///
/// The state of a page is in its ticket, so a flood of requests for the sign-in page uses no memory of the server.
///
/// A ticket is not secret: a client can read its ticket, but cannot change it. The ticket of another browser is
/// rejected.
struct SignInTickets: Sendable {
    private static let version: UInt8 = 1
    private static let headByteCount = 11
    /// The maximum length of a sealed ticket, in bytes.
    static let maximumLength = 3072

    private let key: HMACKey

    /// Tickets with a random key.
    ///
    /// They are valid only in this process.
    ///
    /// - Throws: ``OpenSSLError`` when no random bytes can be generated.
    init() throws(OpenSSLError) {
        var random = try RandomBytes.make(32)
        defer { for index in random.indices { random[index] = 0 } }
        key = try HMACKey(random.span)
    }

    /// Tickets with a given key.
    ///
    /// - Parameter key: The key. It may also be used for other purposes.
    init(key: HMACKey) { self.key = key }

    /// Seals a ticket.
    ///
    /// - Parameters:
    ///   - ticket: The ticket. Its target must not be longer than a ``ReturnTarget``.
    ///   - browser: The digest that identifies the browser.
    /// - Returns: The sealed ticket in Base64url.
    /// - Throws: ``OpenSSLError`` when the tag cannot be computed.
    func seal(_ ticket: SignInTicket, for browser: Digest) throws(OpenSSLError) -> String {
        var bytes: [UInt8] = [Self.version]
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: ticket.issued >> UInt64(shift)))
        }
        bytes.append(ticket.notice)
        bytes.append(ticket.target == nil ? 0 : 1)
        bytes.append(contentsOf: (ticket.target ?? "").utf8)
        bytes.append(contentsOf: try tag(bytes.span, browser).bytes)
        return Base64.url.encode(bytes.span)
    }

    /// Opens a ticket.
    ///
    /// - Parameters:
    ///   - text: The result of ``seal(_:for:)``.
    ///   - browser: The digest that identifies the browser that sent the ticket.
    ///   - now: The current time of the clock that the tickets are issued with.
    ///   - lifetime: The lifetime of a ticket, in nanoseconds.
    /// - Returns: The ticket; nil if it was changed, belongs to another browser, or has expired.
    /// - Throws: ``OpenSSLError`` when the tag cannot be computed.
    func open(
        _ text: Span<UInt8>,
        from browser: Digest,
        now: UInt64,
        lifetime: UInt64
    ) throws(OpenSSLError) -> SignInTicket? {
        guard text.count <= Self.maximumLength, let bytes = Base64.url.decode(text),
            bytes.count >= Self.headByteCount + Digest.byteCount
        else { return nil }
        let end = bytes.count - Digest.byteCount
        let content = bytes.span.extracting(0..<end)
        let sealed = try tag(content, browser).bytes
        guard constantTimeEqual(sealed.span, bytes.span.extracting(end..<bytes.count)) else { return nil }
        guard content[0] == Self.version else { return nil }
        let issued = bytes[1...8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard issued <= now, now - issued <= lifetime else { return nil }
        let target = String(decoding: bytes[Self.headByteCount..<end], as: UTF8.self)
        return SignInTicket(target: bytes[10] == 0 ? nil : target, notice: bytes[9], issued: issued)
    }

    /// Returns the authentication tag of a ticket and its browser.
    ///
    /// The tag covers each part with its length, so different parts never give the same input.
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
