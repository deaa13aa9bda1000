// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit
internal import RealmKit

/// A JSON Web Token in the compact form (RFC 7515 section 7.1) whose signature has not been verified.
struct SignedToken {
    /// The bytes before the signature, which are signed.
    let signed: [UInt8]
    let signature: [UInt8]
    /// The key that has signed the token, as the token says.
    let keyID: UTF8Text
    /// The claims, which prove nothing before the signature is verified.
    let payload: [UInt8]

    init(_ token: [UInt8]) throws(TokenRejection) {
        guard !token.isEmpty else { throw TokenRejection(.missing, "there is no token") }
        guard token.count <= IdentityTokenVerifier.maximumBytes else {
            throw .malformed("the token is longer than \(IdentityTokenVerifier.maximumBytes) bytes")
        }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
            .map { Array($0) }
        let decoded = parts.map { Base64.url.decode($0.span) }
        guard parts.count == 3, let header = decoded[0], let payload = decoded[1], let signature = decoded[2]
        else { throw .malformed("the token is not three parts in Base64url") }
        keyID = try Self.keyID(header)
        (self.payload, self.signature) = (payload, signature)
        signed = parts[0] + [UInt8(ascii: ".")] + parts[1]
    }

    /// Reads the header: the algorithm and the type must be those of the server (RFC 8725 sections 3.1 and 3.11).
    private static func keyID(_ bytes: [UInt8]) throws(TokenRejection) -> UTF8Text {
        guard let header = try? JSONValue(reading: bytes.span, maximumNames: 20) else {
            throw .malformed("the header is not valid JSON")
        }
        guard header.hasMember("alg", "ES256") else {
            throw TokenRejection(.algorithm, "the algorithm is not ES256")
        }
        guard header.hasMember("typ", "JWT") else { throw .malformed("the type is not JWT") }
        // RFC 7515 section 4.1.11: extensions that must be understood, and none is.
        guard header["crit"] == nil else { throw .malformed("the header has a critical extension") }
        guard let id = header["kid"]?.asText, !id.utf8.isEmpty else { throw .malformed("the header names no key") }
        return UTF8Text(id)
    }

    func isSigned(by key: VerificationKey) throws(TokenRejection) -> Bool {
        do throws(OpenSSLError) {
            return try key.verifies(signature.span, of: signed.span)
        } catch {
            throw TokenRejection(.signature, "the signature cannot be verified: \(error)")
        }
    }
}

/// The claims of an identity token (docs/forward-auth-reference.md).
struct IdentityClaims {
    let user: SignedInUser
    private let issuer: UTF8Text
    private let audience: UTF8Text
    // In seconds since 1970.
    private let issuedAt, expires: Int
    private let notBefore: Int?

    init(_ payload: [UInt8]) throws(TokenRejection) {
        guard let claims = try? JSONValue(reading: payload.span, maximumNames: 100) else {
            throw .malformed("the claims are not valid JSON")
        }
        func text(_ name: String) throws(TokenRejection) -> String {
            guard let text = claims[name]?.asText else { throw .malformed("the claim \(name) is missing, or no text") }
            return text
        }
        func time(_ name: String) throws(TokenRejection) -> Int? {
            guard let value = claims[name] else { return nil }
            guard let time = value.asNumber else { throw .malformed("the claim \(name) is not a whole number") }
            return time
        }
        // RFC 7519 section 4.1.3 allows an array of audiences: a token for several applications is not for one of them.
        (issuer, audience) = (UTF8Text(try text("iss")), UTF8Text(try text("aud")))
        guard let issuedAt = try time("iat"), let expires = try time("exp") else {
            throw .malformed("the claim iat or exp is missing")
        }
        (self.issuedAt, self.expires, notBefore) = (issuedAt, expires, try time("nbf"))
        guard let groups = claims["groups"]?.asTexts else {
            throw .malformed("the claim groups is missing, or no array of texts")
        }
        var attributes: [(name: String, values: [String])] = []
        for (claim, name) in [("name", UserAttribute.displayName), ("email", UserAttribute.mail)]
        where claims[claim] != nil { attributes.append((name, [try text(claim)])) }
        let (name, realm) = (try text("preferred_username"), try text("realm"))
        user = try Result { () throws(GatehouseClientError) in
            try SignedInUser(name, realm: realm, groups: groups, attributes: attributes)
        }.mapError { TokenRejection.malformed("the claims name no user: \($0)") }.get()
    }

    /// Checks for whom, by whom and for which time the token was made; `now` is in seconds since 1970.
    func check(issuer: UTF8Text, audience: UTF8Text, now: Int) throws(TokenRejection) {
        guard self.issuer == issuer else {
            throw TokenRejection(.issuer, "the issuer is \(LogText.quoted(self.issuer.string))")
        }
        guard self.audience == audience else {
            throw TokenRejection(.audience, "the audience is \(LogText.quoted(self.audience.string))")
        }
        guard now - IdentityTokenVerifier.leeway < expires else {
            throw TokenRejection(.expired, "the token has expired")
        }
        let latest = now + IdentityTokenVerifier.leeway
        guard issuedAt <= latest, notBefore.map({ $0 <= latest }) ?? true else {
            throw TokenRejection(.notYetValid, "the token is from the future: compare the clocks")
        }
    }
}

extension TokenRejection {
    fileprivate static func malformed(_ description: String) -> TokenRejection {
        TokenRejection(.malformed, description)
    }
}

extension JSONValue {
    /// Returns whether a member is this text.
    func hasMember(_ name: String, _ text: String) -> Bool { self[name]?.asText?.hasBytes(of: text) ?? false }
}

extension SignedInUser {
    /// Checks the texts of a server's answer.
    init(
        _ name: String,
        realm: String,
        groups: [String],
        attributes: [(name: String, values: [String])]
    ) throws(GatehouseClientError) {
        let username = try Result { () throws(BadUsername) in try Username(name) }
            .mapError { GatehouseClientError("\($0)") }.get()
        guard !realm.utf8.isEmpty else { throw GatehouseClientError("there is no realm") }
        let attributes = try Result { () throws(BadAttribute) in
            try attributes.map { attribute throws(BadAttribute) in
                try UserAttribute(name: attribute.name, values: attribute.values)
            }
        }.mapError { GatehouseClientError($0.description) }.get()
        self.init(realm: realm, username: username, groups: groups, attributes: attributes)
    }
}
