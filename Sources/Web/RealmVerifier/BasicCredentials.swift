// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
public import RealmKit

/// The user name and the password that a client sends by HTTP Basic authentication.
///
/// ```swift
/// guard let credentials = BasicCredentials(authorization: request.headers["authorization"]) else {
///     // With the field WWW-Authenticate: Basic realm="team", charset="UTF-8"
///     return Response(status: .unauthorized)
/// }
/// let result = await verifier.verify(credentials, service: "http", peer: request.peer)
/// ```
///
/// Source: RFC 7617, RFC 9110 section 11.
public struct BasicCredentials: Sendable {
    /// The user name: UTF-8 without control characters and colons, at most 1024 bytes, no white space at its ends.
    public let name: String
    /// The password: UTF-8 without control characters, possibly empty.
    public let password: Secret

    /// Reads the values of all `Authorization` fields of a request, without white space around them.
    ///
    /// It is nil if there is no field, more than one, one of another scheme, or one that no user can have: not
    /// canonical Base64, not UTF-8, with a control character, without a colon, or of more than 5120 bytes.
    public init?(authorization fields: some Sequence<String>) {
        var fields = fields.makeIterator()
        guard let field = fields.next(), fields.next() == nil,
            case .credentials(let credentials) = BasicScheme.read(field.utf8Span.span, count: 1),
            let (username, password) = credentials.separated()
        else { return nil }
        (name, self.password) = (username.text, password)
    }
}

extension RealmVerifier {
    /// Checks a name and a password of HTTP Basic.
    ///
    /// See ``verify(_:password:in:whenUnavailable:service:peer:caching:)``.
    public func verify(
        _ credentials: BasicCredentials,
        in realms: [String]? = nil,
        whenUnavailable: WhenUnavailable? = nil,
        service: String = "login",
        peer: String? = nil,
        caching: Bool = true
    ) async -> Verification {
        await verify(
            credentials.name,
            password: credentials.password,
            in: realms,
            whenUnavailable: whenUnavailable,
            service: service,
            peer: peer,
            caching: caching
        )
    }
}
