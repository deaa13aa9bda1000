// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Sessions
import Testing

@testable import SignIn

@Suite struct SessionAPITests {
    private let clock = ManualClock(now: 1_000_000_000_000)
    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(SignInTests.configuration, clock: clock)
        client = TestClient(server)
    }

    private func begin(_ name: String = "zed", at client: TestClient? = nil) async throws -> ParsedResponse {
        try await (client ?? self.client).fetch(
            "POST",
            "/session",
            json: "{\"username\":\"\(name)\",\"password\":\"x\"}"
        )
    }

    @Test func `the API begins, shows, refreshes and ends a session`() async throws {
        let begun = try await begin()
        #expect(begun.status == 201)
        #expect(begun["content-type"] == "application/json")
        #expect(begun["cache-control"] == "no-store")
        #expect(begun.json("user") == "zed" && begun.json("realm") == "town")
        let id = try #require(begun.json("id"))
        #expect(begun.json("idle_expires_at") == "1800002800")
        #expect(begun.json("absolute_expires_at") == "1800044200")
        #expect(begun.json("warn_at") == "1800002680")
        clock.advance(by: .seconds(100))
        let shown = try await client.fetch("GET", "/session")
        #expect(shown.status == 200 && shown.json("id") == id)
        // `POST /session/refresh` postpones the idle end. `GET /session` does not.
        #expect(shown.json("idle_expires_at") == "1800002800")
        #expect(shown.json("now") == "1800001100")
        let refreshed = try await client.fetch("POST", "/session/refresh")
        #expect(refreshed.json("idle_expires_at") == "1800002900")
        #expect(refreshed.json("absolute_expires_at") == "1800044200")
        #expect(try await client.fetch("DELETE", "/session").status == 204)
        #expect(client[TestClient.session] == nil)
        #expect(try await client.fetch("DELETE", "/session").status == 404)
        #expect(try await client.fetch("GET", "/session").status == 401)
    }

    @Test func `a client with two session cookies gets one instead of both`() async throws {
        // A script of the host has set a partitioned cookie.
        let fields = [
            "Content-Type: application/json", "Sec-Fetch-Site: same-origin",
            "Cookie: __Host-gatehouse=a; __Host-gatehouse=b",
        ]
        let json = "{\"username\":\"zed\",\"password\":\"x\"}"
        let begun = try await client.send("POST", "/session", fields, body: json)
        let cookies = begun.all("set-cookie")
        #expect(begun.status == 201 && cookies.count == 3)
        // A response without the removal would leave the client without a session.
        #expect(
            cookies.first == "__Host-gatehouse=; Path=/; Secure; HttpOnly; SameSite=None; Partitioned; Max-Age=0"
        )
        #expect(cookies.dropFirst().first?.hasPrefix("__Host-gatehouse=") == true)
        #expect(try await begin().all("set-cookie").count == 3)
        #expect(try await begin(at: TestClient(server)).all("set-cookie").count == 2)
    }

    @Test func `every 401 has a challenge`() async throws {
        for (method, target) in [
            ("GET", "/session"), ("POST", "/session/refresh"), ("GET", "/sessions"), ("GET", "/account"),
        ] {
            let answer = try await client.fetch(method, target)
            #expect(answer.status == 401)
            #expect(answer["www-authenticate"]?.hasPrefix("Cookie realm=\"town\"") == true)
        }
    }

    @Test func `a further question is returned as JSON, and the next request contains the answer`() async throws {
        let begun = try await client.fetch(
            "POST",
            "/session",
            json: "{\"username\":\"tom\",\"password\":\"x\",\"realm\":\"twice\"}"
        )
        #expect(begun.status == 200)
        #expect(begun.body.contains("\"questions\":[{\"prompt\":\"One-time code\",\"type\":\"one-time-code\"}]"))
        let number = try #require(begun.json("number"))
        #expect(try await client.fetch("GET", "/session").status == 401)
        #expect(
            try await client.fetch("POST", "/session", json: "{\"number\":99,\"answers\":[\"123456\"]}").status == 409
        )
        let done = try await client.fetch("POST", "/session", json: "{\"number\":\(number),\"answers\":[\"123456\"]}")
        #expect(done.status == 201 && done.json("realm") == "twice")
        #expect(
            try await client.fetch("POST", "/session", json: "{\"number\":\(number),\"answers\":[\"1\"]}").status
                == 409
        )
    }

    @Test(arguments: ["[]", "[\"123456\",\"x\"]", "[\"\",\"123456\"]", "[\"123456\",\"\"]"])
    func `more or fewer answers than questions are refused, and the question stays open`(answers: String) async throws {
        let login = "{\"username\":\"tom\",\"password\":\"x\",\"realm\":\"twice\"}"
        let number = try #require(try await client.fetch("POST", "/session", json: login).json("number"))
        let refused = try await client.fetch("POST", "/session", json: "{\"number\":\(number),\"answers\":\(answers)}")
        #expect(refused.status == 400 && refused.json("error") == "malformed")
        #expect(refused.json("reason") == "not one answer for each question (1)")
        let form = [("number", number), ("answer-0", "123456")]
        #expect(try await client.post("/session", form + [("answer-1", "x")]).status == 400)
        #expect(try await client.post("/session", form).status == 201)
    }

    @Test func `a message before a question is one of the questions, and has an answer`() async throws {
        let text = """
            default-realm port;
            login port { GreetingLoginModule required; }
            realm port { class PortRealm; }
            server { listen 127.0.0.1:0; }
            protect / { auth form; require any; }
            """
        let kind = RealmKind(PortRealm.self, modules: GreetingLoginModule.self)
        let client = TestClient(try TestServer(text, clock: clock, kinds: [kind]))
        let asked = try await client.fetch("POST", "/session", json: "{\"username\":\"ann\",\"password\":\"x\"}")
        #expect(asked.body.contains("\"questions\":[{\"text\":\"Hello\",\"type\":\"message\"},{\"prompt\""))
        let number = try #require(asked.json("number"))
        for (answers, status) in [("[\"123456\"]", 400), ("[\"\",\"123456\"]", 201)] {
            let json = "{\"number\":\(number),\"answers\":\(answers)}"
            #expect(try await client.fetch("POST", "/session", json: json).status == status)
        }
    }

    @Test func `a refused login returns an error code and nothing else`() async throws {
        let wrong = [try await begin("bob"), try await begin("nobody"), try await begin("z\\u0007")]
        for answer in wrong {
            #expect(answer.status == 401)
            #expect(answer.body == "{\"error\":\"invalid-credentials\"}\n")
            #expect(client[TestClient.session] == nil)
        }
        let down = "{\"username\":\"zed\",\"password\":\"x\",\"realm\":\"down\"}"
        let answer = try await client.fetch("POST", "/session", json: down)
        #expect(answer.status == 503 && answer["retry-after"] != nil)
        let unknown = "{\"username\":\"zed\",\"password\":\"x\",\"realm\":\"nowhere\"}"
        // The response does not reveal whether the realm exists, and no refused login ends the client's session.
        _ = try await begin()
        #expect(try await begin("bob").status == 401)
        #expect(try await client.fetch("POST", "/session", json: down).status == 503)
        #expect(try await client.fetch("POST", "/session", json: unknown).status == 401)
        #expect(try await client.fetch("GET", "/session").status == 200)
        for realm in ["inner", "twice\u{301}"] {
            let body = "{\"username\":\"zed\",\"password\":\"x\",\"realm\":\"\(realm)\"}"
            #expect(try await client.fetch("POST", "/session", json: body).status == 401)
        }
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"username\":1}", "{\"password\":\"x\"}", "{\"username\":\"zed\"", "null",
        "{\"username\":\"zed\"}", "{\"username\":\"zed\",\"username\":\"zoe\",\"password\":\"x\"}",
        "{\"answers\":[\"1\"]}",
        "{\"number\":1.5,\"answers\":[]}", "{\"number\":-1,\"answers\":[]}", "{\"username\":{\"a\":\"b\"}}",
        "{\"username\":\"zed\",\"password\":\"x\",\"realm\":[\"town\"]}",
        "{\"username\":\"zed\",\"password\":\"x\",\"realm\":null}",
        "{\"username\":\"zed\",\"password\":\"x\",\"realm\":1}",
    ])
    func `a malformed or unexpected body is refused`(body: String) async throws {
        let answer = try await client.fetch("POST", "/session", json: body)
        #expect(answer.status == 400)
        #expect(answer.json("error") == "malformed")
        #expect(server.sessions.count == 0)
    }

    @Test func `a form is accepted, and other media types are refused`() async throws {
        let form = try await client.post("/session", [("username", "zed"), ("password", "x")])
        #expect(form.status == 201)
        for type in ["text/plain", "multipart/form-data; boundary=x", "application/xml"] {
            let body = "{\"username\":\"zed\",\"password\":\"x\"}"
            #expect(try await client.send("POST", "/session", ["Content-Type: \(type)"], body: body).status == 415)
        }
    }

    @Test func `users list and end their own sessions only`() async throws {
        let (second, stranger) = (TestClient(server), TestClient(server))
        let first = try #require(try await begin().json("id"))
        let other = try #require(try await begin(at: second).json("id"))
        let foreign = try #require(try await begin("zoe", at: stranger).json("id"))
        let list = try await client.fetch("GET", "/sessions").body
        #expect(list.contains(first) && list.contains(other) && !list.contains(foreign))
        for id in [foreign, "x", "", String(repeating: "A", count: 22), "..", "a%2fb"] where !id.isEmpty {
            let answer = try await client.fetch("DELETE", "/sessions/\(id)")
            #expect([400, 404].contains(answer.status), "\(id)")
        }
        #expect(try await stranger.fetch("GET", "/session").status == 200)
        #expect(try await client.fetch("DELETE", "/sessions/\(other)").status == 204)
        #expect(try await second.fetch("GET", "/session").status == 401)
        #expect(try await client.fetch("DELETE", "/sessions/\(first)").status == 204)
        #expect(client[TestClient.session] == nil)
        #expect(try await client.fetch("GET", "/session").status == 401)
    }

    @Test func `the account page ends one session, or all sessions except its own`() async throws {
        let others = [TestClient(server), TestClient(server), TestClient(server)]
        _ = try await begin()
        for other in others { _ = try await begin(at: other) }
        let stranger = TestClient(server)
        _ = try await begin("zoe", at: stranger)
        let page = try await client.get("/account")
        let csrf = try #require(page.input("csrf"))
        let id = try #require(page.input("id"))
        #expect(try await client.post("/account/end", [("id", id)]).status == 400)
        #expect(server.sessions.count == 5)
        #expect(try await client.post("/account/end", [("csrf", csrf), ("id", id)]).status == 303)
        #expect(server.sessions.count == 4)
        #expect(try await client.post("/account/end", [("csrf", csrf), ("others", "all")]).status == 303)
        #expect(server.sessions.count == 2)
        #expect(try await client.get("/account").status == 200)
        #expect(try await stranger.get("/account").status == 200)
    }

    @Test func `a session expires after its idle time and after its absolute time`() async throws {
        _ = try await begin()
        clock.advance(by: .seconds(1799))
        #expect(try await client.get("/welcome").status == 200)
        clock.advance(by: .seconds(1800))
        #expect(try await client.get("/welcome").status == 302)
        _ = try await begin()
        for _ in 0..<43 {
            clock.advance(by: .seconds(1000))
            #expect(try await client.get("/welcome").status == 200)
        }
        clock.advance(by: .seconds(200))
        #expect(try await client.get("/welcome").status == 302)
    }

    @Test func `CVE-2026-25748: a malformed or repeated cookie authenticates no user`() async throws {
        _ = try await begin()
        let token = try #require(client[TestClient.session])
        client[TestClient.session] = nil
        let fetch = ["Sec-Fetch-Mode: cors"]
        for cookie in [
            "__Host-gatehouse=", "__Host-gatehouse=\(token)x", "__Host-gatehouse=\(token.dropLast())",
            "__Host-gatehouse=\"\(token)\"", "__host-gatehouse=\(token)", "gatehouse=\(token)",
            "__Host-gatehouse=\(token); __Host-gatehouse=\(token)", "__Host-gatehouse=\(token);__Host-gatehouse=x",
            "__Host-gatehouse=%\(token)", "__Host-gatehouse =\(token)", String(repeating: "A", count: 43),
        ] {
            #expect(try await client.send("GET", "/welcome", fetch + ["Cookie: \(cookie)"]).status == 401, "\(cookie)")
        }
        let twice = fetch + ["Cookie: __Host-gatehouse=\(token)", "Cookie: __Host-gatehouse=\(token)"]
        #expect(try await client.send("GET", "/welcome", twice).status == 401)
        #expect(server.log.text.contains("session-cookie-repeated"))
        let good = fetch + ["Cookie: a=b; __Host-gatehouse=\(token)", "Cookie: c=d"]
        #expect(try await client.send("GET", "/welcome", good).status == 200)
    }

    @Test func `an event stream ends with its session, or is refused if the session has ended`() async throws {
        _ = try await begin()
        let text = try #require(client[TestClient.session])
        let token = try #require(OpaqueToken(text.utf8Span.span) as OpaqueToken?)
        let host = try #require(SessionHost(client.host))
        let session = try #require(server.sessions.session(token, at: host, isActivity: false))
        let server = server
        let client = client
        async let stream = client.fetch("GET", "/session/events")
        // The message and the end may come before or after the stream begins.
        server.sessions.send("Hello <you>", to: session)
        try await server.sessions.end(session, cause: .administrator)
        let answer = try await stream
        if answer.status == 200 {
            #expect(answer["content-type"] == "text/event-stream; charset=utf-8")
            #expect(answer["x-accel-buffering"] == "no")
            #expect(answer.body.contains("event: ended\ndata: {\"cause\":\"administrator\"}"))
        } else {
            // The session ended before the stream began.
            #expect(answer.status == 401 || answer.status == 429)
        }
    }
}

private struct PortRealm: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "port")]
    let jaasContext: String
    var authType: String { "Port" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
}

/// Shows a message, and then asks for a code.
private struct GreetingLoginModule: LoginModule {
    init(realm: PortRealm, options: ModuleOptions) throws(BadModule) {}

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        _ = try await attempt.ask([.message("Hello")])
        let code = try await attempt.oneTimeCode()
        return code.isEqual(to: Secret(utf8: "123456")) ? attempt.commit() : .failed(.wrongCredentials)
    }
}
