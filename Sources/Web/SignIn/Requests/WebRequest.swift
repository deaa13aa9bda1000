// SPDX-License-Identifier: Apache-2.0

package import AccessControl
package import Bytes
package import HTTPTypes
package import NIOCore
internal import RealmKit
package import Sessions

/// A request to the sign-in pages or the session API, for any server.
package struct WebRequest: Sendable {
    /// The method as received, in ASCII because it is a token (RFC 9110 section 9.1).
    package let method: String
    /// The part of the target after the `?`, as received.
    package let query: String
    /// The host and port of the request, as received.
    package let authority: String
    package let client: RequestClient
    /// The header fields, without `Cookie` and `Authorization`, to be read with ``HTTPFields/texts(of:)``, whose texts
    /// are compared byte by byte.
    package let fields: HTTPFields
    /// Reads the body; nil if it is longer than the limit, or the client has disconnected, which gets no response anyway.
    package let body: @Sendable (_ limit: Int) async -> ByteBuffer?

    package init(
        method: String,
        query: String,
        authority: String,
        client: RequestClient,
        fields: HTTPFields,
        body: @escaping @Sendable (_ limit: Int) async -> ByteBuffer?
    ) {
        (self.method, self.query, self.authority) = (method, query, authority)
        (self.client, self.fields, self.body) = (client, fields, body)
    }

    var address: String? { client.address }
    var cookies: OurCookies { client.cookies }
    var sessionRemoval: [String] { SetCookie.sessionRemoval(cookies.session) }

    /// The host that sessions belong to; nil if it is invalid, so that no session is created or found.
    package var host: SessionHost? { RequestHost(authority)?.sessionHost }

    package var asHTML: Bool { AcceptField.prefersHTML(fields) }

    package var isSafe: Bool { method == "GET" || method == "HEAD" }

    package var clientKind: ClientKind { ClientKind(fields) }

    /// True unless the header fields show that the request is not the navigation of a whole window, but for a frame, an
    /// image or a script (Fetch Metadata).
    var isDocument: Bool { fields.texts(of: .secFetchDest).allSatisfy { $0 == "document" } }

    /// True for the navigation of a whole window, also if a service worker passes it on: Chromium then sends the mode
    /// `navigate` and the destination `empty`, which no script can send.
    var isNavigation: Bool {
        isDocument
            || fields.texts(of: .secFetchDest).allSatisfy { $0 == "document" || $0 == "empty" }
                && fields.texts(of: .secFetchMode).map { $0 == "navigate" } == [true]
    }

    var sessionClient: SessionClient {
        SessionClient(address: client.address, userAgent: fields.texts(of: .userAgent).first?.string ?? "")
    }

    /// The media type of the body in lower case, without parameters; empty if the field is missing or longer than any
    /// supported type.
    package var contentType: UTF8Text {
        guard let field = fields.texts(of: .contentType).first else { return "" }
        let bytes = field.string.utf8Span.span
        var end = 0
        while end < bytes.count, bytes[end] != ASCII.semicolon { end += 1 }
        let type = bytes.trimmed(0..<end)
        guard type.count <= 128 else { return "" }
        return UTF8Text(String(decoding: type.map { ASCII.lowercased(bytes[$0]) }, as: UTF8.self))
    }

    var isForm: Bool { contentType == "application/x-www-form-urlencoded" }

    /// True if the header fields show that a page of another site has sent the request.
    ///
    /// A browser sends `Origin` or `Sec-Fetch-Site` with every request whose method is not safe. Other programs send
    /// neither field, so their requests are not cross-origin. Source: Fetch Metadata; RFC 6454 section 7.
    package var isCrossOrigin: Bool {
        let origins = fields.texts(of: .origin)
        let sites = fields.texts(of: .secFetchSite)
        if sites.contains(where: { $0 != "same-origin" && $0 != "none" }) { return true }
        guard let origin = origins.first else { return false }
        // A browser sends "null" for a page with the policy "no-referrer". In this case Sec-Fetch-Site, which was
        // checked above, decides.
        if origin == "null", !sites.isEmpty { return origins.count > 1 }
        return origins.count > 1 || !isOwn(origin)
    }

    /// Returns true if an origin is that of the request, without regard to case; the port 443 may be omitted.
    private func isOwn(_ origin: UTF8Text) -> Bool {
        let scheme: StaticString = "https://"
        let (origin, own) = (origin.string.utf8Span.span, authority.utf8Span.span)
        guard !own.isEmpty, origin.beginsIgnoringCase(with: scheme) else { return false }
        let named = origin.extracting(scheme.utf8CodeUnitCount..<origin.count)
        return named.extracting(0..<Self.endWithoutDefaultPort(named)).equalsIgnoringCase(
            own.extracting(0..<Self.endWithoutDefaultPort(own))
        )
    }

    /// Returns the index of the end of an authority, not counting a final `:443`.
    private static func endWithoutDefaultPort(_ authority: Span<UInt8>) -> Int {
        let port: StaticString = ":443"
        let end = authority.count - port.utf8CodeUnitCount
        return end > 0 && authority.extracting(end..<authority.count).equals(port) ? end : authority.count
    }

    func collectedBody() async -> ByteBuffer? { await body(APIRequestBody.maximumBytes) }
}

extension HTTPField.Name {
    static let clearSiteData = known("Clear-Site-Data")
    static let lastEventID = known("Last-Event-ID")
    static let secFetchDest = known("Sec-Fetch-Dest")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let xAccelBuffering = known("X-Accel-Buffering")
}
