// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import OpenSSLKit
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

/// The client certificate of a connection, which TLS has verified.
///
/// The certificates are read once for each connection. All requests of the connection share them.
package struct ClientCertificate: Sendable {
    // Not empty. The only property, so that requests without a certificate cost nothing.
    private let chain: [Certificate]

    /// The certificate of a verified chain; nil if the chain is empty.
    ///
    /// - Parameter chain: The chain from the client's certificate to the authority.
    package init?(_ chain: [Certificate]) {
        guard !chain.isEmpty else { return nil }
        self.chain = chain
    }

    /// The certificate of the client.
    private var leaf: Certificate { chain[0] }

    /// The SHA-256 digest of the client's certificate.
    package var digest: Digest { leaf.digest }

    /// The last second in which all certificates of the chain are valid, in seconds since 1970.
    package var notAfter: Int { Int(chain.lazy.map(\.notAfter).min() ?? 0) }

    /// Returns true if all certificates of the chain are valid at a time.
    ///
    /// A connection may stay open after a certificate has expired.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: True if no certificate has expired or is not valid yet.
    package func isValid(at now: Int) -> Bool {
        chain.allSatisfy { $0.notBefore <= Int64(now) && Int64(now) <= $0.notAfter }
    }

    /// Returns the certificate for a conversation with login modules.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: The certificate in DER; nil if the chain is not valid at this time, or OpenSSL fails.
    package func der(at now: Int) -> [UInt8]? {
        guard isValid(at: now) else { return nil }
        do throws(OpenSSLError) {
            return try leaf.der
        } catch {
            // Without the certificate the login fails.
            return nil
        }
    }
}
