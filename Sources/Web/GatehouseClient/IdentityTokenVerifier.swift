// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPSClient
internal import LibC
public import RealmKit

/// Verifies the identity tokens that an application gets in the field `Remote-Token`.
///
/// A token is accepted if a key of the server has signed it with ES256, if it was made by the issuer for this application,
/// and if it is valid now. The token never chooses the algorithm.
///
/// ```swift
/// let server = try GatehouseEndpoint("https://auth.example.com/gatehouse")
/// let verifier = try IdentityTokenVerifier(
///     keys: VerificationKeys(of: server), issuer: "https://auth.example.com", audience: "app.example.com")
/// switch await verifier.verify(token) {
/// case .accepted(let user): print(user.username, user.groups)
/// case .rejected(let rejection): print("rejected: \(rejection)")
/// case .unavailable(let cause): print("try again later: \(cause)")
/// }
/// ```
///
/// It may be used from any thread.
public struct IdentityTokenVerifier: Sendable {
    /// The maximum length of a token, in bytes.
    public static let maximumBytes = 16_384

    /// The difference in seconds by which the clocks of the server and of this machine may differ.
    static let leeway = 10

    private let keys: VerificationKeys
    private let issuer: UTF8Text
    private let audience: UTF8Text
    private let clock: WallClock

    /// Creates a verifier for one application.
    ///
    /// - Parameters:
    ///   - keys: The keys, which verifiers may share.
    ///   - issuer: The origin of the sign-in host, such as `https://auth.example.com`; without a sign-in host, that of the
    ///     application.
    ///   - audience: The host of the application in lower case and without a port, such as `app.example.com`. An application
    ///     with several hosts has a verifier for each.
    /// - Throws: ``GatehouseClientError`` if the issuer or the audience has another form, so that no token could be accepted.
    public init(keys: VerificationKeys, issuer: String, audience: String) throws(GatehouseClientError) {
        try self.init(keys: keys, issuer: issuer, audience: audience, clock: .ofSystem)
    }

    init(keys: VerificationKeys, issuer: String, audience: String, clock: WallClock) throws(GatehouseClientError) {
        guard let origin = try? HTTPSURL(issuer), "https://\(origin.authority)".hasBytes(of: issuer) else {
            throw GatehouseClientError("the issuer is not an origin such as https://auth.example.com")
        }
        guard let host = try? HTTPSURL("https://\(audience)"), host.port == 443, host.authority.hasBytes(of: audience)
        else {
            throw GatehouseClientError(
                "the audience is not a host in lower case without a port, such as app.example.com"
            )
        }
        (self.keys, self.issuer, self.audience) = (keys, UTF8Text(issuer), UTF8Text(audience))
        self.clock = clock
    }

    /// Verifies a token.
    ///
    /// If the token names an unknown key, or the keys are old, they are fetched first, which takes at most 5 seconds.
    ///
    /// - Parameter token: The value of the field `Remote-Token`; empty if there is none.
    /// - Returns: The user, or the reason for the log.
    public func verify(_ token: String) async -> TokenVerification {
        await verify(Array(token.utf8.prefix(Self.maximumBytes + 1)))
    }

    /// Verifies the bytes of a token.
    public func verify(_ token: [UInt8]) async -> TokenVerification {
        do throws(TokenRejection) {
            let signed = try SignedToken(token)
            switch await keys.key(signed.keyID) {
            case .unavailable(let cause): return .unavailable(cause)
            case .unknown: throw TokenRejection(.unknownKey, "the server does not publish its key")
            case .found(let key):
                guard try signed.isSigned(by: key) else {
                    throw TokenRejection(.signature, "the signature is not valid")
                }
            }
            // Nothing in the payload is read before the signature is verified.
            let claims = try IdentityClaims(signed.payload)
            try claims.check(issuer: issuer, audience: audience, now: clock.seconds)
            return .accepted(claims.user)
        } catch {
            return .rejected(error)
        }
    }
}

/// The result of the verification of an identity token.
public enum TokenVerification: Sendable {
    /// The token is valid. `mail` and `displayName` are among the attributes of the user if the realm knows them.
    case accepted(SignedInUser)
    /// The token proves nothing: the request has no user.
    case rejected(TokenRejection)
    /// The keys of the server are not known now, for the cause in the text: a server answers with 503.
    case unavailable(String)

    /// The user of an accepted token; nil for every other result.
    public var user: SignedInUser? { if case .accepted(let user) = self { user } else { nil } }
}

/// The reason why a token was rejected.
///
/// Two rejections are equal if their codes are equal. The text is for the log. It contains no part of a token that is not
/// signed.
public struct TokenRejection: Error, Sendable, CustomStringConvertible {
    /// The kinds of reasons.
    public enum Code: Sendable, Hashable, CaseIterable {
        /// The token is empty: the rule of the request is `open`, or the server makes no tokens.
        case missing
        /// It is longer than ``IdentityTokenVerifier/maximumBytes``, or not a JSON Web Token with the claims of the server.
        case malformed
        /// Its header names another algorithm than ES256.
        case algorithm
        /// The server publishes no key with its id.
        case unknownKey
        /// The signature is not valid.
        case signature
        /// It was made by another issuer.
        case issuer
        /// It was made for another application.
        case audience
        /// It is not valid any more.
        case expired
        /// It is not valid yet: a clock is wrong.
        case notYetValid
    }

    /// The kind of reason.
    public let code: Code
    /// The text for the log.
    public let description: String

    init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }
}

extension TokenRejection: Equatable {
    /// Compares the codes.
    public static func == (left: TokenRejection, right: TokenRejection) -> Bool { left.code == right.code }
}

extension WallClock {
    static let ofSystem = WallClock { Int(time(nil)) }
}
