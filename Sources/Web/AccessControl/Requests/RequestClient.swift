// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import Sessions

/// The header fields of a request.
///
/// Each server implements this protocol for its own type.
package protocol RequestFields {
    /// The value of `Host` or `:authority`; empty if the request has neither field.
    var hostText: String { get }

    /// Returns the values of all fields with a name, in order.
    ///
    /// - Parameter name: The name, in lower case.
    /// - Returns: The values; empty if there is no such field.
    func values(named name: StaticString) -> [UTF8Text]

    /// Calls a closure with the bytes of each `Cookie` field, in order.
    func forEachCookieField(_ body: (Span<UInt8>) -> Void)
}

/// The client of a request: its address and certificate, the host that it requested, and the cookies of Gatehouse.
package struct RequestClient: Sendable {
    /// The address of the peer, or the address that a trusted proxy has forwarded; nil if it is not known.
    package var address: String?
    /// True if trusted proxies are configured and the request has an `X-Forwarded-For` field.
    package var isForwarded = false
    /// The host and port from a trusted `X-Forwarded-Host`; nil if `Host` is used.
    package var forwardedAuthority: String?
    /// The cookies of Gatehouse in the request.
    package var cookies = OurCookies()
    /// The tokens of all session cookies, if there are several; otherwise nil.
    ///
    /// None of them authenticates a user.
    package private(set) var repeatedSessions: [OpaqueToken]?
    /// The client certificate of the connection; nil if there is none.
    ///
    /// It is nil if the peer is a trusted proxy: its certificate is not the certificate of the client. No header field
    /// sets it.
    package var certificate: ClientCertificate?

    /// A client.
    ///
    /// - Parameter address: The address as text; nil if it is not known.
    package init(address: String?) { self.address = address }
}

extension RequestClient {
    /// Reads the cookies of Gatehouse.
    ///
    /// - Parameter fields: The request's fields.
    package mutating func readCookies(from fields: borrowing some RequestFields) {
        var found = OurCookies()
        fields.forEachCookieField { found.read($0) }
        cookies = found
        repeatedSessions = nil
        guard case .repeated = found.session else { return }
        var tokens: [OpaqueToken] = []
        fields.forEachCookieField { OurCookies.collectSessions(in: $0, into: &tokens) }
        repeatedSessions = tokens
    }

    /// Returns the host and port of the request.
    ///
    /// - Parameter fields: The request's fields.
    /// - Returns: The host and port, as text.
    package func authority(_ fields: borrowing some RequestFields) -> String {
        if let forwardedAuthority { return forwardedAuthority }
        return fields.hostText
    }
}
