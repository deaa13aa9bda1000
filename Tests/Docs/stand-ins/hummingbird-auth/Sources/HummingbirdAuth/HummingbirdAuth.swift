// SPDX-License-Identifier: Apache-2.0

import Hummingbird

// The declarations are those of hummingbird-auth 2.5; the bodies are ours.

/// A request context with an identity.
public protocol AuthRequestContext<Identity>: RequestContext {
    /// The type of the identity.
    associatedtype Identity: Sendable

    /// The identity; nil if the request is not authenticated.
    var identity: Identity? { get set }
}

extension AuthRequestContext {
    /// Returns the identity, or throws 401.
    public func requireIdentity() throws -> Identity {
        if let identity { return identity }
        throw HTTPError(.unauthorized)
    }
}

/// Middleware that authenticates requests.
public protocol AuthenticatorMiddleware: RouterMiddleware where Context: AuthRequestContext<Identity> {
    /// The type of the identity.
    associatedtype Identity: Sendable

    /// Returns the identity; nil leaves that of earlier middleware.
    func authenticate(request: Request, context: Context) async throws -> Identity?
}

extension AuthenticatorMiddleware {
    /// Stores the identity, and passes the request on.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.identity = try await authenticate(request: request, context: context) ?? context.identity
        return try await next(request, context)
    }
}
