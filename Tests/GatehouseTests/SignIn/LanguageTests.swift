// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AccessControl
@testable import RealmConfiguration
@testable import Sessions
@testable import SignIn

/// Tests of the languages of the pages.
@Suite struct LanguageTests {
    private static let rules = """
        default-realm town;
        login town { StartWithLoginModule required; }
        login twice { StartWithLoginModule required; ScriptedLoginModule required code="123456"; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        realm twice { class StartWithRealm; jaas-context twice; startWith t; }
        protect /welcome { auth form; require any; application "Wiki"; }
        protect /zed     { auth form; require user zoe; }
        protect /twice   { realm twice; auth form; require any; application Vault; }

        """

    private func client(_ settings: String = "", files: [String: String] = [:]) throws -> TestClient {
        let text = Self.rules + "server { listen 127.0.0.1:0; sign-in { \(settings) } }"
        return TestClient(try TestServer(text, files: files.mapValues { Array($0.utf8) }))
    }

    private func page(_ client: TestClient, _ target: String, in language: String?) async throws -> ParsedResponse {
        var fields = ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: same-origin", "Accept: text/html"]
        if let language { fields.append("Accept-Language: \(language)") }
        return try await client.send("GET", target, fields)
    }

    @Test(arguments: [
        ("de-DE,de;q=0.9,en;q=0.8", "de", "Anmelden bei Wiki"), ("fr", "fr", "Se connecter à Wiki"),
        ("en", "en", "Sign in to Wiki"), ("es", "en", "Sign in to Wiki"), (nil, "en", "Sign in to Wiki"),
    ])
    func `the sign-in page is in the language of the browser`(
        asked: String?,
        language: String,
        title: String
    )
        async throws
    {
        let page = try await page(client(), "/sign-in?return=/welcome", in: asked)
        #expect(page.body.contains("<html lang=\"\(language)\" dir=\"ltr\">"))
        #expect(page.body.contains("<h1>\(title)</h1>"))
        #expect(page["vary"]?.contains("Accept-Language") == true)
    }

    @Test func `no English text is left on the pages of a session in another language`() async throws {
        let client = try client()
        _ = try await client.signIn("zed")
        for target in ["/welcome", "/account", "/zed", "/nothing", "/", "/sign-in"] {
            let page = try await page(client, target, in: "de")
            #expect(page.body.contains("<html lang=\"de\""), "\(target)")
            for word in ["Sign", "session", "Group", "Signed", " page", "Help", "Error", "User name", "Welcome"] {
                #expect(!page.body.contains(">\(word)"), "\(target): \(word)")
            }
        }
    }

    @Test func `one session gets its page in the language of each request`() async throws {
        let client = try client()
        _ = try await client.signIn("zed")
        // The responses of a session are cached, so each language is requested twice.
        for (language, text) in [("de", "Willkommen zed"), ("en", "Welcome zed"), ("de", "Willkommen zed")] {
            #expect(try await page(client, "/welcome", in: language).body.contains("<h1>\(text)</h1>"))
        }
    }

    @Test func `the text for other programs has the language of the request, and English without one`() async throws {
        let client = try client()
        #expect(try await client.send("GET", "/nothing", ["Accept-Language: fr"]).body.hasPrefix("Cette page n’existe"))
        #expect(try await client.send("GET", "/nothing", []).body.hasPrefix("This page does not exist."))
    }

    @Test func `the first of the languages is for browsers that ask for none of them`() async throws {
        let client = try client("languages fr en;")
        #expect(try await page(client, "/sign-in", in: "de").body.contains("<html lang=\"fr\""))
        #expect(try await page(client, "/sign-in", in: "en").body.contains("<html lang=\"en\""))
    }

    @Test func `a language of a file is escaped, and may be written from right to left`() async throws {
        let file = "direction rtl; password \"<b>&\"; sign-in-to \"{application} <i>\"; show-password \"</script>\";"
        let client = try client("translation ar ar.conf;", files: ["ar.conf": file])
        let page = try await page(client, "/sign-in?return=/welcome", in: "ar")
        #expect(page.body.contains("<html lang=\"ar\" dir=\"rtl\">"))
        #expect(page.body.contains(">&lt;b&gt;&amp;</label>") && page.body.contains("<h1>Wiki &lt;i&gt;</h1>"))
        #expect(!page.body.contains("<i>") && !page.body.contains("<b>"))
    }

    @Test func `a script has its texts in the language of the browser`() async throws {
        let client = try client()
        let text = "\"close\":\"Schließen\""
        let script = try await page(client, "/session.js", in: "de")
        #expect(script.body.contains(text) && !script.body.contains("TEXTS"))
        #expect(script["vary"] == "Accept-Language")
        #expect(try await !page(client, "/session.js", in: "en").body.contains(text))
    }

    @Test func `the script of the sign-in form has its texts in the language of the page, and its own digest`()
        async throws
    {
        let client = try client()
        let text = "\"show-password\":\"Passwort anzeigen\""
        let (german, english) = (
            try await page(client, "/sign-in", in: "de"), try await page(client, "/sign-in", in: "en")
        )
        #expect(german.body.contains(text) && !german.body.contains("TEXTS") && !english.body.contains(text))
        #expect(german["vary"]?.contains("Accept-Language") == true)
        #expect(german["content-security-policy"] != english["content-security-policy"])
    }

    @Test func `every text that a script or a template names exists`() throws {
        let names = Set(MessageKey.allCases.map(\.rawValue))
        let scripts: [(source: [UInt8], keys: [MessageKey])] = [
            (PackageResources.session_js, MessageKey.ofSessionScript),
            (PackageResources.sign_in_js, MessageKey.ofFormScript),
        ]
        for script in scripts {
            let source = String(decoding: script.source, as: UTF8.self)
            for match in source.matches(of: /texts(?:\.([a-z]+)|\["([a-z-]+)"\])/) {
                let name = String(match.1 ?? match.2 ?? "")
                guard name != "language" else { continue }
                #expect(script.keys.contains { $0.rawValue == name }, "\(name)")
            }
        }
        let folder = URL(filePath: #filePath).appending(path: "../../../../Sources/Web/SignIn").standardized
        let sources = try ["Rendering/PageTemplate.swift", "Pages/SignIn+SignOutPage.swift"].map { name in
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        let used = sources.flatMap { $0.matches(of: /\{\{text\.([a-z-]+)\}\}/) }
        #expect(used.count > 10)
        for match in used { #expect(names.contains(String(match.1)), "\(match.1)") }
    }

    @Test func `every cause of an end has a text`() {
        for cause in SessionEndCause.allCases {
            #expect(MessageKey(rawValue: "ended-\(cause.rawValue)") != nil, "\(cause)")
        }
    }

    @Test func `the standard prompt for a code is translated, and the texts of a wrong code, too`() async throws {
        let client = try client()
        let form = try await client.signIn("tom", at: "/sign-in?return=/twice")
        let page = try await page(client, try #require(form.location), in: "de")
        #expect(page.body.contains("<h1>Noch ein Schritt</h1>") && page.body.contains("Anmeldung bei Vault als tom."))
        #expect(page.body.contains(">Einmalcode</label>"))
        let number = try #require(page.input("number"))
        let answer = try await client.post("/sign-in/step?return=/twice", [("number", number), ("answer-0", "0")])
        let again = try await self.page(client, try #require(answer.location), in: "fr")
        #expect(again.body.contains("<title>Erreur\u{A0}: Encore une étape - Gatehouse</title>"))
        #expect(again.body.contains("Ce code n’a pas été accepté."))
    }

    @Test func `a browser that sends too much gets a page that says what to do`() async throws {
        let server = try client().server
        let path = String(repeating: "a", count: 20_000)
        let long = try ParsedResponse(try await server.bytes("GET /\(path) HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(long.status == 414 && long.body.contains("<h1>The address is too long</h1>"))
        let cookies = String(repeating: "a", count: 40_000)
        let large = try ParsedResponse(
            try await server.bytes("GET / HTTP/1.1\r\nHost: a\r\nCookie: \(cookies)\r\n\r\n")
        )
        #expect(large.status == 431 && large.body.contains("Delete the cookies of this site"))
        for page in [long, large] {
            #expect(page["content-type"] == "text/html; charset=utf-8" && page.body.contains("<html lang=\"en\""))
        }
    }

    @Test func `a request that was not read gets its page in the first language, because its fields are unknown`()
        async throws
    {
        let server = try client("languages fr en;").server
        let request = "GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: a\r\nAccept-Language: en\r\n\r\n"
        let page = try ParsedResponse(try await server.bytes(request))
        #expect(page.status == 414 && page.body.contains("<html lang=\"fr\""))
        #expect(page.body.contains("<h1>\(Translation.french[.addressTooLong])</h1>"))
    }

    @Test func `a program that sends an invalid request gets text`() async throws {
        let response = try ParsedResponse(try await client().server.bytes("GET / HTTP/1.1\r\n\r\n"))
        #expect(response.status == 400 && response["content-type"] == "text/plain; charset=utf-8")
    }
}
