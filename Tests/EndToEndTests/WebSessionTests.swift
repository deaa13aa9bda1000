// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Sessions during stops, reloads and commands of administrators.
@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct WebSessionTests {
    private static let configuration = People.configuration(
        passwords: "hash bcrypt cost=6;",
        server: "credential-cache 10m; throttle { failures 0; delay 0s; }",
        rules: """
            protect /web   { auth form; require any; }
            protect /group { auth form; require group Staff; }
            protect /other { realm others; auth form; require any; }
            """
    )

    private let people: People

    init() throws { people = try People(Self.configuration) }

    private func jar(_ name: String) -> String { people.folder.url.appendingPathComponent("\(name).jar").path }

    /// Signs in by the session API, and returns the status.
    private func begin(_ name: String, _ server: RunningServer, realm: String = "people") async throws -> Int {
        let json = "{\"username\":\"\(name)\",\"password\":\"\(People.password)\",\"realm\":\"\(realm)\"}"
        return try await server.request("/session", "-c", jar(name), "--json", json).status
    }

    private func load(_ name: String, _ server: RunningServer, at path: String = "/web") async throws -> Int {
        try await server.request(path, "-b", jar(name)).status
    }

    /// Repeats a request until the status of the answer is `status`.
    private func wait(_ name: String, _ server: RunningServer, for status: Int) async throws -> Bool {
        try await Program.wait { try await load(name, server) == status }
    }

    /// Waits until the server has read all earlier changes of users.
    ///
    /// It adds a user, signs the user in, disables the user, and waits for the end of the session.
    private func untilUsersAreRead(by server: RunningServer) async throws {
        let name = "witness-\(UUID().uuidString.lowercased())"
        #expect(try await people.add(name).status == 0)
        #expect(try await begin(name, server) == 201)
        #expect(try await people.gatehouse("user", "disable", name).status == 0)
        #expect(try await wait(name, server, for: 401))
    }

    @Test func `a session survives a stop, a crash, a reload and refreshes of unchanged users`()
        async throws
    {
        #expect(try await people.add("ann", "--group", "Staff").status == 0)
        var server = try await RunningServer(in: people.folder)
        #expect(try await begin("ann", server) == 201)
        try await untilUsersAreRead(by: server)
        #expect(try await load("ann", server, at: "/group") == 200)
        #expect(await server.end() == 0)
        server = try await RunningServer(in: people.folder)
        #expect(try await load("ann", server, at: "/group") == 200)
        await server.kill()
        server = try await RunningServer(in: people.folder)
        try await untilUsersAreRead(by: server)
        #expect(try await load("ann", server, at: "/group") == 200)
        try await server.hangUp()
        try await untilUsersAreRead(by: server)
        #expect(try await load("ann", server, at: "/group") == 200)
    }

    @Test func `CVE-2025-64521, GHSA-x883-2vmg-xwf7: a user who is removed, disabled or changed is signed out`()
        async throws
    {
        let changes: [(name: String, words: [String])] = [
            ("ann", ["groups", "ann", "--add", "Staff"]), ("cat", ["disable", "cat"]),
            ("dan", ["set-password", "--password-stdin", "dan"]), ("eve", ["remove", "eve"]),
        ]
        for name in changes.map(\.name) + ["bob"] { #expect(try await people.add(name).status == 0) }
        let server = try await RunningServer(in: people.folder)
        // The server may read the new users only later. It would then treat them as changed, and end their sessions.
        try await untilUsersAreRead(by: server)
        #expect(try await begin("bob", server) == 201)
        for (name, words) in changes {
            #expect(try await begin(name, server) == 201, "\(words)")
            let done = try await Program.run(
                Program.built("gatehouse"),
                ["user"] + words,
                input: "another password",
                in: people.folder.url
            )
            #expect(done.status == 0, "\(done)")
            #expect(try await wait(name, server, for: 401), "\(words)")
        }
        #expect(try await load("bob", server) == 200)
    }

    @Test func `sessions end and user remove print what is true already`() async throws {
        for name in ["ann", "bob", "eve"] { #expect(try await people.add(name).status == 0) }
        let server = try await RunningServer(in: people.folder)
        try await untilUsersAreRead(by: server)
        for (name, words, output) in [
            ("ann", ["sessions", "end", "--user", "ann"], "1 session ended\n"),
            ("bob", ["sessions", "end", "--realm", "people"], "1 session ended\n"),
            ("eve", ["user", "remove", "eve"], "eve removed (realm people)\n"),
        ] {
            #expect(try await begin(name, server) == 201)
            let done = try await Program.run(Program.built("gatehouse"), words, in: people.folder.url)
            #expect(done.status == 0 && done.output == output, "\(done)")
            #expect(try await load(name, server) == 401, "\(words)")
        }
        let disabled = try await people.gatehouse("user", "disable", "ann")
        #expect(disabled.output == "ann disabled (realm people; open sessions end within seconds)\n", "\(disabled)")
    }

    @Test(arguments: [true, false])
    func `a user who is removed and imported again has none of the old sessions`(isStopped: Bool) async throws {
        let text =
            Self.configuration + """

                login fileRealm { FileLoginModule required; }
                realm files { class FileRealm; file htpasswd; format htpasswd; }
                login agg { AggregateLoginModule required; }
                realm all { class AggregateRealm; jaas-context agg; authentication people; authorization people; }
                protect /files { realm files; auth form; require any; }
                protect /all { realm all; auth form; require any; }
                """
        try people.folder.write(text, to: "realms.conf")
        try people.folder.write("", to: "htpasswd")
        let hash = try await people.gatehouse("hash", "--password-stdin", input: People.password).output
        try people.folder.write("ann:\(hash)", to: "imported")
        for realm in ["people", "files"] {
            #expect(try await people.gatehouse("user", "import", "--realm", realm, "imported").status == 0)
        }
        var server = try await RunningServer(in: people.folder)
        var cookies: [String: String] = [:]
        for realm in ["people", "files", "all"] {
            #expect(try await begin("ann", server, realm: realm) == 201, "\(realm)")
            cookies[realm] = try String(contentsOfFile: jar("ann"), encoding: .utf8)
        }
        if isStopped { #expect(await server.end() == 0) }
        for realm in ["people", "files"] {
            #expect(try await people.gatehouse("user", "remove", "--realm", realm, "ann").status == 0)
            #expect(try await people.gatehouse("user", "import", "--realm", realm, "imported").status == 0)
        }
        if isStopped { server = try await RunningServer(in: people.folder) }
        for (realm, path) in ["people": "/web", "files": "/files", "all": "/all"] {
            try people.folder.write(cookies[realm] ?? "", to: "ann.jar")
            #expect(try await load("ann", server, at: path) == 401, "\(realm)")
        }
        #expect(try await begin("ann", server) == 201)
    }

    @Test func `of two servers on one state folder the second refuses, until the first has ended or crashed`()
        async throws
    {
        #expect(try await people.add("ann").status == 0)
        var server = try await RunningServer(in: people.folder)
        for _ in 0..<2 {
            let second = try await people.gatehouse("serve")
            #expect(second.status == 3 && second.errors.contains("another server uses var"), "\(second)")
            // Commands are not affected.
            #expect(try await people.gatehouse("user", "enable", "ann").status == 0)
            #expect(try await people.gatehouse("sessions", "end", "--all").status == 0)
            #expect(try await people.gatehouse("check").status == 0)
            #expect(try await begin("ann", server) == 201)
            await server.kill()
            server = try await RunningServer(in: people.folder)
        }
    }

    @Test func `a reload without changes does not end a sign-in that waits for its code`() async throws {
        let text = """
            default-realm two;
            login two { FileLoginModule required; ScriptedLoginModule required code="123456"; }
            realm two { class FileRealm; jaas-context two; file htpasswd; }
            server { listen 127.0.0.1:0; throttle { delay 0s; } }
            protect /web { auth form; require any; }
            """
        let hash = try await people.gatehouse("hash", "--password-stdin", input: People.password).output
        try people.folder.write("ann:\(hash)", to: "htpasswd")
        try people.folder.write(text, to: "realms.conf")
        let server = try await RunningServer(in: people.folder)
        for _ in 0..<2 {
            let question = try await server.request(
                "/session",
                "-c",
                jar("ann"),
                "--json",
                "{\"username\":\"ann\",\"password\":\"\(People.password)\",\"realm\":\"two\"}"
            )
            let number = try #require(question.body.firstMatch(of: /"number":([0-9]+)/)?.output.1)
            for _ in 0..<2 { try await server.hangUp() }
            let json = "{\"number\":\(number),\"answers\":[\"123456\"]}"
            let answer = try await server.request("/session", "-b", jar("ann"), "-c", jar("ann"), "--json", json)
            #expect(answer.status == 201, "\(answer)")
            #expect(try await load("ann", server) == 200)
        }
    }

    @Test func `a user who must change the password does so at the sign-in`() async throws {
        #expect(try await people.add("ann", "--must-change").status == 0)
        let server = try await RunningServer(in: people.folder)
        let basic = try await server.request("/welcome", "-u", "ann:\(People.password)")
        #expect(basic.status == 401)
        try await server.untilLogged("credential-expired")
        #expect(try await begin("ann", server) == 200)
        // The first two passwords are refused.
        var number = 1
        for (password, status) in [("short", 200), ("with\\ta tab", 200), ("another password", 201)] {
            let json = "{\"number\":\(number),\"answers\":[\"\",\"\(password)\",\"\(password)\"]}"
            let answer = try await server.request("/session", "-b", jar("ann"), "-c", jar("ann"), "--json", json)
            #expect(answer.status == status, "\(password): \(answer)")
            number += 1
        }
        #expect(try await load("ann", server) == 200)
        #expect(try await server.request("/welcome", "-u", "ann:another password").status == 200)
        #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 401)
        #expect(!server.log.contains("another password"))
        try await untilUsersAreRead(by: server)
        #expect(try await load("ann", server) == 200)
    }

    @Test func `changes that are made while the server is stopped end sessions at the next start`() async throws {
        for name in ["ann", "bob", "cat"] { #expect(try await people.add(name).status == 0) }
        var server = try await RunningServer(in: people.folder)
        for name in ["ann", "bob", "cat"] { #expect(try await begin(name, server) == 201) }
        #expect(await server.end() == 0)
        #expect(try await people.gatehouse("user", "remove", "ann").status == 0)
        #expect(try await people.gatehouse("user", "groups", "bob", "--add", "Staff").status == 0)
        server = try await RunningServer(in: people.folder)
        #expect(try await load("ann", server) == 401)
        #expect(try await load("bob", server) == 401)
        #expect(try await load("cat", server) == 200)
        // A change of the groups that the configuration adds has the same effect.
        #expect(await server.end() == 0)
        let text = Self.configuration.replacingOccurrences(
            of: "realm people { class StoreRealm; }",
            with: "realm people { class StoreRealm; assign-groups Everybody; }"
        )
        try people.folder.write(text, to: "realms.conf")
        server = try await RunningServer(in: people.folder)
        #expect(try await load("cat", server) == 401)
    }

    @Test func `a reload that removes a realm ends the sessions of the realm`() async throws {
        #expect(try await people.add("ann").status == 0)
        #expect(try await people.add("otto", "--realm", "others").status == 0)
        let server = try await RunningServer(in: people.folder)
        #expect(try await begin("ann", server) == 201)
        #expect(try await begin("otto", server, realm: "others") == 201)
        let text = Self.configuration.split(separator: "\n").filter { !$0.contains("others") }.joined(separator: "\n")
        try people.folder.write(text, to: "realms.conf")
        try await server.hangUp()
        #expect(try await load("otto", server, at: "/session") == 401)
        #expect(try await load("ann", server, at: "/session") == 200)
        #expect(server.log.contains("cause=realm-gone"))
    }

    @Test func `a reload that changes a realm ends its sessions and pending logins`() async throws {
        let text = """
            default-realm two;
            login two { StartWithLoginModule required; ScriptedLoginModule required code="123456"; }
            login one { StartWithLoginModule required; }
            realm two { class StartWithRealm; jaas-context two; startWith t; }
            realm one { class StartWithRealm; jaas-context one; startWith z; }
            server { listen 127.0.0.1:0; throttle { delay 0s; } }
            protect /web { realm one two; auth form; require any; }
            """
        try people.folder.write(text, to: "realms.conf")
        let server = try await RunningServer(in: people.folder)
        #expect(try await begin("zed", server, realm: "one") == 201)
        #expect(try await begin("tom", server, realm: "two") == 200)
        let later = text.replacing("startWith z", with: "startWith y")
            .replacing("code=\"123456\";", with: "code=\"123456\"; DenyLoginModule required;")
        try people.folder.write(later, to: "realms.conf")
        try await server.hangUp()
        #expect(try await load("zed", server) == 401)
        let json = "{\"number\":1,\"answers\":[\"123456\"]}"
        let answer = try await server.request("/session", "-b", jar("tom"), "-c", jar("tom"), "--json", json)
        #expect(answer.status == 503, "\(answer)")
        #expect(try await load("tom", server) == 401)
    }

    @Test func `a message to all users is on the sign-in page until its end`() async throws {
        var server = try await RunningServer(in: people.folder)
        func isShown() async throws -> Bool {
            let page = try await server.request("/sign-in", "-H", "Accept: text/html")
            return page.body.contains("<p class=\"notice\" role=\"note\">Tea at &lt;five&gt;</p>")
        }
        #expect(try await !isShown())
        let set = try await people.gatehouse("message", "set", "--until", "2h", "Tea at <five>")
        #expect(set.status == 0 && set.output.hasPrefix("the message is shown until 20"), "\(set)")
        #expect(try await Program.wait { try await isShown() })
        // The message survives a restart.
        #expect(await server.end() == 0)
        server = try await RunningServer(in: people.folder)
        #expect(try await isShown())
        let shown = try await people.gatehouse("message", "show")
        #expect(shown.output.hasPrefix("until 20") && shown.output.hasSuffix("Z: Tea at <five>\n"), "\(shown)")
        #expect(try await people.gatehouse("message", "clear").status == 0)
        #expect(try await Program.wait { try await !isShown() })
        #expect(try await people.gatehouse("message", "show").output == "there is no message\n")
        let day = Date().addingTimeInterval(90 * 86_400).ISO8601Format().prefix(10)
        let end = try await people.gatehouse("message", "set", "--until", "\(day)T18:00+01:00", "x")
        #expect(end.output == "the message is shown until \(day)T17:00:00Z\n")
        #expect(await server.end() == 0)
    }

    @Test(arguments: [
        (["--until", "2020-01-01", "x"], "--until 2020-01-01 is not in the future"),
        (["--until", "367d", "x"], "--until 367d is more than 366 days from now"),
        (["--until", "2999-12-31T18:00Z", "x"], "--until 2999-12-31T18:00Z is more than 366 days from now"),
        (["--until", "noon", "x"], "--until takes a time such as 2h, 7d or 2026-12-01T18:00Z, not noon"),
        (["--until", "2h", " "], "the text is a text of 1 to 300 characters"),
        (["--until", "2h", "\u{2800}\u{3164} \u{200D}"], "the text is a text of 1 to 300 characters"),
        (["--until", "2h", "a\u{202E}b"], "the text has a control character"), (["x"], "Missing expected argument"),
    ])
    func `a message needs a text and a time in the future`(words: [String], message: String) async throws {
        let set = try await Program.run(
            Program.built("gatehouse"),
            ["message", "set"] + words,
            input: "",
            in: people.folder.url
        )
        #expect(set.status == 2 && set.errors.contains(message), "\(set)")
    }

    @Test func `an administrator lists sessions, sends messages to them and ends them`() async throws {
        for name in ["ann", "bob"] { #expect(try await people.add(name).status == 0) }
        let server = try await RunningServer(in: people.folder)
        for name in ["ann", "bob"] { #expect(try await begin(name, server) == 201) }
        let list = try await people.gatehouse("sessions", "list")
        #expect(list.status == 0 && list.output.contains("ann") && list.output.contains("bob"), "\(list)")
        #expect(!list.output.contains("__Host"))
        // JSON has the whole User-Agent.
        #expect(list.output.hasSuffix("  curl\n"), "\(list)")
        let json = try await people.gatehouse("sessions", "list", "--json")
        let sessions = try JSONDecoder().decode([[String: String]].self, from: Data(json.output.utf8))
        #expect(Set(sessions.compactMap { $0["user"] }) == ["ann", "bob"], "\(json)")
        for session in sessions {
            #expect(
                session.keys.sorted()
                    == ["address", "client", "expires", "host", "id", "lastUsed", "realm", "started", "user"]
            )
            #expect(session["host"] == "localhost" && session["realm"] == "people", "\(session)")
            #expect(session["client"]?.hasPrefix("curl/") == true, "\(session)")
            #expect(session["started"]?.hasSuffix("Z") == true, "\(session)")
        }
        let none = try await people.gatehouse("sessions", "list", "--json", "--user", "cid")
        #expect(none.status == 0 && none.output == "[]\n", "\(none)")
        async let events = server.request("/session/events", "-N", "-b", jar("ann"))
        try await server.untilLogged("\"GET\" \"/session/events\" 200")
        #expect(try await people.gatehouse("sessions", "message", "--user", "ann", "Tea is <ready>").status == 0)
        let toAll = try await people.gatehouse("sessions", "message", "--all", "Maintenance at noon")
        #expect(toAll.status == 0 && toAll.output == "2 sessions will get the message\n", "\(toAll)")
        #expect(try await people.gatehouse("sessions", "message", "--all", "--user", "ann", "x").status == 2)
        #expect(try await people.gatehouse("sessions", "end", "--user", "ann").status == 0)
        let received = try await events
        #expect(received.status == 200)
        #expect(
            received.body.contains("event: message\ndata: {\"text\":\"Tea is \\u003cready\\u003e\"}"),
            "\(received)"
        )
        #expect(received.body.contains("event: message\ndata: {\"text\":\"Maintenance at noon\"}"), "\(received)")
        #expect(received.body.contains("event: ended\ndata: {\"cause\":\"administrator\"}"), "\(received)")
        #expect(try await load("ann", server) == 401)
        #expect(try await load("bob", server) == 200)
        #expect(await server.end() == 0)
        // The command also works if no server runs.
        #expect(try await people.gatehouse("sessions", "end", "--all").status == 0)
        #expect(try await !people.gatehouse("sessions", "list").output.contains("bob"))
    }

    @Test func `a message to a realm reaches the users of the realm only`() async throws {
        #expect(try await people.add("ann").status == 0)
        for name in ["otto", "olga"] { #expect(try await people.add(name, "--realm", "others").status == 0) }
        let server = try await RunningServer(in: people.folder)
        #expect(try await begin("ann", server) == 201)
        for name in ["otto", "olga"] { #expect(try await begin(name, server, realm: "others") == 201) }
        for (selection, output) in [
            (["--realm", "others"], "2 sessions will get the message\n"),
            (["--realm", "people"], "1 session will get the message\n"),
            (["--realm", "others", "--user", "otto"], "1 session will get the message\n"),
        ] {
            let sent = try await Program.run(
                Program.built("gatehouse"),
                ["sessions", "message"] + selection + ["Maintenance at noon"],
                in: people.folder.url
            )
            #expect(sent.status == 0 && sent.output == output, "\(selection) \(sent)")
        }
        let list = try await people.gatehouse("sessions", "list")
        let id = String(try #require(list.output.split(separator: "\n").last).prefix(22))
        for words in [["--all", "Maintenance at noon"], ["--", id, "Maintenance at noon"]] {
            let refused = try await Program.run(
                Program.built("gatehouse"),
                ["sessions", "message", "--realm", "others"] + words,
                in: people.folder.url
            )
            #expect(refused.status == 2 && refused.output == "", "\(words) \(refused)")
        }
        #expect(await server.end() == 0)
    }

    @Test func `rehashing the password at the sign-in does not end the session`() async throws {
        #expect(try await people.add("ann").status == 0)
        try people.folder.write(
            Self.configuration.replacingOccurrences(of: "hash bcrypt cost=6;", with: "hash bcrypt cost=8;"),
            to: "realms.conf"
        )
        var server = try await RunningServer(in: people.folder)
        #expect(try await begin("ann", server) == 201)
        try await untilUsersAreRead(by: server)
        #expect(try await load("ann", server) == 200)
        #expect(try await people.gatehouse("user", "show", "ann").output.contains("cost=8"))
        #expect(await server.end() == 0)
        server = try await RunningServer(in: people.folder)
        #expect(try await load("ann", server) == 200)
    }

    @Test func `a stopping server sends a last event on open streams, and does not wait for them`() async throws {
        #expect(try await people.add("ann").status == 0)
        let server = try await RunningServer(in: people.folder)
        #expect(try await begin("ann", server) == 201)
        async let events = server.request("/session/events", "-N", "-b", jar("ann"))
        try await server.untilLogged("\"GET\" \"/session/events\" 200")
        // If the server did not end the streams, they would be cut off after ten seconds, without the last event.
        #expect(await server.end() == 0)
        #expect(try await events.body.contains(": the stream ends"))
    }

    @Test func `the log contains no password and no token, and the store contains no token`() async throws {
        #expect(try await people.add("ann").status == 0)
        let server = try await RunningServer(in: people.folder)
        #expect(try await begin("ann", server) == 201)
        _ = try await server.request("/session", "--json", "{\"username\":\"ann\",\"password\":\"wrong guess\"}")
        let jar = try String(contentsOfFile: jar("ann"), encoding: .utf8)
        let token = try #require(jar.split(whereSeparator: \.isWhitespace).last.map(String.init))
        #expect(token.utf8.count == 43)
        #expect(await server.end() == 0)
        for secret in [People.password, "wrong guess", token] { #expect(!server.log.contains(secret)) }
        for name in ["gatehouse.sqlite", "gatehouse.sqlite-wal"] {
            let path = people.folder.url.appendingPathComponent("var/\(name)").path
            let bytes = FileManager.default.contents(atPath: path) ?? Data()
            #expect(bytes.range(of: Data(token.utf8)) == nil)
        }
    }
}
