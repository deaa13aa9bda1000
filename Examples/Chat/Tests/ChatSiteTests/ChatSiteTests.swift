// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Testing

@testable import ChatSite

@Suite struct ChatSiteTests {
    private func browser() async throws -> Browser {
        let room = Room { 1000 }
        return try await Browser(Browser.configuration()) { try makeRouter($0, room) }
    }

    private static func csrfToken(_ page: String) throws -> String {
        let rest = try #require(page.split(separator: "data-csrf-token=\"").dropFirst().first)
        return String(rest.prefix { $0 != "\"" })
    }

    private static func fields(_ cookie: String, _ csrfToken: String?) throws -> HTTPFields {
        var fields: HTTPFields = [.cookie: cookie, .contentType: "application/json"]
        fields[try #require(HTTPField.Name("X-CSRF-Token"))] = csrfToken
        return fields
    }

    @Test func `without a session there is a redirect to the sign-in page, and messages are refused`() async throws {
        let browser = try await browser()
        #expect(try await browser.send(.get, "/", [.accept: "text/html"]).headers[.location] == "/sign-in?return=/")
        #expect(try await browser.send(.get, "/messages").status == 401)
        #expect(try await browser.send(.post, "/messages", body: #"{"text": "x"}"#).status == 401)
        #expect(try await browser.send(.get, "/chat.js").headers[.contentType] == "text/javascript; charset=utf-8")
        #expect(try await browser.send(.get, "/chat.css").status == 200)
    }

    @Test func `the page has no inline script, and escapes the user name`() async throws {
        let browser = try await browser()
        let cookie = try await browser.signIn("z<script>&")
        let page = try await browser.send(.get, "/", [.cookie: cookie])
        #expect(page.text.contains("z&lt;script&gt;&amp;"))
        #expect(page.text.split(separator: "<script").count == 2)
        #expect(page.text.contains("<script src=\"/chat.js\" defer></script>"))
        #expect(!page.text.contains("style="))
        let policy = try #require(page.headers[.contentSecurityPolicy])
        #expect(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'"))
        #expect(!policy.contains("unsafe"))
        #expect(page.headers[.cacheControl] == "no-store")
    }

    @Test func `a message needs a CSRF token, and reaches the other users`() async throws {
        let browser = try await browser()
        let (zed, zoe) = (try await browser.signIn("zed"), try await browser.signIn("zoe"))
        let csrfToken = try Self.csrfToken(try await browser.send(.get, "/", [.cookie: zed]).text)
        let strange = try Self.csrfToken(try await browser.send(.get, "/", [.cookie: zoe]).text)
        let body = #"{"text": "<b>good</b>\u2028day"}"#
        try await browser.listen("/messages", [.cookie: zoe]) { stream in
            #expect(await stream.read(until: "retry: 3000\n\n") == "retry: 3000\n\n")
            for wrong in [nil, "", strange, csrfToken + "0"] {
                #expect(try await browser.send(.post, "/messages", Self.fields(zed, wrong), body: body).status == 403)
            }
            var other = try Self.fields(zed, csrfToken)
            other[.origin] = "https://evil.example"
            #expect(try await browser.send(.post, "/messages", other, body: body).status == 403)
            #expect(try await browser.send(.post, "/messages", Self.fields(zed, csrfToken), body: body).status == 201)
            let event = await stream.read(until: "\n\n")
            let data = try #require(event.split(separator: "\n").last?.dropFirst("data: ".count))
            #expect(event.hasPrefix("id: 1\n"))
            let message = try JSONDecoder().decode(Message.self, from: Data(data.utf8))
            #expect(message == Message(number: 1, author: "zed", text: "<b>good</b>\u{2028}day", time: 1000))
            #expect(try await browser.send(.delete, "/session", [.cookie: zoe]).status == 204)
        }
    }

    @Test func `a sign-out ends the event stream at once`() async throws {
        let browser = try await browser()
        let cookie = try await browser.signIn("zed")
        let csrfToken = try Self.csrfToken(try await browser.send(.get, "/", [.cookie: cookie]).text)
        try await browser.listen("/messages", [.cookie: cookie]) { stream in
            #expect(await stream.read(until: "retry: 3000\n\n") == "retry: 3000\n\n")
            let signedOut = try await browser.send(.delete, "/session", [.cookie: cookie])
            #expect(signedOut.status == 204)
            #expect(await stream.read(until: nil) == "event: ended\ndata: {}\n\n")
        }
        let body = #"{"text": "I am still here"}"#
        #expect(try await browser.send(.post, "/messages", Self.fields(cookie, csrfToken), body: body).status == 401)
        #expect(try await browser.send(.get, "/messages", [.cookie: cookie]).status == 401)
    }

    @Test(arguments: [
        ("{}", 400), ("[", 400), (#"{"text": ""}"#, 422), (#"{"text": "a\u0000"}"#, 422), (#"{"text": 1}"#, 400),
    ])
    func `an invalid message is refused`(body: String, status: Int) async throws {
        let browser = try await browser()
        let cookie = try await browser.signIn("zed")
        let csrfToken = try Self.csrfToken(try await browser.send(.get, "/", [.cookie: cookie]).text)
        var fields = try Self.fields(cookie, csrfToken)
        #expect(try await browser.send(.post, "/messages", fields, body: body).status == status)
        let long = String(repeating: "x", count: 10_000)
        #expect(try await browser.send(.post, "/messages", fields, body: #"{"text": "\#(long)"}"#).status == 413)
        fields[.contentType] = "text/plain"
        #expect(try await browser.send(.post, "/messages", fields, body: body).status == 415)
    }

    @Test func `a user who posts too fast gets 429 with Retry-After`() async throws {
        let browser = try await browser()
        let cookie = try await browser.signIn("zed")
        let csrfToken = try Self.csrfToken(try await browser.send(.get, "/", [.cookie: cookie]).text)
        let fields = try Self.fields(cookie, csrfToken)
        for _ in 0..<Int(Room.burst) {
            #expect(try await browser.send(.post, "/messages", fields, body: #"{"text": "x"}"#).status == 201)
        }
        let answer = try await browser.send(.post, "/messages", fields, body: #"{"text": "x"}"#)
        #expect(answer.status == 429)
        #expect(answer.headers[.retryAfter] == "2")
    }
}
