// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPServer
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import SignIn

/// The source of the identity tokens of a configuration.
struct IdentityTokenSource: Sendable {
    /// The time in seconds for which a token is sent again, so that not every request needs a signature.
    ///
    /// A token is valid for at least 45 seconds when the application receives it.
    static let reuseTime = 15

    private let signer: IdentityTokenSigner
    /// The origin of the sign-in host; nil if users sign in at the host of the application.
    private let signInHost: String?
    private let clock: WallClock

    /// The time in seconds since 1970.
    var now: Int { clock.seconds }

    /// Creates the tokens of a configuration.
    ///
    /// - Parameters:
    ///   - settings: The settings of the server. The result is nil if applications get no tokens.
    ///   - clock: The clock of `iat` and `exp`.
    /// - Throws: ``OpenSSLError`` if OpenSSL fails.
    init?(_ settings: ServerSettings, clock: WallClock) throws(OpenSSLError) {
        guard let key = settings.identityToken?.keys.first else { return nil }
        signer = IdentityTokenSigner(try IdentityKey(key))
        signInHost = settings.signIn.host?.description
        self.clock = clock
    }

    /// Returns a new token.
    ///
    /// The audience is the host of the request, which a rule names. So an application can reject a token that was made
    /// for another application. Ports make no difference, as with sessions.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - host: The host of the original request.
    ///   - time: The time in seconds since 1970.
    /// - Returns: The token.
    /// - Throws: ``OpenSSLError`` if OpenSSL fails.
    func token(for user: SignedInUser, at host: RequestHost, time: Int) throws(OpenSSLError) -> String {
        try signer.token(for: user, issuer: signInHost ?? "https://\(host.name)", audience: host.name, at: time)
    }
}

/// An encoded response with an identity token in a `ResponseCache`.
final class TokenResponse: Sendable {
    let response: PreparedResponse
    private let host: String
    private let time: Int

    /// Creates a response for a host.
    ///
    /// - Parameters:
    ///   - response: The encoded response.
    ///   - host: The host that the token is for.
    ///   - time: The time of the token, in seconds since 1970.
    init(_ response: PreparedResponse, for host: String, at time: Int) {
        self.response = response
        self.host = host
        self.time = time
    }

    /// Returns whether the response can be sent again.
    ///
    /// If the clock was set back, the token would be valid for longer than it says, so it is not sent again.
    ///
    /// - Parameters:
    ///   - host: The host of the request.
    ///   - now: The time in seconds since 1970.
    /// - Returns: True if the token is for this host and new enough.
    func isCurrent(for host: String, at now: Int) -> Bool {
        let isNew = (time..<time + IdentityTokenSource.reuseTime).contains(now)
        return response.status == 200 && isNew && self.host.hasBytes(of: host)
    }
}
