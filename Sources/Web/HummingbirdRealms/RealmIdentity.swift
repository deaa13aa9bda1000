// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
public import Hummingbird
internal import NIOCore

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

    /// Creates the identity of a request that has not been authenticated, with the peer address and the client certificate
    /// of its connection.
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
    public init(peer: String?) {
        connection = ClientConnection(peer: peer, certificate: nil)
    }

    /// The error for a request that no middleware has checked.
    ///
    /// If an application forgets the middleware, routes that require a user fail with 500. They are not open.
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
