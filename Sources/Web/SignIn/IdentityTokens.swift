// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
package import OpenSSLKit
package import RealmConfiguration
package import RealmKit

/// The source of the identity tokens of a configuration.
package struct IdentityTokenSource: Sendable {
    /// The time in seconds for which a token is sent again, so that not every request needs a signature.
    ///
    /// A token is valid for at least 45 seconds when the application receives it.
    package static let reuseTime = 15

    private let signer: IdentityTokenSigner
    /// The origin of the sign-in host; nil if users sign in at the host of the application.
    private let signInHost: String?
    private let clock: WallClock

    /// The time in seconds since 1970.
    package var now: Int { clock.seconds }

    /// The result is nil if applications get no tokens.
    package init?(_ settings: ServerSettings, clock: WallClock) throws(OpenSSLError) {
        guard let key = settings.identityTokenKeys.first else { return nil }
        signer = IdentityTokenSigner(try IdentityKey(key))
        signInHost = settings.signIn.host?.description
        self.clock = clock
    }

    /// Returns a new token; `time` is in seconds since 1970.
    ///
    /// The audience is the host of the request, which a rule names. So an application can reject a token that was made
    /// for another application. Ports make no difference, as with sessions.
    package func token(for user: SignedInUser, at host: RequestHost, time: Int) throws(OpenSSLError) -> String {
        try signer.token(for: user, issuer: signInHost ?? "https://\(host.name)", audience: host.name, at: time)
    }
}

/// Makes identity tokens: statements for an application about the user of a request.
///
/// A token is a JSON Web Token (RFC 7519), signed with ES256 in the compact form of RFC 7515. Its algorithm and the
/// types of its claims never depend on a request.
package struct IdentityTokenSigner: Sendable {
    /// The time in seconds from `iat` to `exp`.
    package static let lifetime = 60

    private let key: SigningKey
    /// The encoded header, which is the same for all tokens of a key.
    private let header: String

    package init(_ key: IdentityKey) {
        self.key = key.key
        header = Self.encoded(Array(#"{"alg":"ES256","kid":"\#(key.id)","typ":"JWT"}"#.utf8))
    }

    /// Makes a token about a user, at a time in seconds since 1970.
    ///
    /// The issuer is the origin that signs users in, and the audience is the host of the application, which must reject
    /// tokens for another audience.
    package func token(
        for user: SignedInUser,
        issuer: String,
        audience: String,
        at time: Int
    ) throws(OpenSSLError) -> String {
        var claims: [(name: String, value: JSONValue)] = [
            ("iss", .text(issuer)),
            ("sub", .text(Self.subject(of: user))),
            ("aud", .text(audience)),
            ("iat", .number(time)),
            ("exp", .number(time + Self.lifetime)),
            ("preferred_username", .text(user.username.text)),
            ("realm", .text(user.realm)),
            ("groups", .texts(user.groups)),
        ]
        for (name, attribute) in [("name", UserAttribute.displayName), ("email", UserAttribute.mail)] {
            if let value = user.attributes.values(of: attribute).first { claims.append((name, .text(value))) }
        }
        let signed = "\(header).\(Self.encoded(JSONValue.object(claims).bytes(.required)))"
        let signature = try key.signature(of: signed.utf8Span.span)
        return "\(signed).\(Self.encoded(signature))"
    }

    private static func encoded(_ bytes: [UInt8]) -> String { Base64.url.encode(bytes.span) }

    /// Returns the realm and the user name, such as `people/ann`.
    ///
    /// A user name is unique only in its realm, and RFC 7519 section 4.1.2 requires a subject that is unique at the
    /// issuer. The realm is percent-encoded, so the first `/` ends it.
    static func subject(of user: SignedInUser) -> String {
        "\(PercentEncoding.encode(user.realm, keeping: "@"))/\(user.username.text)"
    }
}

/// A key for identity tokens, with its public form (RFC 7517) and its id (RFC 7638).
package struct IdentityKey: Sendable {
    /// The id of the key: the SHA-256 thumbprint of its public form.
    package let id: String
    /// The public form of the key as JSON: an element of a JWK Set.
    let json: String
    let key: SigningKey

    package init(_ key: SigningKey) throws(OpenSSLError) {
        let point = (x: key.x, y: key.y)
        let (x, y) = (Base64.url.encode(point.x.span), Base64.url.encode(point.y.span))
        id = try Self.thumbprint(x: x, y: y)
        json = #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","use":"sig","alg":"ES256","kid":"\#(id)"}"#
        self.key = key
    }

    /// Returns the SHA-256 thumbprint, in Base64url as the coordinates.
    static func thumbprint(x: String, y: String) throws(OpenSSLError) -> String {
        // RFC 7638 section 3: the required members of the key type, in the order of their names, without blanks.
        let required = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        return try Digest.sha256(Array(required.utf8)).withBytes { Base64.url.encode($0) }
    }
}

/// The keys by which applications verify identity tokens, as a JWK Set (RFC 7517 section 5).
package struct IdentityKeySet: Sendable {
    /// The media type of ``json`` (RFC 7517 section 8.5.2).
    package static let mediaType = "application/jwk-set+json"

    package let json: String

    /// The key that signs comes first.
    package init(_ keys: [IdentityKey]) {
        json = #"{"keys":[\#(keys.map(\.json).joined(separator: ","))]}"#
    }
}
