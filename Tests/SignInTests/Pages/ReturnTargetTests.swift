// SPDX-License-Identifier: Apache-2.0

import AccessControl
import RealmConfiguration
import SeededRandom
import Testing

@testable import SignIn

@Suite struct ReturnTargetTests {
    private static let own = SignInSettings.Origin(host: "auth.example.com", port: 443)

    private static let settings: SignInSettings = {
        var settings = SignInSettings()
        settings.returnTo = [.init(host: "app.example.com", port: 8443), .init(host: "[2001:db8::1]", port: 443)]
        return settings
    }()

    private func location(_ text: String, prefix: String = "", own: SignInSettings.Origin = own) -> String? {
        var settings = Self.settings
        settings.prefix = prefix
        return ReturnTarget(text, at: own, settings)?.location
    }

    @Test(
        arguments: [
            ("/", "/"), ("/welcome", "/welcome"), ("/welcome/", "/welcome/"), ("/a/b?c=d&e", "/a/b?c=d&e"),
            ("/?", "/?"),
            ("/a?b?c/../d;e", "/a?b?c/../d;e"), ("/%7Euser/%41", "/~user/A"), ("/a%20b", "/a%20b"),
            ("/%c3%a9", "/%C3%A9"), ("/a[1]", "/a%5B1%5D"), ("/a:b@c", "/a:b@c"), ("/:80", "/:80"),
            ("/a?x=%0d%0a", "/a?x=%0d%0a"), ("/a?\"<\\>", "/a?%22%3C%5C%3E"),
            // A query may contain another URL.
            ("/login?to=https://evil.example/x", "/login?to=https://evil.example/x"), ("/a?//evil", "/a?//evil"),
            ("/a?b=https://ok@evil&c=//h", "/a?b=https://ok@evil&c=//h"),
        ]
    )
    func `a return path is rebuilt from its parts`(target: String, expected: String) {
        #expect(location(target) == expected)
    }

    @Test(
        arguments: [
            ("https://auth.example.com", "/"), ("https://auth.example.com/a?b", "/a?b"),
            ("HTTPS://AUTH.Example.COM/A", "/A"), ("https://auth.example.com:443/a", "/a"),
            ("https://auth.example.com?b=c", "/?b=c"),
            ("https://app.example.com:8443/x", "https://app.example.com:8443/x"),
            ("https://APP.example.com:8443", "https://app.example.com:8443/"),
            ("https://app.example.com:8443?q=https://e/", "https://app.example.com:8443/?q=https://e/"),
            ("https://[2001:DB8::1]/x", "https://[2001:db8::1]/x"),
        ]
    )
    func `a URL of an allowed origin is a valid return target`(target: String, expected: String) {
        #expect(location(target) == expected)
    }

    @Test(
        arguments: [
            // Browsers read a host in these targets.
            "//h", "/\\h", "\\\\h", "\\/h", "/%09/h", "/\t/h", "\t//h", "/\n/h", "/\r\n/h", " //h", "/ /h", "///h",
            "/a/../\\h", "/a/..//h", "/./\\h", "/.//h", "/..//h", "/%2e%2e//h", "/%2Fh", "/%5Ch", "/%5c%5ch", "/a//h",
            "/;/h", "/a;b", "/a\\b", "/\u{B}/h", "/\u{0}", "/%00", "/%0d%0aLocation:x", "/a\r\nSet-Cookie: x",
            "/\u{7F}",
            "/é", "/%ff", "/a#b", "/a?b#c", "#", "/%", "/%4", "/%zz",
            // Other schemes, and invalid spellings of https.
            "http://auth.example.com/", "https:h", "https:/h", "https:\\\\h", "https:///h",
            "https:////auth.example.com",
            "https:\\auth.example.com", "https:/auth.example.com", "https:auth.example.com/x",
            "ftp://auth.example.com/",
            "javascript:alert(1)", "JavaScript://auth.example.com/%0aalert(1)", "data:text/html,x", "vbscript:x",
            "ht\ttps://auth.example.com/", "\u{1}https://auth.example.com/", " https://auth.example.com/", "https//x",
            // Hosts that resemble the allowed hosts.
            "https://evil", "https://ok@evil", "https://auth.example.com@evil/", "https://auth.example.com:x@evil/",
            "https://x@auth.example.com/", "https://@auth.example.com/", "https://:@auth.example.com/",
            "https://auth.example.com\\@evil/", "https://auth.example.com\\.evil/", "https://auth.example.com.evil/",
            "https://evil.auth.example.com/", "https://auth.example.com./", "https://auth.example.com.:443/",
            "https://auth%2eexample.com/", "https://%61uth.example.com/", "https://auth.example.com%2f@evil/",
            "https://auth.example.com%00.evil/", "https://auth.example.com;evil/", "https://auth.example.com,evil/",
            "https://auth.example.com#@evil/", "https://auth.example.com\t.evil/", "https://аuth.example.com/",
            "https://auth。example.com/", "https://", "https://?", "https://:443/", "https://[::1/", "https://[]/",
            "https://[2001:db8::1]evil/", "https://[2001:db8::1]@evil/", "https://[2001:db8::1%25eth0]/",
            // Other ports and invalid ports.
            "https://auth.example.com:8443/", "https://auth.example.com:/", "https://auth.example.com:0443/",
            "https://auth.example.com:+443/", "https://auth.example.com:443x/", "https://auth.example.com:65979/",
            "https://auth.example.com:4294967739/", "https://auth.example.com:443:443/", "https://app.example.com/",
            "https://app.example.com:443/", "https://auth.example.com:-1/",
            // An allowed origin with an invalid path.
            "https://app.example.com:8443//h", "https://app.example.com:8443/../h", "https://app.example.com:8443/a\\h",
            // Texts that are not a path or a URL.
            "", "welcome", "?a", "*", ".", "..", "./a", "@evil", ":80", "auth.example.com/welcome",
        ]
    )
    func `CVE-2026-28512: return targets at other sites and malformed targets are rejected`(target: String) {
        #expect(location(target) == nil)
    }

    @Test(
        arguments: [
            "/sign-in", "/sign-in/", "/sign-in?x", "/sign-out", "/session", "/session/events", "/%73ign-in",
            "https://auth.example.com/sign-in",
        ]
    )
    func `sign-in pages are not valid return targets`(target: String) {
        #expect(location(target) == nil)
        // With a prefix these paths belong to other pages.
        #expect(location(target, prefix: "/gate")?.hasPrefix("/s") == true)
        #expect(location(target, prefix: "/gate") != nil)
    }

    @Test(arguments: [
        ("/gate/sign-in", false), ("/gate/sign-ins", true), ("/gate", true),
        ("/gate/x/sign-in", true),
    ])
    func `with a prefix only the pages below it count as sign-in pages`(target: String, isGood: Bool) {
        #expect((location(target, prefix: "/gate") != nil) == isGood)
    }

    @Test func `paths of sign-in pages are valid return targets at another origin`() {
        #expect(location("https://app.example.com:8443/session") == "https://app.example.com:8443/session")
    }

    @Test func `a return target that is too long before or after rebuilding is rejected`() {
        #expect(location("/" + String(repeating: "a", count: 2047)) != nil)
        #expect(location("/" + String(repeating: "a", count: 2048)) == nil)
        #expect(location("/?" + String(repeating: "\"", count: 682)) != nil)
        #expect(location("/?" + String(repeating: "\"", count: 683)) == nil)
    }

    @Test func `a host with a trailing dot is not a valid return target`() {
        let own = SignInSettings.Origin(host: "auth.example.com.", port: 443)
        #expect(location("https://auth.example.com./a", own: own) == nil)
        #expect(location("/a", own: own) == "/a")
    }

    @Test func `an origin with another port is another origin`() {
        let own = SignInSettings.Origin(host: "Auth.example.com", port: 9443)
        #expect(location("https://auth.example.com:9443/a", own: own) == "/a")
        #expect(location("https://auth.example.com/a", own: own) == nil)
    }

    /// Returns the authority to which a browser resolves a location by the URL Standard; nil if it is not `https`.
    private func destination(_ location: String) -> String? {
        var text = location.unicodeScalars.filter { !["\t", "\n", "\r"].contains($0) }.map(String.init).joined()
        text = String(text.drop { $0.unicodeScalars.allSatisfy { $0.value <= 0x20 } })
        let isSlash = { (character: Character) in character == "/" || character == "\\" }
        if let colon = text.firstIndex(of: ":"), text[..<colon].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "+" }),
            text.first?.isLetter == true
        {
            guard text[..<colon].lowercased() == "https" else { return nil }
            text = "//" + text[text.index(after: colon)...].drop(while: isSlash)
        }
        guard text.count >= 2, text.prefix(2).allSatisfy(isSlash) else { return "auth.example.com" }
        let authority = text.drop(while: isSlash).prefix { !isSlash($0) && $0 != "?" && $0 != "#" }
        return authority.split(separator: "@", omittingEmptySubsequences: false).last.map { $0.lowercased() }
    }

    @Test func `a browser resolves an accepted target to an allowed origin`() {
        var random = Random(seed: 1)
        let pieces = [
            "/", "\\", "//", "https:", "http:", "auth.example.com", "app.example.com", ":8443", ":443", "@", "evil",
            ".",
            "..", "%2f", "%5c", "%09", "%2e", "\t", "\n", "?", "#", "&a=b", "a", "[2001:db8::1]", " ", "é", ";", "%",
        ]
        let allowed = ["auth.example.com", "app.example.com:8443", "[2001:db8::1]"]
        var accepted = 0
        for _ in 0..<40_000 {
            let beginning = random.pick(["", "/", "https://auth.example.com", "https://app.example.com:8443"])
            let text = beginning + (0..<random.below(6)).map { _ in random.pick(pieces) }.joined()
            guard let location = location(text) else { continue }
            accepted += 1
            #expect(destination(location).map(allowed.contains) == true, "\(text.debugDescription) to \(location)")
            #expect(location.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x5C })
            #expect(self.location(location) == location)
        }
        #expect(accepted > 1000)
    }

    @Test func `a mutated target never leads to another origin`() {
        var random = Random(seed: 2)
        for _ in 0..<20_000 {
            var bytes = Array(
                random.pick(["/welcome/x?y=z", "https://auth.example.com/a", "https://app.example.com:8443/"]).utf8
            )
            for _ in 0...random.below(3) {
                let place = random.below(bytes.count)
                if random.below(2) == 0 {
                    bytes[place] = random.bytes(1)[0]
                } else {
                    bytes.insert(random.bytes(1)[0], at: place)
                }
            }
            guard let location = location(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(["auth.example.com", "app.example.com:8443"].contains(destination(location)), "\(location)")
        }
    }
}
