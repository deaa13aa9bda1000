// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of the title of the sign-in page: the application that a user signs in to.
@Suite struct ApplicationNameTests {
    private static let realms = """
        default-realm town;
        login town  { StartWithLoginModule required; }
        login twice { StartWithLoginModule required; ScriptedLoginModule required code="123456"; }
        realm town  { class StartWithRealm; jaas-context town; startWith z; }
        realm twice { class StartWithRealm; jaas-context twice; startWith t; }

        """
    private static let oneHost =
        realms + """
            server { listen 127.0.0.1:0; sign-in { return-to https://app.example:8443 https://b.example; } }
            protect /wiki    { auth form; require any; application "Wiki & <b>Notes</b>"; }
            protect /plain   { auth form; require any; }
            protect /twice   { realm twice; auth form; require any; application Vault; }
            protect /inner   { auth form; require any; networks 10.0.0.0/8; application Secret; }
            """
    private static let signInHost =
        realms + """
            server { listen 127.0.0.1:0; trusted-proxies 10.0.0.1; sign-in { host auth.example; prefix /gatehouse; } }
            protect wiki.example/     { auth form; require any; application Wiki; }
            protect wiki.example/shop { auth form; require any; }
            protect *.below.test/     { auth form; require any; }
            """

    private func heading(_ page: String) throws -> (title: String, heading: String) {
        (try text(of: "title", in: page), try text(of: "h1", in: page))
    }

    private func text(of element: String, in page: String) throws -> String {
        let start = try #require(page.firstRange(of: "<\(element)>"), "\(page)")
        let end = try #require(page.firstRange(of: "</\(element)>"))
        return String(page[start.upperBound..<end.lowerBound])
    }

    @Test(arguments: [
        ("/sign-in", "Sign in"), ("/sign-in?return=/plain", "Sign in"), ("/sign-in?return=/nothing", "Sign in"),
        ("/sign-in?return=/wiki/a%3Fb", "Sign in to Wiki &amp; &lt;b&gt;Notes&lt;/b&gt;"),
        ("/sign-in?return=https://app.example:8443/", "Sign in to app.example:8443"),
        ("/sign-in?return=https://b.example/x", "Sign in to b.example"),
        // The rule does not apply to the address of the client.
        ("/sign-in?return=/inner", "Sign in"),
        // These targets are not allowed.
        ("/sign-in?return=https://evil.example/", "Sign in"), ("/sign-in?return=//evil.example/wiki", "Sign in"),
        ("/sign-in?return=https://app.example/", "Sign in"), ("/sign-in?return=Your%20Bank", "Sign in"),
        ("/sign-in?application=Evil", "Sign in"),
    ])
    func `the title names the application of the rule or the other host`(target: String, title: String) async throws {
        let page = try await TestClient(try TestServer(Self.oneHost)).get(target)
        #expect(try heading(page.body) == ("\(title) - Gatehouse", title))
    }

    @Test(arguments: [
        ("https://wiki.example/a", "Sign in to Wiki"), ("https://wiki.example/shop", "Sign in to wiki.example"),
        ("https://x.below.test/", "Sign in to x.below.test"), ("https://below.test/", "Sign in"),
        ("https://wiki.example.evil.example/", "Sign in"), ("https://wiki.example@evil.example/", "Sign in"),
        ("https://wiki.example:8443/", "Sign in"),
    ])
    func `the page of the sign-in host names the application or host of the target`(
        target: String,
        title: String
    )
        async throws
    {
        let client = TestClient(try TestServer(Self.signInHost), at: "auth.example")
        let page = try await client.get("/gatehouse/sign-in?return=\(target)")
        #expect(try heading(page.body) == ("\(title) - Gatehouse", title))
    }

    @Test func `the name of an application is in the language of the page, also on the page with a question`()
        async throws
    {
        let translated = "application Vault; application de \"Tresor <1>\";"
        let rules = Self.oneHost.replacing("application Vault;", with: translated)
        let client = TestClient(try TestServer(rules))
        func page(_ target: String, _ language: String) async throws -> String {
            try await client.send("GET", target, ["Accept: text/html", "Accept-Language: \(language)"]).body
        }
        for (language, title) in [("de", "Anmelden bei Tresor &lt;1&gt;"), ("fr", "Se connecter à Vault")] {
            #expect(try heading(try await page("/sign-in?return=/twice", language)).heading == title)
        }
        let step = try #require(try await client.signIn("tom", at: "/sign-in?return=/twice").location)
        #expect(try await page(step, "de").contains("Anmeldung bei Tresor &lt;1&gt; als tom."))
        #expect(try await page(step, "en").contains("Signing in to Vault as tom."))
    }

    @Test func `after a rejection the title begins with Error, and the fields are marked as invalid`() async throws {
        let client = TestClient(try TestServer(Self.oneHost))
        let title = "Sign in to Wiki &amp; &lt;b&gt;Notes&lt;/b&gt;"
        let first = try await client.get("/sign-in?return=/wiki")
        #expect(try heading(first.body) == ("\(title) - Gatehouse", title))
        #expect(!first.body.contains("aria-invalid"))
        let page = try await client.follow(try await client.signIn("bob", at: "/sign-in?return=/wiki"))
        #expect(try heading(page.body) == ("Error: \(title) - Gatehouse", title))
        let fields = page.body.split(separator: "<input ").filter { $0.contains("required") }
        #expect(fields.count == 2)
        for field in fields {
            #expect(field.contains("aria-invalid=\"true\"") && field.contains("aria-describedby=\"notice\""))
        }
    }

    @Test func `after a sign-out the title does not report an error`() async throws {
        let page = try await TestClient(try TestServer(Self.oneHost)).get("/sign-in?notice=signed-out")
        #expect(page.body.contains("You have signed out."))
        #expect(try heading(page.body) == ("Sign in - Gatehouse", "Sign in"))
        #expect(!page.body.contains("aria-invalid"))
    }

    @Test func `the page with a question names the application, and reports a wrong code in its title`() async throws {
        let client = TestClient(try TestServer(Self.oneHost))
        let page = try await client.follow(try await client.signIn("tom", at: "/sign-in?return=/twice"))
        #expect(page.body.contains("Signing in to Vault as tom."))
        #expect(try heading(page.body) == ("One more step - Gatehouse", "One more step"))
        #expect(!page.body.contains("aria-invalid"))
        let number = try #require(page.input("number"))
        let form = [("number", number), ("answer-0", "000000")]
        let again = try await client.follow(try await client.post("/sign-in/step?return=/twice", form))
        #expect(try heading(again.body) == ("Error: One more step - Gatehouse", "One more step"))
        let field = try #require(again.body.split(separator: "<input ").first { $0.contains("required") })
        #expect(field.contains("aria-invalid=\"true\"") && field.contains("aria-describedby=\"notice\""))
    }
}
