// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import HTTPTypes
import Testing

@testable import ChatSite

@Suite struct ChatSiteTests {
    private func browser() async throws -> Browser {
        let room = Room { 1000 }
        return try await Browser(Browser.configuration()) { try makeRouter($0, room) }
    }

    private static func proof(_ page: String) throws -> String {
        let rest = try #require(page.split(separator: "data-proof=\"").dropFirst().first)
        return String(rest.prefix { $0 != "\"" })
    }

    private static func fields(_ cookie: String, _ proof: String?) throws -> HTTPFields {
        var fields: HTTPFields = [.cookie: cookie, .contentType: "application/json"]
        fields[try #require(HTTPField.Name("X-Form-Proof"))] = proof
        return fields
    }

    @Test func `who is nobody is sent to the sign-in page, and hears and says nothing`() async throws {
        let browser = try await browser()
        #expect(try await browser.send(.get, "/", [.accept: "text/html"]).headers[.location] == "/sign-in?return=/")
        #expect(try await browser.send(.get, "/messages").status == 401)
        #expect(try await browser.send(.post, "/messages", body: #"{"text": "x"}"#).status == 401)
        #expect(try await browser.send(.get, "/chat.js").headers[.contentType] == "text/javascript; charset=utf-8")
        #expect(try await browser.send(.get, "/chat.css").status == 200)
    }

    @Test func `the page has no script within and shows a name as it is`() async throws {
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

    @Test func `what one says another hears, with a proof only`() async throws {
        let browser = try await browser()
        let (zed, zoe) = (try await browser.signIn("zed"), try await browser.signIn("zoe"))
        let proof = try Self.proof(try await browser.send(.get, "/", [.cookie: zed]).text)
        let strange = try Self.proof(try await browser.send(.get, "/", [.cookie: zoe]).text)
        let body = #"{"text": "<b>good</b>\u2028day"}"#
        try await browser.listen("/messages", [.cookie: zoe]) { stream in
            #expect(await stream.read(until: "retry: 3000\n\n") == "retry: 3000\n\n")
            for wrong in [nil, "", strange, proof + "0"] {
                #expect(try await browser.send(.post, "/messages", Self.fields(zed, wrong), body: body).status == 403)
            }
            var other = try Self.fields(zed, proof)
            other[.origin] = "https://evil.example"
            #expect(try await browser.send(.post, "/messages", other, body: body).status == 403)
            #expect(try await browser.send(.post, "/messages", Self.fields(zed, proof), body: body).status == 201)
            let event = await stream.read(until: "\n\n")
            let data = try #require(event.split(separator: "\n").last?.dropFirst("data: ".count))
            #expect(event.hasPrefix("id: 1\n"))
            let message = try JSONDecoder().decode(Message.self, from: Data(data.utf8))
            #expect(message == Message(number: 1, author: "zed", text: "<b>good</b>\u{2028}day", time: 1000))
            #expect(try await browser.send(.delete, "/session", [.cookie: zoe]).status == 204)
        }
    }

    @Test func `who is signed out drops out at once`() async throws {
        let browser = try await browser()
        let cookie = try await browser.signIn("zed")
        let proof = try Self.proof(try await browser.send(.get, "/", [.cookie: cookie]).text)
        try await browser.listen("/messages", [.cookie: cookie]) { stream in
            #expect(await stream.read(until: "retry: 3000\n\n") == "retry: 3000\n\n")
            let signedOut = try await browser.send(.delete, "/session", [.cookie: cookie])
            #expect(signedOut.status == 204)
            #expect(await stream.read(until: nil) == "event: ended\ndata: {}\n\n")
        }
        let body = #"{"text": "I am still here"}"#
        #expect(try await browser.send(.post, "/messages", Self.fields(cookie, proof), body: body).status == 401)
        #expect(try await browser.send(.get, "/messages", [.cookie: cookie]).status == 401)
    }

    @Test(arguments: [
        ("{}", 400), ("[", 400), (#"{"text": ""}"#, 422), (#"{"text": "a\u0000"}"#, 422), (#"{"text": 1}"#, 400),
    ])
    func `what is no message is refused`(body: String, status: Int) async throws {
        let browser = try await browser()
        let cookie = try await browser.signIn("zed")
        let proof = try Self.proof(try await browser.send(.get, "/", [.cookie: cookie]).text)
        var fields = try Self.fields(cookie, proof)
        #expect(try await browser.send(.post, "/messages", fields, body: body).status == status)
        let long = String(repeating: "x", count: 10_000)
        #expect(try await browser.send(.post, "/messages", fields, body: #"{"text": "\#(long)"}"#).status == 413)
        fields[.contentType] = "text/plain"
        #expect(try await browser.send(.post, "/messages", fields, body: body).status == 415)
    }

    @Test func `too many at once are told how long to wait`() async throws {
        let browser = try await browser()
        let cookie = try await browser.signIn("zed")
        let proof = try Self.proof(try await browser.send(.get, "/", [.cookie: cookie]).text)
        let fields = try Self.fields(cookie, proof)
        for _ in 0..<Int(Room.burst) {
            #expect(try await browser.send(.post, "/messages", fields, body: #"{"text": "x"}"#).status == 201)
        }
        let answer = try await browser.send(.post, "/messages", fields, body: #"{"text": "x"}"#)
        #expect(answer.status == 429)
        #expect(answer.headers[.retryAfter] == "2")
    }
}
