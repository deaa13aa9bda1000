// SPDX-License-Identifier: Apache-2.0

public import Hummingbird

/// Serves the sign-in page, the account page and the session API, and passes other requests on.
///
/// Add it to the router, not to a route group, because the pages are not routes. Add it before all middleware that
/// denies requests. With `sign-in { prefix /gatehouse; }`, the paths of the pages begin with `/gatehouse`.
public struct SignInPages<Context: RealmRequestContext>: RouterMiddleware {
    private let realms: Realms

    /// Creates the pages of a configuration.
    ///
    /// - Parameter realms: The realms.
    public init(_ realms: Realms) { self.realms = realms }

    /// Responds to a request for one of the pages, and passes on any other request.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let answer = await realms.access.page(request, from: context.authentication.connection, logger: context.logger)
        guard var response = answer else { return try await next(request, context) }
        // Only event streams have no length.
        if response.body.contentLength == nil {
            let (body, realms) = (response.body, realms)
            response.body = ResponseBody { writer in
                async let _ = realms.closeAtShutdown()
                try await body.write(writer)
            }
        }
        return response
    }
}
