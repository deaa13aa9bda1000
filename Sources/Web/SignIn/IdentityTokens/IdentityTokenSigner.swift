// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import OpenSSLKit
package import RealmKit

/// Makes identity tokens: signed statements for an application about the user of a request.
///
/// A token is a JSON Web Token (RFC 7519), signed with ES256 in the compact form of RFC 7515. Its algorithm and the type
/// of its claims never depend on a request.
package struct IdentityTokenSigner: Sendable {
    /// The time in seconds from `iat` to `exp`.
    package static let lifetime = 60

    private let key: SigningKey
    /// The encoded header, which is the same for all tokens of a key.
    private let header: String

    /// Creates a signer.
    ///
    /// - Parameter key: The key that signs.
    package init(_ key: IdentityKey) {
        self.key = key.key
        header = Self.encoded(Array(#"{"alg":"ES256","kid":"\#(key.id)","typ":"JWT"}"#.utf8))
    }

    /// Makes a token about a user.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - issuer: The origin that signs users in, for `iss`.
    ///   - audience: The host of the application, for `aud`. An application must reject tokens for another audience.
    ///   - time: The time in seconds since 1970, for `iat`.
    /// - Returns: The token: ASCII letters, digits, `-`, `_` and two dots.
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    package func token(
        for user: SignedInUser,
        issuer: String,
        audience: String,
        at time: Int
    ) throws(OpenSSLError) -> String {
        var claims = ClaimsWriter()
        claims.add("iss", issuer)
        claims.add("sub", Self.subject(of: user))
        claims.add("aud", audience)
        claims.add("iat", time)
        claims.add("exp", time + Self.lifetime)
        claims.add("preferred_username", user.username.text)
        claims.add("realm", user.realm)
        claims.add("groups", user.groups)
        if let name = user.attributes.values(of: UserAttribute.displayName).first { claims.add("name", name) }
        if let mail = user.attributes.values(of: UserAttribute.mail).first { claims.add("email", mail) }
        let signed = "\(header).\(Self.encoded(claims.finish()))"
        let signature = try key.signature(of: signed.utf8Span.span)
        return "\(signed).\(Self.encoded(signature))"
    }

    private static func encoded(_ bytes: [UInt8]) -> String { Base64.url.encode(bytes.span) }

    /// Returns the subject of a user: the realm and the user name, separated by `/`.
    ///
    /// A user name is unique only in its realm, and RFC 7519 section 4.1.2 requires a subject that is unique at the
    /// issuer. The realm is percent-encoded, so the first `/` ends the realm.
    ///
    /// - Parameter user: The user.
    /// - Returns: The subject, such as `people/ann`.
    static func subject(of user: SignedInUser) -> String {
        "\(PercentEncoding.encode(user.realm, keeping: "@"))/\(user.username.text)"
    }
}
