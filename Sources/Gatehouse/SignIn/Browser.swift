// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import Sessions

/// The browser somebody signs in with: the same from the first page to the last question.
struct Browser {
    let digest: Digest
    /// The cookie to set, where there was none.
    let cookies: [String]

    /// The browser of a request, or a new one.
    init(_ request: WebRequest) throws(OpenSSLError) {
        if case .token(let token) = request.cookies.signIn {
            digest = try token.digest()
            cookies = []
        } else {
            let token = try OpaqueToken()
            digest = try token.digest()
            cookies = [SetCookie.signIn(token)]
        }
    }

    /// A browser that has shown its cookie.
    init(known token: OpaqueToken) throws(OpenSSLError) {
        digest = try token.digest()
        cookies = []
    }
}
