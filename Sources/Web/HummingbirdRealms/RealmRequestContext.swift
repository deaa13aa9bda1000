// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
public import Hummingbird
internal import NIOCore
public import RealmKit
public import Sessions

/// A request context in which ``RealmAuthenticator`` and ``ProtectedByRules`` store the user of a request.
///
/// To conform, store an ``identity`` and create it in `init(source:)` with `RealmIdentity(source: source)`.
/// ``BasicRealmRequestContext`` is a context without further properties.
public protocol RealmRequestContext: RequestContext {
    /// The result of the authentication of the request, and the peer address of its connection.
    var identity: RealmIdentity { get set }
}

extension RealmRequestContext {
    /// The user; nil if the request is not authenticated, or if no middleware has checked it.
    public var user: SignedInUser? { identity.authenticated?.user }

    /// The session; nil if the request has no user, or was authenticated by credentials.
    public var session: Session? { identity.authenticated?.session }

    /// The CSRF token that a form or a script sends with its request; nil without a session.
    ///
    /// Pages of other sites cannot read the token. The session API returns it as `csrf`. It does not change during the
    /// session.
    public var csrfToken: String? { identity.authenticated?.csrfToken }

    /// Returns whether a text is equal to ``csrfToken``.
    ///
    /// - Parameter text: The text from the request; nil if the request has no such text.
    /// - Returns: True if the text is the token. The comparison takes the same time for every text.
    public func isCSRFToken(_ text: String?) -> Bool { identity.authenticated?.isCSRFToken(text) ?? false }

    /// Returns the user, or throws an error if the request has no user.
    ///
    /// - Returns: The user.
    /// - Throws: An error that Hummingbird turns into a response: 401 or a redirect to the sign-in page, 503 if a realm
    ///   is not available, or 500 if no middleware has checked the request.
    public func requireUser() throws -> SignedInUser {
        switch identity.result {
        case .user(let user, _): return user.user
        case .anonymous(let rejection): throw RejectedRequest(rejection: rejection)
        case .notChecked: throw RealmIdentity.notChecked
        }
    }
}

/// A request context with the user of the request, and no further properties.
public struct BasicRealmRequestContext: RealmRequestContext {
    /// The storage that Hummingbird requires of every context.
    public var coreContext: CoreRequestContextStorage
    /// The result of the authentication of the request, and the peer address of its connection.
    public var identity: RealmIdentity

    /// Creates the context of a request.
    ///
    /// - Parameter source: The source from which Hummingbird makes the context.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        identity = RealmIdentity(source: source)
    }
}

/// The result of the authentication of a request, and the peer address of its connection.
public struct RealmIdentity: Sendable {
    enum AuthenticationResult: Sendable {
        /// No middleware has authenticated the request.
        case notChecked
        /// The request has no user. A route that requires a user responds with this rejection.
        case anonymous(RouteGuard.Rejection)
        case user(RouteGuard.AuthenticatedUser, RouteGuard)
    }

    var result = AuthenticationResult.notChecked
    /// The address at the other end of the connection; nil if it is not known.
    public var peer: String? { connection.peer }
    let connection: ClientConnection

    var authenticated: RouteGuard.AuthenticatedUser? {
        guard case .user(let user, _) = result else { return nil }
        return user
    }

    /// Creates the identity of a request that has not been authenticated, with the peer address and the client
    /// certificate of its connection.
    ///
    /// - Parameter source: The source from which Hummingbird makes the context of the request.
    public init(source: ApplicationRequestContextSource) {
        connection = ClientConnection(
            peer: source.channel.remoteAddress?.ipAddress,
            certificate: ConnectionCertificate.current
        )
    }

    /// Creates the identity of a request that has not been authenticated, for a context without a Hummingbird source.
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
