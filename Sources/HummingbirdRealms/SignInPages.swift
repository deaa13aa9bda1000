// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Gatehouse
public import Hummingbird

/// Serves the sign-in page, the account page and the session API, and hands on what is none of them.
///
/// It goes before everything that refuses requests, and is added to the router itself: its paths are no routes. With
/// `sign-in { prefix /gatehouse; }` they are below a path of their own.
public struct SignInPages<Context: RealmRequestContext>: RouterMiddleware {
    private let realms: Realms

    /// The pages of a configuration.
    ///
    /// - Parameter realms: The realms.
    public init(_ realms: Realms) {
        self.realms = realms
    }

    /// Answers a request, or hands it on.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let answer = await realms.desk.page(request, peer: context.identity.peer, logger: context.logger)
        guard var response = answer else { return try await next(request, context) }
        // What has no length is a stream of events.
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
