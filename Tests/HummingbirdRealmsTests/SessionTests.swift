// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import Logging
import RealmKit
import RealmsWithoutStore
import Store
import Testing

@testable import HummingbirdRealms
@testable import SignIn

@Suite struct SessionTests {
    @Test func `realms that no application uses any more are freed, with their tables and locks`() async throws {
        var fixture: RealmsFixture? = try await RealmsFixture()
        weak let refresher = fixture?.realms.service.refresher
        weak let sessions = fixture?.realms.service.sessions
        #expect(refresher != nil && sessions != nil)
        fixture = nil
        #expect(refresher == nil && sessions == nil)
    }

    @Test func `a session gives access until it ends`() async throws {
        let fixture = try await RealmsFixture()
        let application = try fixture.application()
        let cookie = try await fixture.signIn("ann", at: application)
        let answer = try await application.send(.get, "/staff", [.cookie: cookie])
        #expect(answer.text == "staff")
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(try await application.send(.get, "/user", [.cookie: "a=b; \(cookie)"]).text == "ann")
        #expect(try await application.send(.delete, "/session", [.cookie: cookie]).status == 204)
        #expect(try await application.send(.get, "/staff", [.cookie: cookie]).status == 401)
        #expect(try await application.send(.get, "/", [.cookie: cookie]).text == "hello stranger")
    }

    @Test func `a session of one host is not valid at another host`() async throws {
        let fixture = try await RealmsFixture(rules: "protect / { auth form; require any; }")
        for application in [try fixture.application(), fixture.ruled()] {
            let cookie = try await fixture.signIn("ann", at: application)
            #expect(try await application.send(.get, "/user", [.cookie: cookie]).text == "ann")
            #expect(try await application.send(.get, "/user", [.cookie: cookie], host: "LOCALHOST.:99").text == "ann")
            for host in ["www.example", "localhost.example", "127.0.0.1", "", "a b"] {
                let answer = try await application.send(.get, "/user", [.cookie: cookie], host: host)
                #expect([302, 400, 401].contains(answer.status), "\(host)")
                let end = try await application.send(.delete, "/session", [.cookie: cookie], host: host)
                #expect(end.status == 404, "\(host)")
            }
            #expect(try await application.send(.get, "/user", [.cookie: cookie]).text == "ann")
        }
    }

    @Test func `a repeated or altered session cookie is not valid`() async throws {
        let fixture = try await RealmsFixture()
        let application = try fixture.application()
        let cookie = try await fixture.signIn("ann", at: application)
        #expect(try await application.send(.get, "/user", [.cookie: "\(cookie); \(cookie)"]).status == 401)
        #expect(try await application.send(.get, "/user", [.cookie: "\(cookie)x"]).status == 401)
    }

    @Test func `a removed user is signed out`() async throws {
        let fixture = try await RealmsFixture()
        let application = try fixture.application()
        let ann = try await fixture.signIn("ann", at: application)
        let ben = try await fixture.signIn("ben", at: application)
        await fixture.refresh()
        #expect(try await application.send(.get, "/user", [.cookie: ben]).text == "ben")
        try await fixture.remove("ben")
        await fixture.refresh()
        #expect(try await application.send(.get, "/user", [.cookie: ben]).status == 401)
        #expect(try await application.send(.get, "/user", basic("ben")).status == 401)
        #expect(try await application.send(.get, "/user", [.cookie: ann]).text == "ann")
    }

    @Test func `requests from pages of other sites cannot change anything`() async throws {
        let fixture = try await RealmsFixture()
        let application = try fixture.application()
        let cookie = try await fixture.signIn("ann", at: application)
        let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
        let strange: [HTTPFields] = [
            [.cookie: cookie, .origin: "https://evil.example"], [.cookie: cookie, .origin: "http://localhost"],
            [.cookie: cookie, .origin: "null"], [.cookie: cookie, site: "cross-site"],
            [.cookie: cookie, site: "same-site"],
        ]
        for headers in strange {
            #expect(try await application.send(.post, "/user", headers).status == 403)
            // GET changes nothing, and the other site cannot read the answer.
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

    @Test func `the context and the session API have the same CSRF token`() async throws {
        let fixture = try await RealmsFixture()
        let router = Router(context: RealmsFixture.Context.self)
        router.add(middleware: SignInPages(fixture.realms))
        router.add(middleware: try RealmAuthenticator(fixture.realms))
        router.get("/proof") { request, context in
            context.isCSRFToken(request.uri.queryParameters.get("is")) ? "right" : context.csrfToken ?? "none"
        }
        let application = Application(router: router)
        let cookie = try await fixture.signIn("ann", at: application)
        let proof = try await application.send(.get, "/proof", [.cookie: cookie]).text
        let session = try await application.send(.get, "/session", [.cookie: cookie]).text
        #expect(session.contains("\"csrf\":\"\(proof)\"") || session.contains("\"csrf\": \"\(proof)\""))
        #expect(try await application.send(.get, "/proof?is=\(proof)", [.cookie: cookie]).text == "right")
        let other = try await fixture.signIn("ann", at: application)
        #expect(try await application.send(.get, "/proof?is=\(proof)", [.cookie: other]).text != "right")
        #expect(try await application.send(.get, "/proof?is=\(proof)").text == "none")
        #expect(try await application.send(.get, "/proof?is=\(proof)", basic("ann")).text == "none")
    }

    @Test func `without a store, sessions end with the program, and no database is made`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-storeless-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = """
            login open { StartWithLoginModule required; }
            realm zoo { class StartWithRealm; jaas-context open; startWith z; }
            server { listen 127.0.0.1:0; state state; }
            """
        let file = folder.appending(path: "realms.conf")
        try Data(text.utf8).write(to: file)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        func application(_ state: ProgramState?) async throws -> Application<RouterResponder<RealmsFixture.Context>> {
            let realms = try await Realms(file.path, kinds: realmsWithoutStore, state: state, logger: logger)
            let router = Router(context: RealmsFixture.Context.self)
            router.add(middleware: SignInPages(realms))
            router.add(middleware: try RealmAuthenticator(realms))
            router.get("/") { _, context in context.session == nil ? "nobody" : "somebody" }
            return Application(router: router)
        }
        func signIn(_ application: Application<RouterResponder<RealmsFixture.Context>>) async throws -> String {
            let body = #"{"username": "zed", "password": "any"}"#
            let answer = try await application.send(.post, "/session", [.contentType: "application/json"], body: body)
            return try #require(answer.cookie)
        }
        let first = try await application(nil)
        let cookie = try await signIn(first)
        #expect(try await first.send(.get, "/", [.cookie: cookie]).text == "somebody")
        #expect(try await application(nil).send(.get, "/", [.cookie: cookie]).text == "nobody")
        let database = folder.appending(path: "state/gatehouse.sqlite").path
        #expect(!FileManager.default.fileExists(atPath: database))

        var stored = try await signIn(try await application(.store))
        #expect(FileManager.default.fileExists(atPath: database))
        #expect(try await application(.store).send(.get, "/", [.cookie: stored]).text == "somebody")
        stored.removeLast()
        #expect(try await application(.store).send(.get, "/", [.cookie: stored]).text == "nobody")
    }
}
