// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPTypes
public import Hummingbird
internal import NIOCore
public import RealmKit
public import Sessions
internal import SignIn

/// A request context in which ``RealmAuthenticator`` and ``ProtectedByRules`` store the user of a request.
///
/// To conform, store an ``authentication`` and create it in `init(source:)` with `RealmAuthentication(source: source)`.
/// ``BasicRealmRequestContext`` is a context without further properties.
///
/// The same context can conform to `AuthRequestContext` of hummingbird-auth. Its identity then is the ``user``, or a
/// property `identity` of the context's own type.
public protocol RealmRequestContext: RequestContext {
    /// The result of the authentication of the request, and the peer address of its connection.
    var authentication: RealmAuthentication { get set }
}

extension RealmRequestContext {
    /// The user; nil if the request is not authenticated, or if no middleware has checked it.
    public var user: SignedInUser? { authentication.authenticated?.user }

    /// The ``user``, under the name that `AuthRequestContext` of hummingbird-auth requires.
    ///
    /// An authenticator of hummingbird-auth may set a user that it has authenticated, after ``RealmAuthenticator`` in the
    /// router: a ``RealmAuthenticator`` that follows removes the user. Nil removes the user. The response to such a
    /// user needs a `Cache-Control` of its own, unless the route has a requirement such as ``RequireUser``.
    public var identity: SignedInUser? {
        get { user }
        set { authentication.replaceUser(newValue) }
    }

    /// The session; nil if the request has no user, or was authenticated by credentials.
    public var session: Session? { authentication.authenticated?.session }

    /// The CSRF token that a form or a script sends with its request; nil without a session.
    ///
    /// Pages of other sites cannot read the token. The session API returns it as `csrf`. It does not change during the
    /// session.
    public var csrfToken: String? { authentication.authenticated?.csrfToken }

    /// Returns whether a text is equal to ``csrfToken``.
    ///
    /// - Parameter text: The text from the request; nil if the request has no such text.
    /// - Returns: True if the text is the token. The comparison takes the same time for every text.
    public func isCSRFToken(_ text: String?) -> Bool { authentication.authenticated?.isCSRFToken(text) ?? false }

    /// Returns a signed statement about the ``user``, for an application to which the program forwards the request.
    ///
    /// The application expects it in the field `Remote-Token`. Set the field also if the result is nil, so that
    /// a field of the client is never forwarded. The token is valid for a minute. Its keys are at `/jwks.json`
    /// of ``SignInPages``.
    ///
    /// - Parameter host: The host name of the application, which is the audience of the token. It must not come
    ///   from the request: the client could then present the token to another application.
    /// - Returns: The token; nil if the request has no user of an authenticator of this library, or if
    ///   realms.conf has no `identity-token`.
    /// - Throws: An error that Hummingbird turns into a response: 503 if the token cannot be signed, or 500 if
    ///   the host is not a host name.
    public func identityToken(for host: String) throws -> String? {
        guard case .user(let user, let routeGuard?) = authentication.result, let tokens = routeGuard.access.tokens
        else {
            return nil
        }
        guard let host = RequestHost(host) else { throw HTTPError(.internalServerError) }
        do {
            return try tokens.token(for: user.user, at: host, time: tokens.now)
        } catch {
            throw HTTPError(.serviceUnavailable)
        }
    }

    /// Returns the user, or throws an error if the request has no user.
    ///
    /// - Returns: The user.
    /// - Throws: An error that Hummingbird turns into a response: 401 or a redirect to the sign-in page, 503 if a realm
    ///   is not available, or 500 if no middleware has checked the request.
    public func requireUser() throws -> SignedInUser {
        switch authentication.result {
        case .user(let user, _): return user.user
        case .anonymous(let rejection): throw RejectedRequest(rejection: rejection)
        case .notChecked: throw RealmAuthentication.notChecked
        }
    }
}

/// A request context with the user of the request, and no further properties.
public struct BasicRealmRequestContext: RealmRequestContext {
    /// The storage that Hummingbird requires of every context.
    public var coreContext: CoreRequestContextStorage
    /// The result of the authentication of the request, and the peer address of its connection.
    public var authentication: RealmAuthentication

    /// Creates the context of a request.
    ///
    /// - Parameter source: The source from which Hummingbird makes the context.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        authentication = RealmAuthentication(source: source)
    }
}

/// The result of the authentication of a request, and the peer address of its connection.
public struct RealmAuthentication: Sendable {
    enum AuthenticationResult: Sendable {
        /// No middleware has authenticated the request.
        case notChecked
        /// The request has no user. A route that requires a user responds with this rejection.
        case anonymous(RouteGuard.Rejection)
        /// The guard that has authenticated the user; nil for a user of other middleware.
        case user(RouteGuard.AuthenticatedUser, RouteGuard?)
    }

    var result = AuthenticationResult.notChecked
    /// The address at the other end of the connection; nil if it is not known.
    public var peer: String? { connection.peer }
    let connection: ClientConnection

    var authenticated: RouteGuard.AuthenticatedUser? {
        guard case .user(let user, _) = result else { return nil }
        return user
    }

    /// Replaces the user by one that other middleware has authenticated, or by none.
    mutating func replaceUser(_ user: SignedInUser?) {
        if let user {
            result = .user(RouteGuard.AuthenticatedUser(user: user, authentication: nil), nil)
        } else if case .user(_, let routeGuard) = result {
            result = routeGuard.map { .anonymous($0.rejection(of: nil)) } ?? .notChecked
        }
    }

    /// Creates the value for a request that has not been authenticated, with the peer address and the client
    /// certificate of its connection.
    ///
    /// - Parameter source: The source from which Hummingbird makes the context of the request.
    public init(source: ApplicationRequestContextSource) {
        connection = ClientConnection(
            peer: source.channel.remoteAddress?.ipAddress,
            certificate: ConnectionCertificate.current
        )
    }

    /// Creates the value for a request that has not been authenticated, for a context without a Hummingbird source.
    ///
    /// - Parameter peer: The address at the other end of the connection; nil if it is not known.
    public init(peer: String?) { connection = ClientConnection(peer: peer, certificate: nil) }

    /// The error for a request that no middleware has checked: a forgotten middleware must not open its routes.
    static let notChecked = HTTPError(.internalServerError)
}

/// The error that a handler throws for a request that is not allowed.
struct RejectedRequest: HTTPResponseError {
    let rejection: RouteGuard.Rejection

    var status: HTTPResponse.Status { .unauthorized }

    func response(from request: Request, context: some RequestContext) -> Response {
        rejection.response(to: request)
    }
}
