// SPDX-License-Identifier: Apache-2.0

import AccessControl
import HTTPTypes
import Hummingbird
import HummingbirdRealms
import RealmConfiguration
import RealmKit
import Testing

@Suite struct AuthenticatorTests {
    @Test func `an open route needs no user, and other routes return 401 with challenges`() async throws {
        let application = try await RealmsFixture().application()
        let open = try await application.send(.get, "/")
        #expect(open.text == "hello stranger")
        #expect(open.headers[.vary] == "Authorization, Cookie")
        #expect(open.headers[.cacheControl] == nil)
        for path in ["/user", "/staff", "/edit", "/required"] {
            let answer = try await application.send(.get, path)
            #expect(answer.status == 401)
            #expect(
                answer.headers[values: .wwwAuthenticate] == [
                    "Cookie realm=\"people\", form-action=\"/sign-in\", cookie-name=\"__Host-gatehouse\"",
                    "Basic realm=\"people\", charset=\"UTF-8\"",
                ]
            )
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }

    @Test func `a browser is redirected to the sign-in page, and the page, its style and its script are served`()
        async throws
    {
        let application = try await RealmsFixture().application()
        for (method, status) in [(HTTPRequest.Method.get, 302), (.post, 303)] {
            let headers: HTTPFields = [.accept: "text/html"]
            let answer = try await application.send(method, "/user?a=1", headers)
            #expect(answer.status == status)
            #expect(answer.headers[.location] == "/sign-in?return=/user%3Fa%3D1")
        }
        #expect(try await application.send(.get, "/sign-in?return=/user").status == 200)
        #expect(try await application.send(.get, "/style.css").headers[.contentType] == "text/css; charset=utf-8")
        #expect(try await application.send(.get, "/session.js").status == 200)
        #expect(try await application.send(.post, "/style.css").status == 405)
    }

    @Test func `Basic is accepted with the right password and refused with a wrong password`() async throws {
        let application = try await RealmsFixture().application()
        let answer = try await application.send(.get, "/user", basic("ben"))
        #expect(answer.status == 200)
        #expect(answer.text == "ben")
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(try await application.send(.get, "/user", basic("ben", "wrong")).status == 401)
        #expect(try await application.send(.get, "/", basic("ben", "wrong")).text == "hello stranger")
        #expect(try await application.send(.get, "/required", basic("ann")).text == "ann")
    }

    @Test func `a user without the required group or role gets 403 without a challenge`() async throws {
        let application = try await RealmsFixture().application()
        #expect(try await application.send(.get, "/staff", basic("ann")).text == "staff")
        #expect(try await application.send(.get, "/edit", basic("ben")).text == "edit")
        for (path, name) in [("/staff", "ben"), ("/edit", "ann")] {
            let answer = try await application.send(.get, path, basic(name))
            #expect(answer.status == 403)
            #expect(answer.headers[.wwwAuthenticate] == nil)
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }

    @Test func `middleware for an unknown role or realm cannot be created`() async throws {
        let realms = try await RealmsFixture().realms
        #expect(throws: UnknownRole.self) { try RequireRole<RealmsFixture.Context>("author", of: realms) }
        #expect(throws: RealmError.self) { try RealmAuthenticator<RealmsFixture.Context>(realms, in: ["peeple"]) }
    }

    @Test(arguments: ["Basic", "Basic !!!", "Basic YTpi, Basic YTpi", "=", "Basic YTo=x"])
    func `a malformed Authorization field gets 400 on every path`(field: String) async throws {
        let application = try await RealmsFixture().application()
        for path in ["/", "/user"] {
            #expect(try await application.send(.get, path, [.authorization: field]).status == 400)
        }
    }

    @Test func `two Authorization fields get 400`() async throws {
        let application = try await RealmsFixture().application()
        var headers = basic("ann")
        headers.append(HTTPField(name: .authorization, value: "Bearer x"))
        #expect(try await application.send(.get, "/user", headers).status == 400)
    }

    @Test func `without an authenticator a route that requires a user gets 500`() async throws {
        let router = Router(context: RealmsFixture.Context.self)
        router.group("user").add(middleware: RequireUser()).get { _, _ in "secret" }
        router.get("/required") { _, context in try context.requireUser().username.text }
        let application = Application(router: router)
        #expect(try await application.send(.get, "/user", basic("ann")).status == 500)
        #expect(try await application.send(.get, "/required", basic("ann")).status == 500)
    }

    @Test func `an authenticator accepts users of its own realms only`() async throws {
        let fixture = try await RealmsFixture()
        let router = Router(context: RealmsFixture.Context.self)
        router.add(middleware: SignInPages(fixture.realms))
        router.group("zoo").add(middleware: try RealmAuthenticator(fixture.realms, in: ["zoo"])).get { _, context in
            try context.requireUser().realm
        }
        let application = Application(router: router)
        #expect(try await application.send(.get, "/zoo", basic("zed", "")).text == "zoo")
        #expect(try await application.send(.get, "/zoo", basic("ann")).status == 401)
        let session = try await fixture.signIn("ann", at: application)
        #expect(try await application.send(.get, "/zoo", [.cookie: session]).status == 401)
    }

    @Test func `the last of two authenticators decides which realms and schemes are accepted`() async throws {
        let fixture = try await RealmsFixture()
        let router = Router(context: RealmsFixture.Context.self)
        router.add(middleware: SignInPages(fixture.realms))
        router.add(middleware: try RealmAuthenticator(fixture.realms, in: ["people", "zoo"]))
        router.get("/all") { _, context in try context.requireUser().realm }
        router.group("zoo").add(middleware: try RealmAuthenticator(fixture.realms, in: ["zoo"]))
            .get { _, context in try context.requireUser().realm }
        router.group("form").add(middleware: try RealmAuthenticator(fixture.realms, schemes: [.form]))
            .get { _, context in try context.requireUser().realm }
        let application = Application(router: router)
        let session = try await fixture.signIn("ann", at: application)
        for headers: HTTPFields in [[.cookie: session], basic("ann")] {
            #expect(try await application.send(.get, "/all", headers).text == "people")
            #expect(try await application.send(.get, "/zoo", headers).status == 401)
        }
        #expect(try await application.send(.get, "/zoo", basic("zed", "")).text == "zoo")
        #expect(try await application.send(.get, "/form", basic("ann")).status == 401)
        #expect(try await application.send(.get, "/form", [.cookie: session]).text == "people")
    }

    @Test func `Cache-Control and Vary prevent caches from sending a user's response to other users`() async throws {
        let application = try await RealmsFixture().application()
        let own = try await application.send(.get, "/own-cache", basic("ann"))
        #expect(own.headers[.cacheControl] == "private, max-age=60")
        #expect(own.headers[values: .vary] == ["Accept, COOKIE", "Authorization"])
        let shared = try await application.send(.get, "/shared", basic("ann"))
        #expect(shared.headers[values: .cacheControl] == ["no-store"])
        #expect(try await application.send(.get, "/shared").headers[.cacheControl] == "public, max-age=60")
    }
}
