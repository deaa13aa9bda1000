// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Users who are changed, locked and unlocked while a server runs.
@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct RunningStoreTests {
    /// Answers are not delayed, so that the tests are short.
    ///
    /// Cached credentials do not expire during a test.
    private static let quick = People.configuration(
        server: "credential-cache 10m; throttle { failures 3; delay 0s; }"
    )

    @Test func `changes of a user revoke cached credentials`() async throws {
        // The limit is high enough that the repeated requests of the test do not lock the account.
        let people = try People(Self.quick.replacing("failures 3;", with: "failures 0;"))
        #expect(try await people.add("ann", "--group", "Staff").status == 0)
        #expect(try await people.add("bob").status == 0)
        let server = try await RunningServer(in: people.folder)
        let ann = "ann:\(People.password)"
        #expect(try await server.request("/staff", "-u", ann).status == 200)
        #expect(try await server.request("/staff", "-u", "bob:\(People.password)").status == 403)
        let changes: [(words: [String], status: Int, credentials: String)] = [
            (["groups", "ann", "--remove", "Staff"], 403, ann),
            (["groups", "ann", "--add", "Staff"], 200, ann),
            (["disable", "ann"], 401, ann),
            (["enable", "ann"], 200, ann),
            (["expire", "ann", "2020-01-01", "--yes"], 401, ann),
            (["expire", "ann", "never"], 200, ann),
            (["set-password", "--password-stdin", "ann"], 401, ann),
            (["unlock", "ann"], 200, "ann:another password"),
            (["remove", "ann"], 401, "ann:another password"),
        ]
        for (words, status, credentials) in changes {
            let done = try await Program.run(
                Program.built("gatehouse"),
                ["user"] + words,
                input: "another password",
                in: people.folder.url
            )
            #expect(done.status == 0, "\(words): \(done)")
            // Without a change of the user, the cache would keep the credentials for ten minutes.
            #expect(try await server.wait(for: status, at: "/staff", "-u", credentials), "\(words)")
        }
        // Other users are still accepted or rejected as before.
        #expect(try await server.request("/staff", "-u", "bob:\(People.password)").status == 403)
        #expect(try await server.request("/welcome", "-u", "bob:\(People.password)").status == 200)
        #expect(await server.end() == 0)
    }

    @Test func `a new user can sign in without a restart`() async throws {
        let people = try People(Self.quick)
        let server = try await RunningServer(in: people.folder)
        #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 401)
        #expect(try await people.add("ann").status == 0)
        #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 200)
    }

    @Test func `a lockout survives a restart, is listed, reported and cleared`() async throws {
        let people = try People(Self.quick)
        #expect(try await people.add("ann").status == 0)
        #expect(try await people.add("bob").status == 0)
        var server = try await RunningServer(in: people.folder)
        for _ in 0..<3 { #expect(try await server.request("/welcome", "-u", "ann:wrong guess").status == 401) }
        #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 401)
        #expect(try await server.request("/welcome", "-u", "bob:\(People.password)").status == 200)
        #expect(try await Program.wait { try await people.gatehouse("lockouts", "list").output.contains("ann") })
        await server.kill()
        let list = try await people.gatehouse("lockouts", "list")
        let rows = list.output.split(separator: "\n")
        #expect(rows.count == 2 && rows[0].hasPrefix("kind     name"), "\(list)")
        #expect(rows.last?.hasPrefix("account  ") == true && rows.last?.contains("ann") == true, "\(list)")
        let checked = try await people.authcheck("ann", People.password)
        #expect(checked.status == 1 && checked.output.contains("locked"), "\(checked)")
        let shown = try await people.gatehouse("user", "show", "ann").output
        #expect(shown.contains(/\nstate     enabled, locked until 20[-0-9T:]*Z \(3 failed logins\)\n/), "\(shown)")
        let users = try await people.gatehouse("user", "list").output.split(separator: "\n")
        #expect(users.map { $0.contains("locked until") } == [false, true, false], "\(users)")
        let json = try await people.gatehouse("user", "show", "--json", "ann").output
        #expect(json.contains("\"failedLogins\":3") && json.contains(/"lockedUntil":1[0-9]{9}/), "\(json)")
        #expect(try await !people.gatehouse("user", "show", "--json", "bob").output.contains("lockedUntil"))
        let explained = try await people.gatehouse("explain", "GET", "/welcome", "--user", "ann")
        // A lock does not end sessions, so it does not change the decision.
        #expect(explained.status == 0 && explained.output.contains("\nann is locked until 20"), "\(explained)")
        #expect(explained.output.hasPrefix("200: ann of realm people is allowed; a new sign-in is refused until 20"))
        #expect(explained.output.split(separator: "\n")[0].hasSuffix("Z (3 failed logins)"), "\(explained)")
        #expect(explained.output.hasSuffix("after 3 failed logins: sign-ins are refused, sessions continue\n"))

        server = try await RunningServer(in: people.folder)
        #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 401)
        #expect(
            try await people.gatehouse("user", "unlock", "ann")
                == (0, "ann unlocked; 3 failed logins removed (realm people)\n", "")
        )
        #expect(
            try await people.gatehouse("user", "unlock", "ann")
                == (0, "ann is not locked, and has no failed logins (realm people)\n", "")
        )
        #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 200)
        #expect(try await people.gatehouse("lockouts", "list") == (0, "nothing is locked\n", ""))
        #expect(try await people.authcheck("ann", People.password).status == 0)
        #expect(await server.end() == 0)
        #expect(server.log.contains("\"ann\"@\"people\" \"GET\" \"/welcome\" 401") && server.log.contains("locked"))
    }

    @Test func `an unlock of a name that the realm does not have is reported`() async throws {
        let people = try People(Self.quick)
        #expect(try await people.add("ann").status == 0)
        let server = try await RunningServer(in: people.folder)
        #expect(try await server.request("/welcome", "-u", "Ghost:wrong guess").status == 401)
        #expect(
            try await Program.wait { try await people.gatehouse("lockouts", "list", "--all").output.contains("ghost") }
        )
        let found = try await people.gatehouse("user", "unlock", "ghost")
        #expect(
            found == (0, "ghost was not locked; 1 failed login removed (realm people; it has no such user)\n", "")
        )
        for words in [["user", "unlock", "ghost"], ["lockouts", "clear", "--user", "ghost"]] {
            let again = try await Program.run(Program.built("gatehouse"), words, in: people.folder.url)
            let message = "realm people has no user ghost, and there were no failed logins of that name\n"
            #expect(again == (1, "", message), "\(again)")
        }
        #expect(await server.end() == 0)
    }

    @Test func `lockouts of an address and all lockouts can be cleared`() async throws {
        let configuration = People.configuration(
            server: "throttle { failures 0; source-failures 3; delay 0s; }"
        )
        let people = try People(configuration)
        #expect(try await people.add("ann").status == 0)
        let server = try await RunningServer(in: people.folder)
        for options in [["--source", "127.0.0.1"], ["--all"]] {
            for number in 0..<3 {
                #expect(try await server.request("/welcome", "-u", "nobody\(number):wrong guess").status == 401)
            }
            #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 401)
            #expect(
                try await Program.wait { try await people.gatehouse("lockouts", "list").output.contains("address") }
            )
            #expect(try await people.gatehouse("lockouts", "list").output.contains("127.0.0.1"))
            let cleared = try await Program.run(
                Program.built("gatehouse"),
                ["lockouts", "clear"] + options,
                in: people.folder.url
            )
            #expect(cleared.status == 0, "\(cleared)")
            #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 200)
            // The reload removes the cached credentials of ann. Cached credentials are accepted during a lock, so the
            // next round would see no lock.
            try await server.hangUp()
        }
    }

    @Test func `a wrong password and unknown, disabled, expired and locked users get identical answers`() async throws {
        let people = try People(Self.quick)
        for name in ["ann", "off", "old", "must", "shut"] { #expect(try await people.add(name).status == 0) }
        #expect(try await people.gatehouse("user", "disable", "off").status == 0)
        #expect(try await people.gatehouse("user", "expire", "old", "2020-01-01", "--yes").status == 0)
        let changed = try await people.gatehouse(
            "user",
            "set-password",
            "--password-stdin",
            "--must-change",
            "must",
            input: People.password
        )
        #expect(changed.status == 0)
        let server = try await RunningServer(in: people.folder)
        for _ in 0..<4 { #expect(try await server.request("/welcome", "-u", "shut:wrong guess").status == 401) }
        var answers: Set<String> = []
        for credentials in [
            "ann:wrong guess", "nobody:\(People.password)", "off:\(People.password)", "old:\(People.password)",
            "must:\(People.password)", "shut:\(People.password)", "shut:wrong guess", "off:wrong guess", "ann:",
        ] {
            let answer = try await server.request("/welcome", "-i", "--http1.1", "-u", credentials)
            #expect(answer.status == 401, "\(credentials)")
            answers.insert(answer.body.replacing(/[Dd]ate: [^\r]*\r\n/, with: ""))
        }
        #expect(answers.count == 1, "\(answers)")
    }

    @Test func `if the hashing queue is full the answer is 503 with Retry-After, and no failure is counted`()
        async throws
    {
        let configuration = People.configuration(
            passwords: "hash pbkdf2-sha512 iterations=1000000; workers 1; queue 1; wait 300s; niceness 0;",
            server: "throttle { failures 3; delay 0s; }"
        )
        // With the default niceness and the default deadline of 30 s, a check could take too long on a busy machine.
        let people = try People(
            configuration.replacing("StoreLoginModule required;", with: "StoreLoginModule required deadline=\"500s\";")
        )
        #expect(try await people.add("ann").status == 0)
        let server = try await RunningServer(in: people.folder)
        // The user names are different, because identical checks are computed only once.
        let answers = try await withThrowingTaskGroup { group in
            for number in 0..<12 {
                group.addTask {
                    try await server.request(
                        "/welcome",
                        "-i",
                        "--http1.1",
                        "--max-time",
                        "500",
                        "-u",
                        "user\(number):wrong guess"
                    )
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let statuses = answers.map(\.status)
        #expect(Set(statuses) == [401, 503], "\(statuses)")
        for answer in answers where answer.status == 503 {
            #expect(answer.body.lowercased().contains("\r\nretry-after: "), "\(answer.body)")
        }
        #expect(try await server.request("/welcome", "--max-time", "500", "-u", "ann:\(People.password)").status == 200)
        #expect(await server.end() == 0)
        #expect(server.log.contains("the machine is busy: too many password checks are waiting"))
        let failed = try await people.gatehouse("lockouts", "list", "--all").output
        #expect(
            failed.split(separator: "\n").count { $0.hasPrefix("account") } == statuses.count { $0 == 401 },
            "\(failed)"
        )
    }

    @Test func `a password in a weaker format is rehashed when its user signs in`() async throws {
        let people = try People(People.configuration(passwords: "hash pbkdf2-sha512 iterations=210000;"))
        #expect(try await people.add("ann").status == 0)
        try people.folder.write(People.configuration(), to: "realms.conf")
        let server = try await RunningServer(in: people.folder)
        #expect(try await server.request("/welcome", "-u", "ann:wrong guess").status == 401)
        #expect(try await people.gatehouse("user", "show", "ann").output.contains("pbkdf2"))
        #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 200)
        #expect(try await people.gatehouse("user", "show", "ann").output.contains("argon2id m=19456"))
        #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 200)
        #expect(await server.end() == 0)
    }
}
