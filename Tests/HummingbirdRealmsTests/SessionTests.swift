// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import HTTPTypes
import Hummingbird
import HummingbirdRealms
import Testing

@Suite struct SessionTests {
    @Test func `a session lets in until it is ended`() async throws {
        let scene = try await Scene()
        let application = try scene.application()
        let cookie = try await scene.signIn("ann", at: application)
        let answer = try await application.send(.get, "/staff", [.cookie: cookie])
        #expect(answer.text == "staff")
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(try await application.send(.get, "/user", [.cookie: "a=b; \(cookie)"]).text == "ann")
        #expect(try await application.send(.delete, "/session", [.cookie: cookie]).status == 204)
        #expect(try await application.send(.get, "/staff", [.cookie: cookie]).status == 401)
        #expect(try await application.send(.get, "/", [.cookie: cookie]).text == "hello stranger")
    }

    @Test func `a session cookie that comes twice is nobody's`() async throws {
        let scene = try await Scene()
        let application = try scene.application()
        let cookie = try await scene.signIn("ann", at: application)
        #expect(try await application.send(.get, "/user", [.cookie: "\(cookie); \(cookie)"]).status == 401)
        #expect(try await application.send(.get, "/user", [.cookie: "\(cookie)x"]).status == 401)
    }

    @Test func `who is removed is signed out`() async throws {
        let scene = try await Scene()
        let application = try scene.application()
        let ann = try await scene.signIn("ann", at: application)
        let ben = try await scene.signIn("ben", at: application)
        await scene.realms.look()
        #expect(try await application.send(.get, "/user", [.cookie: ben]).text == "ben")
        try await scene.remove("ben")
        await scene.realms.look()
        #expect(try await application.send(.get, "/user", [.cookie: ben]).status == 401)
        #expect(try await application.send(.get, "/user", basic("ben")).status == 401)
        #expect(try await application.send(.get, "/user", [.cookie: ann]).text == "ann")
    }

    @Test func `a page of another site can change nothing in somebody's name`() async throws {
        let scene = try await Scene()
        let application = try scene.application()
        let cookie = try await scene.signIn("ann", at: application)
        let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
        let strange: [HTTPFields] = [
            [.cookie: cookie, .origin: "https://evil.example"], [.cookie: cookie, .origin: "http://localhost"],
            [.cookie: cookie, .origin: "null"], [.cookie: cookie, site: "cross-site"],
            [.cookie: cookie, site: "same-site"],
        ]
        for headers in strange {
            #expect(try await application.send(.post, "/user", headers).status == 403)
            // Looking is no change, and what it shows is not shown to the other site.
            #expect(try await application.send(.get, "/user", headers).status == 200)
        }
        for headers: HTTPFields in [[.cookie: cookie, .origin: "https://localhost"], [.cookie: cookie]] {
            #expect(try await application.send(.post, "/user", headers).text == "done")
        }
        var basic = basic("ann")
        basic[.origin] = "https://evil.example"
        #expect(try await application.send(.post, "/user", basic).status == 403)
        #expect(try await application.send(.delete, "/session", strange[0]).status == 403)
    }

    @Test func `the proof of a form is that of the session API`() async throws {
        let scene = try await Scene()
        let router = Router(context: Scene.Context.self)
        router.add(middleware: SignInPages(scene.realms))
        router.add(middleware: try RealmAuthenticator(scene.realms))
        router.get("/proof") { request, context in
            context.isFormProof(request.uri.queryParameters.get("is")) ? "right" : context.formProof ?? "none"
        }
        let application = Application(router: router)
        let cookie = try await scene.signIn("ann", at: application)
        let proof = try await application.send(.get, "/proof", [.cookie: cookie]).text
        let session = try await application.send(.get, "/session", [.cookie: cookie]).text
        #expect(session.contains("\"csrf\":\"\(proof)\"") || session.contains("\"csrf\": \"\(proof)\""))
        #expect(try await application.send(.get, "/proof?is=\(proof)", [.cookie: cookie]).text == "right")
        let other = try await scene.signIn("ann", at: application)
        #expect(try await application.send(.get, "/proof?is=\(proof)", [.cookie: other]).text != "right")
        #expect(try await application.send(.get, "/proof?is=\(proof)").text == "none")
        #expect(try await application.send(.get, "/proof?is=\(proof)", basic("ann")).text == "none")
    }
}
