// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import OpenSSLKit
internal import Sessions

/// The browser that a login belongs to, at one host: the same from the first page to the last question.
struct BrowserBinding {
    /// The digest that identifies the browser; the same cookie has another digest at another host.
    let digest: Digest
    /// The cookie to set, if the request had none.
    let cookies: [String]

    /// The browser of a request, or a new one.
    init(_ request: WebRequest) throws(OpenSSLError) {
        if case .token(let token) = request.cookies.signIn {
            digest = try Self.digest(token, request)
            cookies = []
        } else {
            let token = try OpaqueToken()
            digest = try Self.digest(token, request)
            cookies = [SetCookie.signIn(token)]
        }
    }

    /// The browser of a request with the cookie of the sign-in page.
    init(known token: OpaqueToken, request: WebRequest) throws(OpenSSLError) {
        digest = try Self.digest(token, request)
        cookies = []
    }

    /// Returns the digest of the token and the host: a login that began at one host cannot be completed at another.
    private static func digest(_ token: OpaqueToken, _ request: WebRequest) throws(OpenSSLError) -> Digest {
        try Digest.sha256(fields: [request.host?.name ?? "", try token.digest().hex])
    }
}
