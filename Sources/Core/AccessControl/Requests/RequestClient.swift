// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import OpenSSLKit
package import Sessions

/// The header fields of a request; each server implements this protocol for its own type.
package protocol RequestFields {
    /// The value of `Host` or `:authority`; empty if the request has neither field.
    var hostText: String { get }

    /// Returns the values of all fields with a name in lower case, in order.
    func values(named name: StaticString) -> [UTF8Text]

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
    package var cookies = OurCookies()
    /// The tokens of all session cookies, if there are several; none of them authenticates a user.
    package private(set) var repeatedSessions: [OpaqueToken]?
    /// The client certificate of the connection; nil if the peer is a trusted proxy, whose certificate is not that of
    /// the client.
    ///
    /// No header field sets it.
    package var certificate: ClientCertificate?

    package init(address: String?) { self.address = address }

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

    /// Returns the host and port of the request, as text.
    package func authority(_ fields: borrowing some RequestFields) -> String {
        if let forwardedAuthority { return forwardedAuthority }
        return fields.hostText
    }
}

/// The client certificate of a connection, which TLS has verified; it is read once for all requests of the connection.
package struct ClientCertificate: Sendable {
    // Not empty. The only property, so that requests without a certificate cost nothing.
    private let chain: [Certificate]

    /// The first of a chain that ends with the authority; nil if the chain is empty.
    package init?(_ chain: [Certificate]) {
        guard !chain.isEmpty else { return nil }
        self.chain = chain
    }

    private var leaf: Certificate { chain[0] }

    /// The SHA-256 digest.
    package var digest: Digest { leaf.digest }

    /// The last second in which all certificates of the chain are valid, in seconds since 1970.
    package var notAfter: Int { Int(chain.lazy.map(\.notAfter).min() ?? 0) }

    /// Returns true if all certificates of the chain are valid at a time in seconds since 1970: a connection may stay
    /// open after a certificate has expired.
    package func isValid(at now: Int) -> Bool {
        chain.allSatisfy { $0.notBefore <= Int64(now) && Int64(now) <= $0.notAfter }
    }

    /// Returns the certificate in DER; nil, so that the login fails, if the chain is not valid at this time, or OpenSSL
    /// fails.
    package func der(at now: Int) -> [UInt8]? {
        guard isValid(at: now) else { return nil }
        return try? leaf.der
    }
}
