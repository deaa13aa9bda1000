// SPDX-License-Identifier: Apache-2.0

import Bytes
import OpenSSLKit
import RealmKit
import SignIn
import Synchronization

@testable import GatehouseClient

/// A key of a server, and tokens that it has signed.
struct TestSigner {
    /// The time at which the tokens are made.
    static let time = 1_800_000_000
    static let issuer = "https://auth.example.com"
    static let audience = "app.example.com"

    let signing: SigningKey
    let key: IdentityKey

    init() throws {
        signing = try SigningKey(.makeP256(), name: "identity-token.pem")
        key = try IdentityKey(signing)
    }

    /// The key set that the server publishes.
    var json: [UInt8] { Array(IdentityKeySet([key]).json.utf8) }

    static func user(
        _ name: String = "ann",
        realm: String = "people",
        groups: [String] = ["Staff"],
        attributes: [UserAttribute] = []
    ) throws -> SignedInUser {
        SignedInUser(realm: realm, username: try Username(name), groups: groups, attributes: attributes)
    }

    /// A token that the server has made.
    func token(for user: SignedInUser? = nil, issuer: String = issuer, audience: String = audience) throws -> String {
        try IdentityTokenSigner(key).token(
            for: user ?? Self.user(),
            issuer: issuer,
            audience: audience,
            at: Self.time
        )
    }

    /// A verifier with the key set of this key.
    func verifier(at time: Int = time, keys: VerificationKeys? = nil) throws -> IdentityTokenVerifier {
        try IdentityTokenVerifier(
            keys: keys ?? VerificationKeys(json: json),
            issuer: Self.issuer,
            audience: Self.audience,
            clock: WallClock { time }
        )
    }

    // MARK: Tokens that no server makes

    /// The header of the server.
    var header: String { #"{"alg":"ES256","kid":"\#(key.id)","typ":"JWT"}"# }

    /// The claims of the server, each as JSON; nil leaves one out.
    static func claims(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String?] = [
            "iss": "\"\(issuer)\"", "aud": "\"\(audience)\"", "iat": "\(time)", "exp": "\(time + 60)",
            "sub": #""people/ann""#, "preferred_username": #""ann""#, "realm": #""people""#, "groups": #"["Staff"]"#,
        ]
        for (name, value) in changes { members[name] = .some(value) }
        let texts = members.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{" + texts.joined(separator: ",") + "}"
    }

    /// Signs any header and claims with the key.
    func sign(header: String? = nil, claims: String = claims()) throws -> String {
        let message = Self.encode(header ?? self.header) + "." + Self.encode(claims)
        let signature = try signing.signature(of: message.utf8Span.span)
        return message + "." + Base64.url.encode(signature.span)
    }

    static func encode(_ text: String) -> String { Base64.url.encode(text.utf8Span.span) }
}

/// A wall clock that a test sets.
final class TestWallClock: Sendable {
    private let seconds = Mutex(TestSigner.time)

    var clock: WallClock { WallClock { [self] in seconds.withLock { $0 } } }

    func advance(by count: Int) { seconds.withLock { $0 += count } }
}

extension TokenVerification {
    /// The code of a rejection; nil for every other result.
    var code: TokenRejection.Code? { if case .rejected(let rejection) = self { rejection.code } else { nil } }

    /// The cause why the token cannot be verified now.
    var cause: String? { if case .unavailable(let cause) = self { cause } else { nil } }
}
