// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Testing

@testable import WelcomeSite

@Suite struct WelcomeSiteTests {
    private static func basic(_ name: String) -> HTTPFields {
        [.authorization: "Basic \(Data("\(name):".utf8).base64EncodedString())"]
    }

    private func browser() async throws -> Browser { try await Browser(Browser.configuration(), makeRouter) }

    @Test func `the front page is public`() async throws {
        let browser = try await browser()
        #expect(try await browser.send(.get, "/").text.contains("You are not signed in."))
        #expect(try await browser.send(.get, "/", Self.basic("zed")).text.contains("You are zed."))
    }

    @Test(arguments: [("zed", 200, 403), ("sam", 200, 200)])
    func `/welcome requires the group User, and /staff requires the group Staff`(
        name: String,
        welcome: Int,
        staff: Int
    ) async throws {
        let browser = try await browser()
        let cookie = try await browser.signIn(name)
        let answer = try await browser.send(.get, "/welcome", [.cookie: cookie])
        #expect(answer.status == welcome)
        #expect(answer.text.contains("Welcome \(name)"))
        #expect(try await browser.send(.get, "/staff", [.cookie: cookie]).status == staff)
    }

    @Test func `a request without a session is redirected to the sign-in page`() async throws {
        let browser = try await browser()
        for path in ["/welcome", "/staff", "/me"] {
            #expect(try await browser.send(.get, path).status == 401)
            #expect(try await browser.send(.get, path, Self.basic("ann")).status == 401)
            let answer = try await browser.send(.get, path, [.accept: "text/html"])
            #expect(answer.headers[.location] == "/sign-in?return=\(path)")
        }
    }

    @Test func `the response of /me is JSON`() async throws {
        let answer = try await browser().send(.get, "/me", Self.basic("sam"))
        #expect(answer.headers[.cacheControl] == "no-store")
        let me = try #require(JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any])
        #expect(me["user"] as? String == "sam")
        #expect(me["realm"] as? String == "crew")
        #expect(me["groups"] as? [String] == ["User", "Staff"])
    }

    @Test func `user names are escaped in HTML`() async throws {
        let answer = try await browser().send(.get, "/welcome", Self.basic("z<b>&\"'"))
        #expect(answer.text.contains("Welcome z&lt;b&gt;&amp;&quot;&#39;"))
    }
}
