// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of `gatehouse user import`, which imports all users of a file with their passwords, or no user.
@Suite struct UserImportTests {
    // A key file in the format of GlassFish.
    private static let keyFile = """
        # of an old server
        ann;{SSHA256}80e0NeB6XBWXsIPa7pT54D9JZ5DR5hGQV1kN1OAsgJePNXY6Pl0EIw==;asadmin
        dora;RESET;User,Staff

        """

    private static let ssha = "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA=="

    private func importing(_ people: People, _ text: String, _ options: String...) async throws -> Finished {
        let file = try people.folder.write(text, to: "users")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return try await Program.run(
            Program.built("gatehouse"),
            ["user", "import"] + options + ["users"],
            in: people.folder.url
        )
    }

    @Test func `users of a key file are imported with groups and passwords, and the file is not changed`() async throws
    {
        let people = try People()
        #expect(
            try await importing(people, Self.keyFile) == (
                0, "2 users imported (realm people; 1 without a password)\n", ""
            )
        )
        let list = try await people.gatehouse("user", "list", "--json").output
        let users = try JSONDecoder().decode([People.Listed].self, from: Data(list.utf8))
        #expect(users.map(\.user) == ["ann", "dora"])
        #expect(users.map(\.groups) == [["asadmin"], ["User", "Staff"]])
        #expect(users[0].password != nil && users[1].password == nil)
        let file = people.folder.url.appendingPathComponent("users")
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.keyFile)
    }

    @Test func `authcheck accepts the password of an imported user, and does not rehash it`() async throws {
        let people = try People()
        let hash = try await people.gatehouse("hash", "--password-stdin", input: People.password).output
        #expect(try await importing(people, "ann:\(hash)").status == 0)
        #expect(try await importing(people, "alice:{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==\n").status == 0)
        #expect(try await people.authcheck("ann", People.password).status == 0)
        #expect(try await people.authcheck("alice", "wrong").status == 1)
        #expect(try await people.authcheck("alice", "secret").status == 0)
        #expect(try await people.gatehouse("user", "show", "alice").output.contains("sha1"))
        #expect(try await people.authcheck("alice", "secret").status == 0)
    }

    @Test func `users of an htpasswd file get the groups of the group file`() async throws {
        let people = try People()
        try people.folder.write("staff: ann bob\nadmins: ann\n", to: "groups")
        let hash = try await people.gatehouse("hash", "--password-stdin", input: People.password).output
        #expect(
            try await importing(people, "ann:\(hash)carl:\(hash)", "--group-file", "groups") == (
                0, "2 users imported (realm people)\n", "1 user of the group file is not in users: bob\n"
            )
        )
        #expect(try await people.gatehouse("user", "groups", "ann").output == "staff\nadmins\n")
        #expect(try await people.gatehouse("user", "groups", "carl").output == "")
    }

    @Test func `if one of the users already exists, no user is imported`() async throws {
        let people = try People()
        #expect(try await people.add("dora").status == 0)
        #expect(try await importing(people, Self.keyFile) == (1, "", "users:3: the user dora exists already\n"))
        #expect(try await people.names() == ["dora"])
    }

    @Test func `names that differ in case only are not imported into a realm that ignores case`() async throws {
        let people = try People(
            People.configuration().replacing("realm people { class", with: "realm people { case-sensitive false; class")
        )
        let file = "kim;\(Self.ssha);a\nKim;\(Self.ssha);b\nann;\(Self.ssha);c\n"
        let reason = "(also on line 1; the realm ignores case): the user is not imported"
        let duplicate = "users:2: duplicate user Kim \(reason)\n"
        let refused = try await importing(people, file)
        #expect(refused.status == 1 && refused.errors.hasPrefix(duplicate), "\(refused)")
        let skipped = try await importing(people, file, "--skip-broken")
        #expect(skipped == (0, "1 user imported (realm people)\n", duplicate), "\(skipped)")
        #expect(try await people.names() == ["ann"])
        let twins = "eve: secret word,a\nEVE: secret word,b\n"
        let jetty = try await importing(people, twins, "--format", "jetty", "--skip-broken")
        #expect(jetty.output == "0 users imported (realm people)\n", "\(jetty)")
        let twin = "users:2: duplicate user EVE (also at users:1, as eve; the realm ignores case)\n"
        #expect(jetty.errors.contains(twin), "\(jetty)")
    }

    @Test func `one imported user is reported in the singular`() async throws {
        #expect(try await importing(People(), "ann;\(Self.ssha);\n") == (0, "1 user imported (realm people)\n", ""))
    }

    @Test(arguments: ["ann:*", "ann:!!", "ann:!\(ssha)", "ann:{CRYPT}x", "ann;RESET;", "ann;*LK*;"])
    func `a mark for no password is no error, and a file in which nobody can sign in is reported`(
        line: String
    ) async throws {
        let people = try People()
        let imported = try await importing(people, "\(line)\n")
        #expect(imported.status == 0 && imported.output.hasPrefix("1 user imported (realm people"), "\(imported)")
        #expect(
            imported.errors == "users: no user of this file can sign in: all are disabled or without a password\n",
            "\(imported)"
        )
        #expect(imported.output.contains("; 1 without a password)") != line.contains("SSHA"), "\(imported)")
        #expect(try await people.names() == ["ann"])
    }

    @Test func `users with hashes of the beginning of a password are counted`() async throws {
        let people = try People()
        let bcrypt = "$2b$10$sAJRe0SxJ5Mzb4e5B8C.NelQFTBGZp0/YFsIGAGX66zcQAf12En0K"
        let file = "ann:\(bcrypt)\nbob:{CRYPT}gvyHFSlR2ygWA\ncy:\(bcrypt)\ndora:\(Self.ssha)\n"
        let imported = try await importing(people, file)
        #expect(imported.status == 0 && imported.output == "4 users imported (realm people)\n", "\(imported)")
        #expect(
            imported.errors.contains("users: 2 users have hashes of bcrypt, which is computed from the first 72 bytes")
        )
        #expect(
            imported.errors.contains("users: 1 user has a hash of descrypt, which is computed from the first 8 bytes")
        )
    }

    @Test func `an import that is interrupted by Ctrl-C imports no user`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        // The progress is shown after a second. The import must last much longer than that, on fast machines too.
        let lines = (0..<300_000).map { "user\($0);RESET;staff\n" }
        let file = try people.folder.write(lines.joined(), to: "users")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        // Standard error is the terminal, so that the progress is shown.
        let program = Program.built("gatehouse").path
        let terminal = try PseudoTerminal(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "exec '\(program)' user import users 2>/dev/tty"],
            in: people.folder.url
        )
        try await terminal.answer("importing users [#", "\u{03}")
        #expect(try await terminal.end() == 128 + SIGINT)
        #expect(try await people.names() == ["ann"])
        #expect(try await importing(people, lines[..<3].joined()).output.hasPrefix("3 users imported (realm people"))
    }

    @Test func `a malformed line is reported with its number, and stops the import without --skip-broken`()
        async throws
    {
        let people = try People()
        let text = Self.keyFile + "bob;{SHA999}xx;Staff\n\u{1B}[31mevil;RESET;x\n"
        let refused = try await importing(people, text)
        #expect(refused.status == 1 && refused.output == "" && refused.isPrintable, "\(refused)")
        #expect(
            refused.errors.contains("users:4: bob is not imported: ") && refused.errors.contains("users:5"),
            "\(refused)"
        )
        #expect(refused.errors.hasSuffix("nothing was imported; --skip-broken skips lines that cannot be read\n"))
        #expect(try await people.names() == [])
        let skipped = try await importing(people, text, "--skip-broken")
        #expect(skipped.status == 0 && skipped.isPrintable, "\(skipped)")
        #expect(try await Set(people.names()).isSuperset(of: ["ann", "dora"]))
        #expect(try await !people.names().contains { $0.contains("evil") })
    }

    @Test func `a missing, mixed or binary file is reported`() async throws {
        let people = try People()
        for (name, text) in [("none", ""), ("mixed", "ann;RESET;x\nbob:*\n"), ("binary", "\0\0\0")] {
            if name != "none" { try people.folder.write(text, to: name) }
            let finished = try await people.gatehouse("user", "import", name)
            #expect(finished.status == 1 && finished.errors.contains(name), "\(finished)")
        }
        let realm = try await people.gatehouse("user", "import", "--realm", "xtech", "none")
        #expect(realm.status == 1 && realm.errors.contains("cannot be listed or changed"), "\(realm)")
        #expect(try await people.names() == [])
    }

    @Test func `the user commands also work on a file realm`() async throws {
        let people = try People(
            """
            default-realm people;
            login fileRealm { FileLoginModule required; }
            realm people { class FileRealm; file users; }
            """
        )
        let file = try people.folder.write("# kept\n", to: "users")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        #expect(try await people.add("ann", "--group", "Staff").status == 0)
        #expect(try await people.add("ann") == (1, "", "the user ann exists already\n"))
        #expect(try await people.authcheck("ann", People.password).status == 0)
        try await withThrowingTaskGroup { tasks in
            for number in 0..<6 {
                tasks.addTask {
                    let finished = try await people.gatehouse("user", "groups", "ann", "--add", "group\(number)")
                    #expect(finished.status == 0, "\(finished)")
                }
            }
            try await tasks.waitForAll()
        }
        let groups = try await people.gatehouse("user", "groups", "ann").output.split(separator: "\n")
        #expect(groups.count == 7)
        #expect(try await people.gatehouse("user", "disable", "ann").status == 0)
        #expect(try await people.authcheck("ann", People.password).status == 1)
        #expect(try await people.gatehouse("user", "expire", "ann", "2027-01-31").status == 1)
        #expect(try await people.gatehouse("user", "remove", "ann").status == 0)
        #expect(try String(contentsOf: file, encoding: .utf8).hasPrefix("# kept\n"))
    }
}
