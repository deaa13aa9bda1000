// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The output, the errors and the exit status of `gatehouse user`.
@Suite struct UserCommandTests {
    @Test func `the exit status is 5 if a command has changed a user and cannot write its output`() async throws {
        let people = try People()
        for (arguments, isThere) in [
            ("user add --no-password ann", true), ("user disable ann", true), ("user list", true),
            ("user remove ann", false),
        ] {
            let shell = try #require(Program.system("sh"))
            let command = "'\(Program.built("gatehouse").path)' \(arguments) > /dev/full"
            let finished = try await Program.run(shell, ["-c", command], in: people.folder.url)
            #expect(finished.status == 5, "\(arguments)")
            #expect(finished.errors == "the command has succeeded, but its output could not be written\n")
            let list = try await people.gatehouse("user", "list")
            #expect(list.output.contains("ann") == isThere, "\(arguments)")
        }
    }

    @Test func `the exit status is 0 if only a warning cannot be written`() async throws {
        let people = try People(People.configuration(passwords: "hash bcrypt cost=6;"))
        #expect(try await people.gatehouse("user", "add", "--no-password", "ann").status == 0)
        let list = try await people.gatehouse("user", "list")
        #expect(list.errors.contains("warning"), "\(list)")
        let shell = try #require(Program.system("sh"))
        let command = "'\(Program.built("gatehouse").path)' user list 2> /dev/full"
        #expect(try await Program.run(shell, ["-c", command], in: people.folder.url) == (0, list.output, ""))
    }

    @Test func `an account whose last day is over is listed as expired, and a disabled account as disabled`()
        async throws
    {
        let people = try People()
        for (name, options) in [
            ("ann", ["--expires", "2020-01-31"]), ("bob", ["--expires", "2020-01-31", "--disabled"]),
            ("cid", ["--expires", "9999-12-31"]), ("dan", []),
        ] {
            let arguments = ["user", "add", "--no-password"] + options + [name]
            #expect(try await Program.run(Program.built("gatehouse"), arguments, in: people.folder.url).status == 0)
        }
        let list = """
            user  state                               password     groups
            ann   enabled, expired after 2020-01-31   no password  
            bob   disabled, expired after 2020-01-31  no password  
            cid   enabled, until 9999-12-31           no password  
            dan   enabled                             no password  

            """
        #expect(try await people.gatehouse("user", "list") == (0, list, ""))
        let shown = try await people.gatehouse("user", "show", "bob")
        #expect(shown.output.contains("state     disabled, expired after 2020-01-31\n"), "\(shown)")
        let json = try await people.gatehouse("user", "list", "--json")
        let users = try JSONDecoder().decode([People.Listed].self, from: Data(json.output.utf8))
        #expect(users.map(\.expired) == [true, true, false, nil])
        #expect(users.map(\.enabled) == [true, false, true, true])
    }

    @Test func `with case-sensitive false every command finds the user in any case`() async throws {
        let people = try People(
            People.configuration().replacing("realm people { class", with: "realm people { case-sensitive false; class")
        )
        #expect(try await people.add("kim@example.org", "--group", "Staff").status == 0)
        #expect(try await people.add("Kim@example.org") == (1, "", "the user kim@example.org exists already\n"))
        #expect(try await people.authcheck("Kim@Example.org", People.password).status == 0)
        let kim = "KIM@example.org"
        for (words, output) in [
            (["groups", kim, "--add", "Admin"], "is in Staff, Admin"), (["disable", kim], "disabled"),
            (["enable", kim], "enabled"), (["expire", kim, "never"], "never expires"),
            (["attributes", kim, "--name", "Kim"], "changed"),
        ] {
            let done = try await Program.run(Program.built("gatehouse"), ["user"] + words, in: people.folder.url)
            #expect(done == (0, "kim@example.org \(output) (realm people)\n", ""), "\(done)")
        }
        #expect(try await people.gatehouse("user", "show", kim).output.hasPrefix("user      kim@example.org\n"))
        let explained = try await people.gatehouse("explain", "GET", "/staff", "--user", kim)
        #expect(explained.output.hasPrefix("200: kim@example.org of realm people is allowed\n"), "\(explained)")
        #expect(try await people.gatehouse("user", "unlock", kim).status == 0)
        let removed = try await people.gatehouse("user", "remove", kim)
        #expect(removed == (0, "kim@example.org removed (realm people)\n", ""), "\(removed)")
    }

    @Test func `a user is added, shown, changed and removed`() async throws {
        let people = try People()
        #expect(try await people.gatehouse("user", "list") == (0, "there are no users\n", ""))
        // A command that only reads does not create a file.
        #expect(!FileManager.default.fileExists(atPath: people.store.path))
        #expect(
            try await people.add("ann", "--group", "Staff", "--group", "Admin")
                == (0, "ann added (realm people)\n", "")
        )
        let options = ["--no-password", "--disabled", "--must-change", "--expires", "2027-01-31"]
        let bob = try await Program.run(
            Program.built("gatehouse"),
            ["user", "add"] + options + ["bob"],
            in: people.folder.url
        )
        #expect(bob == (0, "bob added (realm people)\n", ""))
        let list = """
            user  state                                             password                  groups
            ann   enabled                                           argon2id m=19456,t=2,p=1  Staff Admin
            bob   disabled, must change password, until 2027-01-31  no password               

            """
        #expect(try await people.gatehouse("user", "list") == (0, list, ""))
        let sheet = """
            user      ann
            state     enabled
            password  argon2id m=19456,t=2,p=1
            groups    Staff Admin

            """
        #expect(try await people.gatehouse("user", "show", "ann") == (0, sheet, ""))
        #expect(try await people.gatehouse("user", "groups", "ann") == (0, "Staff\nAdmin\n", ""))
        // For a user without groups the output is empty: a program would read any text as the name of a group.
        #expect(try await people.gatehouse("user", "groups", "bob") == (0, "", ""))
        #expect(
            try await people.gatehouse("user", "groups", "ann", "--add", "New", "--remove", "Staff")
                == (0, "ann is in Admin, New (realm people)\n", "")
        )
        #expect(
            try await people.gatehouse("user", "groups", "ann", "--remove", "Admin", "--remove", "New")
                == (0, "ann is in no group (realm people)\n", "")
        )
        #expect(try await people.gatehouse("user", "disable", "ann") == (0, "ann disabled (realm people)\n", ""))
        #expect(try await people.gatehouse("user", "enable", "ann") == (0, "ann enabled (realm people)\n", ""))
        #expect(
            try await people.gatehouse("user", "expire", "ann", "2027-01-31")
                == (0, "ann expires after 2027-01-31 (realm people)\n", "")
        )
        #expect(
            try await people.gatehouse("user", "expire", "ann", "never")
                == (0, "ann never expires (realm people)\n", "")
        )
        #expect(try await people.gatehouse("user", "remove", "ann") == (0, "ann removed (realm people)\n", ""))
        #expect(try await people.names() == ["bob"])
    }

    @Test func `a name and a mail address are set with a new user, changed, shown and removed`() async throws {
        let people = try People()
        let added = try await people.add("ann", "--name", "Ann Äpfel", "--mail", "ann@example.org")
        #expect(added == (0, "ann added (realm people)\n", ""))
        let sheet = """
            user      ann
            state     enabled
            password  argon2id m=19456,t=2,p=1
            groups    
            name      Ann Äpfel
            mail      ann@example.org

            """
        #expect(try await people.gatehouse("user", "show", "ann") == (0, sheet, ""))
        let json = try await people.gatehouse("user", "list", "--json").output
        #expect(json.contains(#""attributes":{"displayName":["Ann Äpfel"],"mail":["ann@example.org"]}"#))
        let done = (Int32(0), "ann changed (realm people)\n", "")
        let changed = try await people.gatehouse("user", "attributes", "ann", "--mail", "a@example.org", "--name", "")
        #expect(changed == done)
        let shown = try await people.gatehouse("user", "show", "--json", "ann").output
        #expect(shown.contains(#""attributes":{"mail":["a@example.org"]}"#))
        #expect(try await people.gatehouse("user", "attributes", "ann", "--mail", "") == done)
        #expect(try await !people.gatehouse("user", "show", "--json", "ann").output.contains("attributes"))
    }

    @Test(arguments: [
        ["--mail", "ann"], ["--mail", "@example.org"], ["--mail", "a@b@c"], ["--mail", "a b@c"], ["--mail", "a@b,c@d"],
        ["--mail", "Ann <a@b>"], ["--mail", "a@b\nc"], ["--name", "a\nb"], ["--name", "\u{1F}"], [],
    ])
    func `a name or mail address that cannot be used is an error, and changes nothing`(options: [String]) async throws {
        let people = try People()
        _ = try await people.add("ann", "--name", "Ann", "--mail", "ann@example.org")
        let before = try await people.gatehouse("user", "list", "--json").output
        let changed = try await Program.run(
            Program.built("gatehouse"),
            ["user", "attributes", "ann"] + options,
            in: people.folder.url
        )
        #expect(changed.status == 2 && changed.output == "" && !changed.errors.isEmpty)
        if !options.isEmpty {
            let added = try await Program.run(
                Program.built("gatehouse"),
                ["user", "add", "--no-password", "bob"] + options,
                in: people.folder.url
            )
            #expect(added.status == 2)
        }
        #expect(try await people.gatehouse("user", "list", "--json").output == before)
    }

    @Test func `a user belongs to one realm only`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        #expect(
            try await people.add("ann", "--realm", "others") == (0, "ann added (realm others)\n", "")
        )
        #expect(try await people.gatehouse("user", "remove", "ann").status == 0)
        #expect(try await people.gatehouse("user", "list", "--realm", "others").output.contains("ann"))
        #expect(try await people.names() == [])
    }

    @Test func `a failed command writes to standard error, exits with 1 and changes nothing`() async throws {
        let people = try People()
        #expect(try await people.add("ann", "--group", "Staff").status == 0)
        let before = try await people.gatehouse("user", "list", "--json").output
        #expect(try await people.add("ann") == (1, "", "the user ann exists already\n"))
        for words in [
            ["show", "bob"], ["remove", "bob"], ["groups", "bob"], ["groups", "bob", "--add", "x"], ["enable", "bob"],
            ["disable", "bob"], ["expire", "bob", "never"], ["set-password", "--password-stdin", "bob"],
        ] {
            let finished = try await Program.run(
                Program.built("gatehouse"),
                ["user"] + words,
                input: People.password,
                in: people.folder.url
            )
            #expect(finished == (1, "", "there is no user bob\n"), "\(words)")
        }
        #expect(
            try await people.gatehouse("user", "groups", "ann", "--remove", "Nope")
                == (1, "", "ann is not in the group Nope\n")
        )
        for group in ["", "a\nb", "a\u{1B}[2J", String(repeating: "x", count: 1025)] {
            let finished = try await people.gatehouse("user", "groups", "ann", "--add", group)
            #expect(finished.status == 1 && finished.errors.contains("a group's name"), "\(group)")
        }
        #expect(
            try await people.gatehouse("user", "list", "--realm", "xtech")
                == (
                    1, "",
                    "realm xtech is a StartWithRealm, whose users cannot be listed or changed here; realms with such users: people, others\n"
                )
        )
        #expect(try await people.gatehouse("user", "list", "--json").output == before)
    }

    @Test func `invalid arguments exit with 2`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        for words in [
            ["user"], ["user", "nonsense"], ["lockouts"], ["user", "add"], ["user", "add", "bob", People.password],
            ["user", "add", "--password", People.password, "bob"], ["user", "expire", "ann", "tomorrow"],
            ["user", "expire", "ann", "2027-02-30"], ["user", "expire", "ann", "2027-1-3"],
            ["user", "add", "--no-password", "--expires", "31.1.2027", "bob"], ["lockouts", "clear"],
            ["lockouts", "clear", "--all", "--user", "ann"], ["lockouts", "clear", "--source", "10.0.0.l"],
            ["hash", "--calibrate", "--time", "0"], ["hash", "--calibrate", "--memory", "65537"],
        ] {
            let finished = try await Program.run(Program.built("gatehouse"), words, in: people.folder.url)
            #expect(finished.status == 2, "\(words): \(finished)")
            #expect(finished.output == "" && !finished.errors.isEmpty, "\(words): \(finished)")
        }
        #expect(try await people.names() == ["ann"])
    }

    @Test func `an unknown realm, a missing realm and a missing configuration are reported`() async throws {
        let people = try People()
        #expect(
            try await people.gatehouse("user", "list", "--realm", "people2")
                == (3, "", "there is no realm people2; there are others, people, xtech\n")
        )
        let none = try await people.gatehouse("user", "list", "--config", "none.conf")
        #expect(none.status == 3 && none.errors.contains("none.conf") && none.errors.contains("No such file"))
        let configuration = People.configuration().replacing("default-realm people;", with: "")
            .replacing("{ require", with: "{ realm people; require")
        let nameless = try People(configuration)
        #expect(
            try await nameless.gatehouse("user", "list")
                == (2, "", "--realm is missing, and the configuration has no default-realm; realms: people, others\n")
        )
        // Of the realms whose users can be changed or listed, there is only one.
        let one = try People(configuration.replacing("realm others { class StoreRealm; }", with: ""))
        #expect(try await one.add("ann") == (0, "ann added (realm people)\n", ""))
        #expect(try await one.names() == ["ann"])
        let unlocked = try await one.gatehouse("user", "unlock", "ann")
        #expect(unlocked.status == 2 && unlocked.errors.hasSuffix("realms: people, xtech\n"), "\(unlocked)")
        let others = try People(
            "realm xtech { class StartWithRealm; } login xtechMyRealm { DenyLoginModule required; }"
        )
        #expect(
            try await others.gatehouse("user", "list", "--realm", "xtech").errors
                .hasSuffix("cannot be listed or changed here; the configuration has no realm with such users\n")
        )
    }

    @Test func `JSON output contains every field`() async throws {
        let people = try People()
        #expect(try await people.gatehouse("user", "list", "--json") == (0, "[]\n", ""))
        #expect(try await people.add("ann \"quoted\" \\ é\u{202E}", "--group", "a;\"b").status == 0)
        #expect(try await people.add("zoë", "--expires", "2027-01-31", "--disabled", "--must-change").status == 0)
        let finished = try await people.gatehouse("user", "list", "--json")
        #expect(finished.isPrintable)
        let users = try JSONDecoder().decode([People.Listed].self, from: Data(finished.output.utf8))
        let format = "argon2id m=19456,t=2,p=1"
        #expect(
            users == [
                People.Listed(user: "ann \"quoted\" \\ é\u{202E}", groups: ["a;\"b"], password: format),
                People.Listed(
                    user: "zoë",
                    enabled: false,
                    expires: 1_801_440_000,
                    expired: false,
                    mustChangePassword: true,
                    password: format
                ),
            ]
        )
        let one = try await people.gatehouse("user", "show", "--json", "zoë").output
        #expect(try JSONDecoder().decode(People.Listed.self, from: Data(one.utf8)) == users[1])
        #expect(one.count { $0 == "\n" } == 1)
    }

    @Test func `a login is accepted only if the user's state, expiry and password allow it`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        #expect(try await people.authcheck("ann", People.password).status == 0)
        #expect(try await people.authcheck("ann", People.password + "x").status == 1)
        #expect(try await people.authcheck("ann", "").status == 1)
        for (change, word) in [
            (["disable", "ann"], "disabled"), (["enable", "ann"], ""),
            (["expire", "ann", "2020-01-01", "--yes"], "expired"),
            (["expire", "ann", "2999-01-01"], ""),
            (["set-password", "--password-stdin", "--must-change", "ann"], "changed"),
            (["set-password", "--password-stdin", "ann"], ""),
        ] {
            let done = try await Program.run(
                Program.built("gatehouse"),
                ["user"] + change,
                input: People.password,
                in: people.folder.url
            )
            #expect(done.status == 0 && done.errors == "", "\(change): \(done)")
            let checked = try await people.authcheck("ann", People.password)
            #expect(checked.status == (word.isEmpty ? 0 : 1), "\(change): \(checked)")
        }
        let added = try await people.gatehouse("user", "add", "--no-password", "bob")
        #expect(added.status == 0)
        #expect(try await people.authcheck("bob", "").status == 1)
        #expect(try await people.authcheck("bob", "no password").status == 1)
    }
}
