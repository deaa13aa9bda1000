// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of the brand, the icon and the scripts of the pages.
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

    @Test func `the icon is cached for a day, and the pages load only assets of the server`() async throws {
        let client = try plain()
        let icon = try await client.get("/gatehouse.svg")
        #expect(
            icon.status == 200 && icon["content-type"] == "image/svg+xml" && icon["cache-control"] == "max-age=86400"
        )
        let page = try await client.get("/sign-in")
        let loaded = page.body.split(separator: "<").filter { $0.hasPrefix("link ") || $0.hasPrefix("script ") }
        #expect(
            loaded.map { $0.prefix { $0 != ">" } } == [
                "link rel=\"icon\" href=\"/gatehouse.svg\"", "link rel=\"stylesheet\" href=\"/style.css\"",
                "script src=\"/sign-in.js\" data-prefix=\"\" defer",
            ]
        )
    }

    @Test func `scripts are allowed only on pages that load one`() async throws {
        let client = try plain()
        let policies = try await ["/sign-in", "/nothing"].map { target in
            try await client.get(target)["content-security-policy"] ?? ""
        }
        #expect(policies[0].contains("script-src 'self';") && !policies[0].contains("connect-src"))
        #expect(!policies[1].contains("script-src"))
        for policy in policies { #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe")) }
    }

    @Test func `every page is shorter than 2 KiB`() async throws {
        let client = try plain()
        let target = String(repeating: "a", count: 200)
        var pages = try await ["/sign-in?return=/zed/\(target)", "/nothing"].map { try await client.get($0).body }
        pages.append(try await client.follow(try await client.signIn("bob", at: "/sign-in?return=/zed")).body)
        _ = try await client.signIn("zack")
        pages += try await ["/", "/welcome", "/account", "/zed", "/sign-in"].map { try await client.get($0).body }
        for page in pages { #expect(page.utf8.count < 2048, "\(page.utf8.count): \(page)") }
    }
}

extension Array {
    fileprivate func map<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
