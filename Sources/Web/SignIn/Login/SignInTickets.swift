// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// The state of a sign-in page, which its form sends back to the server.
struct SignInTicket: Sendable, Hashable {
    var destination = Destination()
    /// The number of the notice on the page; see ``Notice``.
    var notice: UInt8 = 0
    /// The time of issue, in nanoseconds of a monotonic clock.
    var issued: UInt64
}

/// Seals tickets for a browser and opens them again: the state of a page is in its ticket, so a flood of requests for
/// the sign-in page uses no memory of the server.
///
/// A ticket is not secret: a client can read its ticket, but cannot change it. The ticket of another browser is
/// rejected.
struct SignInTickets: Sendable {
    private static let version = "3"
    /// The maximum length of a sealed ticket, in bytes.
    static let maximumLength = 3072

    private let key: HMACKey

    /// Tickets with a random key, valid only in this process.
    init() throws(OpenSSLError) {
        var random = try RandomBytes.make(32)
        defer { for index in random.indices { random[index] = 0 } }
        key = try HMACKey(random.span)
    }

    /// Seals a ticket for a browser, in Base64url.
    ///
    /// Its target must not be longer than a ``ReturnTarget``.
    func seal(_ ticket: SignInTicket, for browser: Digest) throws(OpenSSLError) -> String {
        let destination = ticket.destination
        let fields = [
            Self.version, "\(ticket.issued)", "\(ticket.notice)", destination.challengeText ?? "",
            destination.isRetry ? "1" : "0",
        ]
        let content = Array((fields + [destination.target].compactMap(\.self)).joined(separator: " ").utf8)
        return Base64.url.encode((content + (try tag(content.span, browser).bytes)).span)
    }

    /// Opens a ticket; nil if it was changed, belongs to another browser, or has expired.
    ///
    /// Times are nanoseconds of the clock that the tickets are issued with.
    func open(
        _ text: Span<UInt8>,
        from browser: Digest,
        now: UInt64,
        lifetime: UInt64
    ) throws(OpenSSLError) -> SignInTicket? {
        guard let (ticket, bytes) = Self.decode(text) else { return nil }
        let end = bytes.count - Digest.byteCount
        let sealed = try tag(bytes.span.extracting(0..<end), browser).bytes
        guard constantTimeEqual(sealed.span, bytes.span.extracting(end..<bytes.count)) else { return nil }
        guard ticket.issued <= now, now - ticket.issued <= lifetime else { return nil }
        return ticket
    }

    /// Returns the destination of any ticket, also of one that has expired or belongs to another browser or process, so
    /// that a user whose page is stale does not lose the way.
    ///
    /// It need not be authentic: it is checked each time it is used.
    static func destination(_ text: UTF8Text?) -> Destination? {
        text.flatMap { decode($0.string.utf8Span.span)?.ticket.destination }
    }

    /// Decodes a ticket without checking its tag.
    private static func decode(_ text: Span<UInt8>) -> (ticket: SignInTicket, bytes: [UInt8])? {
        guard text.count <= maximumLength, let bytes = Base64.url.decode(text), bytes.count >= Digest.byteCount else {
            return nil
        }
        let fields = String(decoding: bytes.dropLast(Digest.byteCount), as: UTF8.self).utf8
            .split(separator: ASCII.space, maxSplits: 5, omittingEmptySubsequences: false).map { String(Substring($0)) }
        guard fields.count >= 5, fields[0].hasBytes(of: version), let issued = UInt64(fields[1]),
            let notice = UInt8(fields[2])
        else { return nil }
        let destination = Destination(
            target: fields.count > 5 ? fields[5] : nil,
            challenge: Destination.challenge(fields[3]),
            isRetry: fields[4].hasBytes(of: "1")
        )
        return (SignInTicket(destination: destination, notice: notice, issued: issued), bytes)
    }

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
