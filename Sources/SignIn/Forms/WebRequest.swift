// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import AccessControl
package import Bytes
package import HTTPTypes
package import HummingbirdCore
internal import NIOCore
internal import RealmKit
package import Sessions

/// A request to the sign-in pages or the session API, independent of the server that received it.
package struct WebRequest: Sendable {
    /// The method as received: a token, so ASCII.
    package let method: String
    package let path: RequestPath
    /// The part of the target after the `?`, as received.
    package let query: String
    /// The host and port of the request, as received.
    package let authority: String
    /// The client: its address and our cookies.
    package let client: RequestClient
    /// The other fields; no cookies and no credentials.
    ///
    /// They are read by ``HTTPFields/texts(of:)``.
    package let fields: HTTPFields
    package let body: RequestBody

    /// A request.
    ///
    /// - Parameters:
    ///   - method: The method as received.
    ///   - path: The path.
    ///   - query: The part of the target after the `?`, as received.
    ///   - authority: Host and port of the request.
    ///   - client: The client: its address and our cookies.
    ///   - fields: The other fields; no cookies and no credentials.
    ///   - body: The body.
    package init(
        method: String,
        path: RequestPath,
        query: String,
        authority: String,
        client: RequestClient,
        fields: HTTPFields,
        body: RequestBody
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.authority = authority
        self.client = client
        self.fields = fields
        self.body = body
    }

    var address: String? { client.address }
    var cookies: OurCookies { client.cookies }

    /// The host of the request's sessions; nil if it cannot be read: then no session can be created or found.
    package var host: SessionHost? { RequestHost(authority)?.ofSessions }

    /// True if the client prefers HTML.
    package var asHTML: Bool { AcceptField.prefersHTML(fields) }

    /// True if the method is one that changes nothing.
    package var isSafe: Bool { method == "GET" || method == "HEAD" }

    /// The kind of the client.
    package var clientKind: ClientKind { ClientKind(fields) }

    /// The client, as the session stores it.
    var sessionClient: SessionClient {
        SessionClient(address: client.address, userAgent: fields.texts(of: .userAgent).first?.string ?? "")
    }

    /// The type of the body, without parameters and in lower case; empty if there is none, or it is longer than all
    /// supported types.
    package var contentType: UTF8Text {
        guard let field = fields.texts(of: .contentType).first else { return "" }
        let bytes = field.string.utf8Span.span
        var end = 0
        while end < bytes.count, bytes[end] != ASCII.semicolon { end += 1 }
        let type = bytes.trimmed(0..<end)
        guard type.count <= 128 else { return "" }
        return UTF8Text(String(decoding: type.map { ASCII.lowercased(bytes[$0]) }, as: UTF8.self))
    }

    /// True if the body has the type of a form.
    var isForm: Bool { contentType == "application/x-www-form-urlencoded" }

    /// True if a page of another site has sent the request, according to the fields of the browser.
    ///
    /// Other programs send none of these fields, so their requests are not cross-origin. A browser sends at least one
    /// of them with every request that changes something. Source: Fetch Metadata; RFC 6454 section 7.
    package var isCrossOrigin: Bool {
        let origins = fields.texts(of: .origin)
        let sites = fields.texts(of: .secFetchSite)
        if sites.contains(where: { $0 != "same-origin" && $0 != "none" }) { return true }
        guard let origin = origins.first else { return false }
        // A browser sends "null" for a page without a referrer. The other field has been checked already.
        if origin == "null", !sites.isEmpty { return origins.count > 1 }
        return origins.count > 1 || !isOwn(origin)
    }

    /// Returns true if an origin is that of the request.
    ///
    /// The scheme and the host are compared in any case. The port may be left out if it is 443.
    private func isOwn(_ origin: UTF8Text) -> Bool {
        let scheme: StaticString = "https://"
        let (origin, own) = (origin.string.utf8Span.span, authority.utf8Span.span)
        guard !own.isEmpty, origin.beginsIgnoringCase(with: scheme) else { return false }
        let named = origin.extracting(scheme.utf8CodeUnitCount..<origin.count)
        return named.extracting(0..<Self.endOfHost(named)).equalsIgnoringCase(own.extracting(0..<Self.endOfHost(own)))
    }

    /// Returns the end of an authority without the port 443.
    private static func endOfHost(_ authority: Span<UInt8>) -> Int {
        let port: StaticString = ":443"
        let end = authority.count - port.utf8CodeUnitCount
        return end > 0 && authority.extracting(end..<authority.count).equals(port) ? end : authority.count
    }

    /// Reads the body, if it is not too long.
    ///
    /// - Returns: The body; nil if it has more than ``bodyLimit`` bytes or is incomplete.
    func collectedBody() async -> ByteBuffer? {
        do {
            return try await body.collect(upTo: Self.bodyLimit)
        } catch {
            // The body is too long, or the client has gone and receives no response.
            return nil
        }
    }

    /// The longest body that is read, in bytes: a name, a password, answers.
    static let bodyLimit = 32_768
}
