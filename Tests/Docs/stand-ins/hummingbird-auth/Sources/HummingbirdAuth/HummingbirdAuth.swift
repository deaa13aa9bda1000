// SPDX-License-Identifier: Apache-2.0

import Hummingbird

// The declarations are those of hummingbird-auth 2.5; the bodies are ours.

public protocol AuthRequestContext<Identity>: RequestContext {
    associatedtype Identity: Sendable

    var identity: Identity? { get set }
}

extension AuthRequestContext {
    public func requireIdentity() throws -> Identity {
        if let identity { return identity }
        throw HTTPError(.unauthorized)
    }
}

public protocol AuthenticatorMiddleware: RouterMiddleware where Context: AuthRequestContext<Identity> {
    associatedtype Identity: Sendable

    func authenticate(request: Request, context: Context) async throws -> Identity?
}

extension AuthenticatorMiddleware {
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
