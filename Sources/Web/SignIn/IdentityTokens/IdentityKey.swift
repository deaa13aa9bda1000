// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import OpenSSLKit

/// A key for identity tokens, with its public form (RFC 7517) and its id (RFC 7638).
package struct IdentityKey: Sendable {
    /// The id of the key: the SHA-256 thumbprint of its public form.
    package let id: String
    /// The public form of the key as JSON: an element of a JWK Set.
    let json: String
    let key: SigningKey

    /// Computes the id of a key.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    package init(_ key: SigningKey) throws(OpenSSLError) {
        let point = (x: key.x, y: key.y)
        let (x, y) = (Base64.url.encode(point.x.span), Base64.url.encode(point.y.span))
        id = try Self.thumbprint(x: x, y: y)
        json = #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","use":"sig","alg":"ES256","kid":"\#(id)"}"#
        self.key = key
    }

    /// Returns the thumbprint of a public key on the curve P-256.
    ///
    /// - Parameters:
    ///   - x: The x coordinate in Base64url.
    ///   - y: The y coordinate in Base64url.
    /// - Returns: The SHA-256 thumbprint in Base64url.
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
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

    /// The set of the public keys.
    package let json: String

    /// Creates the set of keys.
    ///
    /// - Parameter keys: The keys, the key that signs first.
    package init(_ keys: [IdentityKey]) {
        json = #"{"keys":[\#(keys.map(\.json).joined(separator: ","))]}"#
    }
}
