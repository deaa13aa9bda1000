// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import OpenSSLKit
internal import Sessions

/// The browser and the host that a login is bound to.
///
/// All requests of a login must have the same binding.
struct BrowserBinding {
    /// The digest of the cookie and the host.
    ///
    /// It identifies the browser.
    let digest: Digest
    /// The cookie that the response must set; empty if the request already has the cookie.
    let cookies: [String]

    /// The binding of a request.
    ///
    /// If the request has no cookie, a new cookie is created.
    init(_ request: WebRequest) throws(OpenSSLError) {
        if case .token(let token) = request.cookies.signIn {
            digest = try Self.digest(token, request)
            cookies = []
        } else {
            let token = try OpaqueToken()
            digest = try Self.digest(token, request)
            cookies = SetCookie.signIn(token, replacing: request.cookies.signIn)
        }
    }

    /// The binding of a request that has the cookie of the sign-in page.
    init(known token: OpaqueToken, request: WebRequest) throws(OpenSSLError) {
        digest = try Self.digest(token, request)
        cookies = []
    }

    /// Returns the digest of the token and the host.
    ///
    /// The digest contains the host, so a login can be completed only at the host where it began.
    private static func digest(_ token: OpaqueToken, _ request: WebRequest) throws(OpenSSLError) -> Digest {
        try Digest.sha256(fields: [request.host?.name ?? "", try token.digest().hex])
    }
}
