// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import OpenSSLKit
import Testing

@testable import AccessControl
@testable import RealmConfiguration
@testable import SignIn

/// Tests of the brand of the pages, and of what they load.
@Suite struct BrandTests {
    private static let rules = """
        default-realm town;
        login town { StartWithLoginModule required; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        protect /welcome { auth form; require any; }
        protect /zed     { auth form; require user zed; }

        """
    private static let brand = #"""
        server { listen 127.0.0.1:0; sign-in { brand {
            name "ACME <Ltd>"; message "Only for staff & <guests>."; footer "ACME <House>, Rome";
            help-link "https://help.example/?a=1&b=2"; logo logo.image;
        } } }
        """#
    private static let svg = #"<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>"#
    private static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)

    private func branded(_ logo: [UInt8] = Array(svg.utf8)) throws -> TestClient {
        let text = Self.rules + Self.brand
        return TestClient(try TestServer(text, files: ["logo.image": logo]))
    }

    private func plain() throws -> TestClient {
        TestClient(try TestServer(Self.rules + "server { listen 127.0.0.1:0; }"))
    }

    @Test func `every page shows the name, the footer, the help link and the logo of the brand, escaped`() async throws
    {
        let client = try branded()
        _ = try await client.signIn("zed")
        for target in ["/sign-in", "/", "/welcome", "/account", "/nothing"] {
            let page = try await client.get(target)
            #expect(page.body.contains("ACME &lt;Ltd&gt;</title>"), "\(target)")
            #expect(page.body.contains("<footer>ACME &lt;Ltd&gt;<br>ACME &lt;House&gt;, Rome<br>"), "\(target)")
            #expect(page.body.contains("<a href=\"https://help.example/?a=1&amp;b=2\">Help</a>"), "\(target)")
            #expect(page.body.contains("<img class=\"logo\" src=\"/logo\" alt=\"ACME &lt;Ltd&gt;\">"), "\(target)")
            #expect(!page.body.contains("Gatehouse"), "\(target)")
        }
    }

    @Test func `the message is on the sign-in page only`() async throws {
        let client = try branded()
        let message = "<p>Only for staff &amp; &lt;guests&gt;.</p>"
        let page = try await client.get("/sign-in")
        let place = try #require(page.body.firstRange(of: message))
        let form = try #require(page.body.firstRange(of: "<form"))
        #expect(place.upperBound < form.lowerBound)
        #expect(try await !client.get("/nothing").body.contains(message))
    }

    @Test func `the texts of the brand are in the language of the page`() async throws {
        let brand = #"""
            server { listen 127.0.0.1:0; sign-in { brand {
                message "Staff only."; message de "Nur für <Personal>."; footer "Rome"; footer fr "Paris";
                help-link https://a.example/; help-link fr https://a.example/fr; help-text "Desk"; help-text de "Hilfe & Rat";
            } } }
            """#
        let client = TestClient(try TestServer(Self.rules + brand))
        func page(_ language: String, _ target: String = "/sign-in") async throws -> String {
            try await client.send("GET", target, ["Accept: text/html", "Accept-Language: \(language)"]).body
        }
        for target in ["/sign-in", "/nothing", "/sign-in"] {
            let pages = try await ["en", "de", "fr"].map { try await page($0, target) }
            let footers = pages.map { $0.split(separator: "<footer>").last?.split(separator: "</footer>").first ?? "" }
            #expect(
                footers == [
                    "Gatehouse<br>Rome<br><a href=\"https://a.example/\">Desk</a>",
                    "Gatehouse<br>Rome<br><a href=\"https://a.example/\">Hilfe &amp; Rat</a>",
                    "Gatehouse<br>Paris<br><a href=\"https://a.example/fr\">Desk</a>",
                ]
            )
        }
        #expect(try await page("fr").contains("<p>Staff only.</p>"))
        #expect(try await page("de-AT").contains("<p>Nur für &lt;Personal&gt;.</p>"))
    }

    @Test func `without a brand the pages show Gatehouse and no logo`() async throws {
        let page = try await plain().get("/sign-in")
        #expect(page.body.contains("<title>Sign in - Gatehouse</title>"))
        #expect(page.body.contains("<footer>Gatehouse</footer>"))
        #expect(!page.body.contains("<img"))
    }

    @Test func `the index has the name of the brand once in its title`() async throws {
        #expect(try await branded().get("/").body.contains("<title>ACME &lt;Ltd&gt;</title>"))
        #expect(try await plain().get("/").body.contains("<title>Gatehouse</title>"))
    }

    @Test func `an SVG logo can run no script and load nothing, also if it is opened as a page`() async throws {
        let logo = try await branded().get("/logo")
        #expect(logo.status == 200 && logo.body == Self.svg)
        #expect(logo["content-type"] == "image/svg+xml")
        #expect(logo["x-content-type-options"] == "nosniff")
        #expect(
            logo["content-security-policy"]
                == "default-src 'none'; style-src 'unsafe-inline'; sandbox; form-action 'none'; "
                + "frame-ancestors 'none'; base-uri 'none'"
        )
    }

    @Test func `the type of a logo is that of its content`() async throws {
        // The client reads a body as text, so the bytes of the response are compared by their number.
        let logo = try await branded(Self.png).get("/logo")
        #expect(logo["content-type"] == "image/png")
        #expect(logo["content-length"] == "16")
    }

    @Test func `without a logo, its path belongs to the application`() async throws {
        let text = Self.rules + "server { listen 127.0.0.1:0; } protect /logo { auth basic; require any; }"
        #expect(try await TestClient(try TestServer(text)).get("/logo").status == 401)
        #expect(try await plain().get("/logo").status == 404)
        #expect(try await branded().post("/logo", []).status == 405)
    }

    @Test func `the sign-in page needs one further request, for the style sheet`() async throws {
        let page = try await plain().get("/sign-in")
        let loaded = page.body.split(separator: "<").filter { element in
            ["link ", "script ", "img ", "iframe "].contains { element.hasPrefix($0) }
        }
        #expect(loaded.count == 2)
        #expect(loaded.first?.hasPrefix("link rel=\"icon\" href=\"data:image/svg+xml,%3Csvg%20xmlns") == true)
        #expect(loaded.last?.hasPrefix("link rel=\"stylesheet\" href=\"/style.css\">") == true)
        let style = try await plain().get("/style.css")
        #expect(style["cache-control"] == "max-age=3600" && !style.body.contains("url("))
        #expect(!style.body.contains("@import"))
        // The brand can add a logo.
        #expect(try await branded().get("/sign-in").body.contains("<img class=\"logo\" src=\"/logo\""))
    }

    @Test func `the icon of a page is a drawing`() throws {
        let start = "data:image/svg+xml,"
        #expect(PageIcon.url.hasPrefix(start))
        let icon = try #require(PageIcon.url.dropFirst(start.count).description.removingPercentEncoding)
        #expect(icon.utf8.elementsEqual(PackageResources.icon_svg))
        #expect(SignInBrand.Logo(Array(icon.utf8))?.format == .svg)
    }

    @Test func `each page allows only the script that it has`() async throws {
        let client = try plain()
        _ = try await client.signIn("zed")
        for target in ["/sign-in", "/account", "/nothing"] {
            let page = try await client.get(target)
            let policy = try #require(page["content-security-policy"])
            #expect(policy.contains("default-src 'none'; style-src 'self'; img-src 'self' data:;"), "\(target)")
            #expect(!policy.contains("unsafe"), "\(target)")
            let rest = page.body.split(separator: "<script", maxSplits: 1).dropFirst().first
            switch target {
            case "/account":
                #expect(rest?.hasPrefix(" src=\"/session.js\" data-prefix=\"\" defer></script>") == true)
                #expect(policy.contains("script-src 'self'; connect-src 'self';"))
            case "/nothing": #expect(rest == nil && !policy.contains("script-src"))
            default:
                let script = try #require(rest?.firstRange(of: "</script>").map { rest?[..<$0.lowerBound] })
                let digest = try Digest.sha256(Array((script ?? "").dropFirst().utf8)).withBytes {
                    Base64.padded.encode($0)
                }
                // A file of the host, which may be a file of an application, is not allowed.
                #expect(policy.contains("script-src 'sha256-\(digest)';") && !policy.contains("connect-src"))
            }
        }
    }

    @Test(arguments: Translations.builtIn)
    func `the script within the page cannot end before its end`(translation: Translation) throws {
        let script = try InlineScript(ofFormIn: translation).text
        #expect(script.hasPrefix("\"use strict\";\n(() => {") && script.hasSuffix("})();"))
        #expect(!script.contains("<") && !script.contains("//"))
        #expect(script.contains("caps-lock-on") && !script.contains("TEXTS"))
    }

    @Test func `every page is shorter than 2 KiB, and the script within the sign-in page, too`() async throws {
        let client = try plain()
        let target = String(repeating: "a", count: 200)
        var pages = try await ["/sign-in?return=/zed/\(target)", "/nothing"].map { try await client.get($0).body }
        pages.append(try await client.follow(try await client.signIn("bob", at: "/sign-in?return=/zed")).body)
        _ = try await client.signIn("zack")
        pages += try await ["/", "/welcome", "/account", "/zed", "/sign-in"].map { try await client.get($0).body }
        for page in pages {
            let parts = page.split(separator: "<script>", maxSplits: 1).flatMap {
                $0.split(separator: "</script>", maxSplits: 1)
            }
            for part in parts { #expect(part.utf8.count < 2048, "\(part.utf8.count): \(part)") }
        }
    }
}

extension Array {
    fileprivate func map<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
