// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import HummingbirdRealms
import RealmKit
import RealmTesting
import Testing

/// The requirements of `AuthRequestContext` of hummingbird-auth 2.5, which this package does not depend on.
private protocol AuthContext<Identity>: RequestContext {
    associatedtype Identity: Sendable
    var identity: Identity? { get set }
}

extension AuthContext {
    func requireIdentity() throws -> Identity {
        guard let identity else { throw HTTPError(.unauthorized) }
        return identity
    }
}

/// An authenticator as hummingbird-auth has them: it sets the identity, or leaves the one of earlier middleware.
private struct TokenAuthenticator<Context: AuthContext>: RouterMiddleware {
    let identities: [String: Context.Identity]

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        let found = request.headers[.userAgent].flatMap { identities[$0] }
        if let found { context.identity = found }
        return try await next(request, context)
    }
}

private struct IdentityRemover<Context: AuthContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.identity = nil
        return try await next(request, context)
    }
}

private struct SharedContext: RealmRequestContext, AuthContext {
    var coreContext: CoreRequestContextStorage
    var authentication: RealmAuthentication

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        authentication = RealmAuthentication(source: source)
    }
}

private struct ContextWithIdentity: RealmRequestContext, AuthContext {
    var coreContext: CoreRequestContextStorage
    var authentication: RealmAuthentication
    var identity: Int?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        authentication = RealmAuthentication(source: source)
    }
}

@Suite struct IdentityTests {
    @Test func `the identity of hummingbird-auth is the user of a realm, or the one that another authenticator sets`()
        async throws
    {
        let fixture = try await RealmsFixture()
        let other = SignedInUser(realm: "tokens", username: try Username("robot"), groups: ["Staff"])
        let router = Router(context: SharedContext.self)
        router.add(middleware: try RealmAuthenticator(fixture.realms))
        router.add(middleware: TokenAuthenticator(identities: ["t": other]))
        router.get("/") { _, context in try context.requireIdentity().username.text }
        router.get("/session") { _, context in context.session == nil ? "none" : "one" }
        router.group("staff").add(middleware: RequireGroup("Staff")).get { _, _ in "staff" }
        router.group("crew").add(middleware: RequireGroup("Crew")).get { _, _ in "crew" }
        router.group("again").add(middleware: try RealmAuthenticator(fixture.realms))
            .get { _, context in context.identity?.username.text ?? "nobody" }
        let application = Application(router: router)
        #expect(try await application.send(.get, "/").status == 401)
        #expect(try await application.send(.get, "/", basic("ann")).text == "ann")
        #expect(try await application.send(.get, "/", [.userAgent: "t"]).text == "robot")
        #expect(try await application.send(.get, "/session", [.userAgent: "t"]).text == "none")
        #expect(try await application.send(.get, "/staff", [.userAgent: "t"]).text == "staff")
        #expect(try await application.send(.get, "/crew", [.userAgent: "t"]).status == 403)
        #expect(try await application.send(.get, "/crew", basic("ann")).status == 403)
        // The last authenticator decides.
        #expect(try await application.send(.get, "/again", [.userAgent: "t"]).text == "nobody")
        #expect(try await application.send(.get, "/again", basic("ann")).text == "ann")
    }

    @Test func `a context may have an identity of its own type beside the user of a realm`() async throws {
        let fixture = try await RealmsFixture()
        let router = Router(context: ContextWithIdentity.self)
        router.add(middleware: try RealmAuthenticator(fixture.realms))
        router.add(middleware: TokenAuthenticator(identities: ["t": 7]))
        router.get("/") { _, context in "\(context.user?.username.text ?? "nobody") \(context.identity ?? 0)" }
        let application = Application(router: router)
        #expect(try await application.send(.get, "/", [.userAgent: "t"]).text == "nobody 7")
        #expect(try await application.send(.get, "/", basic("ann")).text == "ann 0")
    }

    @Test func `a removed identity is no user, and the route returns its challenge`() async throws {
        let fixture = try await RealmsFixture()
        let router = Router(context: SharedContext.self)
        router.add(middleware: try RealmAuthenticator(fixture.realms))
        router.add(middleware: IdentityRemover())
        router.group("user").add(middleware: RequireUser()).get { _, _ in "user" }
        let answer = try await Application(router: router).send(.get, "/user", basic("ann"))
        #expect(answer.status == 401)
        #expect(answer.headers[values: .wwwAuthenticate].count == 2)
    }
}
