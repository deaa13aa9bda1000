// SPDX-License-Identifier: Apache-2.0

import AccessControl
import RealmConfiguration
import RealmKit
import SeededRandom
import Sessions
import Testing

/// A realm whose groups have no case, and no blanks.
private struct SpellingRealm: GroupLookupRealm {
    static let properties: PropertySchema = [.jaasContext(default: "c")]
    let jaasContext: String
    let authType = "spelling"

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }

    func groupName(_ name: String) throws(BadValue) -> String {
        if name.contains(" ") { throw BadValue("has a blank") }
        return name.lowercased()
    }

    func existingGroups(_ names: [String]) async throws(RealmError) -> [String] { names }
}

struct RuleSettingsTests {
    private static let realms = """
        login c { PermitLoginModule required; }
        realm a { class StackRealm; jaas-context c; }
        realm b { class StackRealm; jaas-context c; }

        """

    private func rules(_ text: String) throws -> [ProtectRule] {
        try MemoryFolder(Self.realms + text).load().rules
    }

    @Test func `all settings of a rule are read`() throws {
        let rule = try #require(
            try rules(
                """
                role admin { group Admins "Power Users"; user ann; group Root; realm a b; }
                protect = App.Example.COM./x/ {
                    realm b a; auth form basic; require group User; require role admin;
                    require attribute department sales "R & D";
                    methods GET M-SEARCH; networks 10.0.0.0/8 ::1;
                }
                """
            ).first
        )
        let admin = Role(
            name: "admin",
            realms: ["a", "b"],
            groups: ["Admins", "Power Users", "Root"],
            users: ["ann"]
        )
        #expect(rule.host == .name("app.example.com"))
        #expect(rule.path == "/x" && rule.isExact)
        #expect(rule.realms == ["b", "a"])
        #expect(rule.schemes == [.form, .basic])
        #expect(
            rule.requirements == [
                .groups(["User"]), .roles([admin]), .attribute("department", values: ["sales", "R & D"]),
            ]
        )
        #expect(rule.methods == ["GET", "M-SEARCH"])
        #expect(rule.networks == [try CIDRBlock("10.0.0.0/8"), try CIDRBlock("::1")])
        #expect(rule.access == .users)
        #expect(rule.place == "etc/realms.conf:5:11")
        #expect(rule.target == "= app.example.com/x")
    }

    @Test func `roles are part of the configuration`() throws {
        let text = Self.realms + "role r { user ann; }\nprotect /a { realm a; require role r; }"
        #expect(try MemoryFolder(text).load().roles == [Role(name: "r", users: ["ann"])])
    }

    @Test func `the host of a rule is a name, an IPv4 address, a domain, or any host`() throws {
        let text = """
            protect app.example.com/ { open; }
            protect *.Example.com/ { open; }
            protect 127.0.0.1/ { open; }
            protect / { open; }
            """
        #expect(
            try rules(text).map(\.host) == [.name("app.example.com"), .below("example.com"), .name("127.0.0.1"), .any]
        )
    }

    @Test func `rules with open or nobody need no realm`() throws {
        let read = try rules("protect /public { open; }\nprotect /never { nobody; }")
        #expect(read.map(\.access) == [.open, .nobody])
        #expect(read.allSatisfy { $0.realms.isEmpty && $0.schemes.isEmpty && $0.requirements.isEmpty })
    }

    @Test func `a path may have several rules with different methods`() throws {
        let text = """
            protect /a { open; methods GET; }
            protect /a { realm a; require any; methods POST PUT; }
            protect = /a { nobody; methods GET; }
            protect h.example/a { nobody; methods GET; }
            """
        #expect(try rules(text).map(\.methods) == [["GET"], ["POST", "PUT"], ["GET"], ["GET"]])
    }

    @Test func `a rule refuses ambiguous paths unless it allows them`() throws {
        let text = """
            protect /a { open; }
            protect /b { open; ambiguous-paths allow; }
            protect /c { realm a; require any; ambiguous-paths allow; }
            protect /d { realm a; require any; ambiguous-paths refuse; }
            """
        #expect(try rules(text).map(\.ambiguousPaths) == [.refuse, .allow, .allow, .refuse])
    }

    @Test func `cors-preflights contains hosts and domains, and by default none`() throws {
        let text = "server { trusted-proxies 127.0.0.1; cors-preflights API.example.com. *.example.org; }"
        #expect(
            try MemoryFolder(text).load().server.preflightHosts == [.name("api.example.com"), .below("example.org")]
        )
        #expect(try MemoryFolder("server { }").load().server.preflightHosts == [])
    }

    @Test func `trusted-proxies contains addresses and address blocks`() throws {
        let text = "server { trusted-proxies 127.0.0.1 ::1 10.0.0.0/8; }"
        let expected = try ["127.0.0.1", "::1", "10.0.0.0/8"].map { try CIDRBlock($0) }
        #expect(try MemoryFolder(text).load().server.trustedProxies == expected)
    }

    @Test(arguments: ["", "server { }", "server { trusted-proxies none; }"])
    func `CVE-2026-40575: without trusted-proxies no proxy is trusted`(text: String) throws {
        #expect(try MemoryFolder(text).load().server.trustedProxies == [])
    }

    @Test func `X-Forwarded-Host is trusted only if forwarded-host is on`() throws {
        let proxies = "server { trusted-proxies 127.0.0.1;"
        #expect(try !MemoryFolder("\(proxies) }").load().server.trustsForwardedHost)
        #expect(try !MemoryFolder("\(proxies) forwarded-host off; }").load().server.trustsForwardedHost)
        #expect(try MemoryFolder("\(proxies) forwarded-host on; }").load().server.trustsForwardedHost)
    }

    @Test func `every setting of sessions is read`() throws {
        let text = """
            server { sessions {
                idle 1h; absolute 8h; warning 5m; per-user 3; total 2000; streams-per-session 0; streams 70;
            } }
            """
        var expected = SessionSettings()
        expected.idle = .seconds(3600)
        expected.absolute = .seconds(8 * 3600)
        expected.warning = .seconds(300)
        expected.perUser = 3
        expected.total = 2000
        expected.streamsPerSession = 0
        expected.streams = 70
        #expect(try MemoryFolder(text).load().server.sessions == expected)
        #expect(try MemoryFolder("server { sessions { } }").load().server.sessions == SessionSettings())
    }

    @Test func `if the idle limit is short, the default warning time is half of it`() throws {
        let sessions = try MemoryFolder("server { sessions { idle 1m; } }").load().server.sessions
        #expect(sessions.idle == .seconds(60) && sessions.warning == .seconds(30))
    }

    @Test func `every setting of sign-in is read`() throws {
        let text =
            Self.realms + """
                server { sign-in {
                    prefix /gatehouse/; realm b a; time 5m; waiting 7;
                    return-to https://App.example.com. https://b.example.com:8443 https://127.0.0.1:443;
                } }
                """
        let signIn = try MemoryFolder(text).load().server.signIn
        #expect(signIn.prefix == "/gatehouse")
        #expect(signIn.realms == ["b", "a"])
        #expect(signIn.time == .seconds(300) && signIn.waiting == 7)
        #expect(
            signIn.returnTo.map(\.description) == [
                "https://app.example.com", "https://b.example.com:8443", "https://127.0.0.1",
            ]
        )
        #expect(try MemoryFolder("server { sign-in { prefix /; } }").load().server.signIn == SignInSettings())
    }

    @Test func `rules and roles have a group in the spelling of their realms, and report a name that none can have`()
        throws
    {
        var folder = MemoryFolder(
            """
            login c { PermitLoginModule required; }
            login d { PermitLoginModule required; PermitLoginModule optional; }
            realm a { class StackRealm; jaas-context c; }
            realm s { class SpellingRealm; jaas-context c; assign-groups Every "one two"; group-mapping Every->Mapped; }
            realm t { class SpellingRealm; jaas-context d; }
            role one { group STAFF; realm s; }
            role all { group STAFF; user x; }
            protect /1 { realm s; require group STAFF Staff staff Every Mapped; require role one all; }
            protect /2 { realm s a; require group STAFF; }
            protect /3 { realm t; require group STAFF "one two"; }
            protect /4 { realm s; require group "a b" "one two"; }
            """
        )
        folder.kinds = [RealmKind(SpellingRealm.self)]
        let configuration = try folder.load()
        let one = Role(name: "one", realms: ["s"], groups: ["staff"])
        let all = Role(name: "all", groups: ["STAFF", "staff"], users: ["x"])
        #expect(
            configuration.rules.map(\.requirements) == [
                [.groups(["staff", "Every", "every", "Mapped", "mapped"]), .roles([one, all])],
                [.groups(["STAFF", "staff"])], [.groups(["STAFF", "staff", "one two"])],
                [.groups(["a b", "one two"])],
            ]
        )
        let texts = folder.diagnostics().filter { $0.contains("can be in") }
        #expect(texts == ["etc/realms.conf:11:37: warning: no user of realm s can be in a b, which has a blank"])
    }

    @Test func `random rules are rejected or have a normalized path and host`() throws {
        var random = Random(seed: 11)
        let places = ["/", "/a/", "= /a", "a.b/", "*.a.b/x/", "A.b./x", "a:1/", "[::1]/", "é", "/a b", ""]
        let statements = [
            "open", "nobody", "methods GET", "methods GET HEAD", "methods get", "networks ::/0", "networks",
            "require any",
            "require user ann", "require role r", "require", "realm a b", "realm a", "realm r", "auth form", "auth",
            "é", "}",
        ]
        var read = 0
        for _ in 0..<600 {
            let block = (0..<1 + random.below(3)).map { _ in random.pick(statements) + "; " }.joined()
            let text = Self.realms + "default-realm a;\nrole r { user x; }\nprotect \(random.pick(places)) { \(block)}"
            let folder = MemoryFolder(text)
            guard let configuration = try? folder.load() else { continue }
            for rule in configuration.rules {
                read += 1
                #expect(rule.path.hasPrefix("/") && (rule.path == "/" || !rule.path.hasSuffix("/")), "\(text)")
                #expect((rule.access == .users) != rule.realms.isEmpty, "\(text)")
                #expect((rule.access == .users) != rule.requirements.isEmpty, "\(text)")
                #expect(rule.host.description == rule.host.description.lowercased(), "\(text)")
            }
        }
        #expect(read > 10)
    }
}
