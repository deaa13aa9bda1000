// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// User names with characters that are special for a terminal, a shell, a file system or a database.
@Suite struct UserNamesTests {
    @Test(arguments: ["", " ann", "ann ", "a\nb", "a\tb", "a\u{1B}[31mb", "a\u{7F}b", "a\u{9B}31mb", "a\u{2028}b"])
    func `every command refuses an invalid user name, and shows it without control characters`(
        name: String
    )
        async throws
    {
        let people = try People()
        @Sendable func refuse(_ words: [String]) async throws {
            let finished = try await Program.run(
                Program.built("gatehouse"),
                ["user"] + words + ["--", name],
                input: People.password,
                in: people.folder.url
            )
            #expect(finished.status == 2, "\(words): \(finished)")
            #expect(finished.errors.hasPrefix("the user name "), "\(words): \(finished)")
            #expect(finished.isPrintable && finished.output == "", "\(words): \(finished)")
        }
        // The first command creates the store. The other commands run at the same time, because they change nothing.
        try await refuse(["add", "--no-password"])
        try await withThrowingTaskGroup { tasks in
            for words in [
                ["show"], ["remove"], ["groups"], ["enable"], ["disable"], ["unlock"],
                ["set-password", "--password-stdin"],
            ] {
                tasks.addTask { try await refuse(words) }
            }
            try await tasks.waitForAll()
        }
    }

    @Test func `a user name of 1,024 bytes is accepted, and a longer user name is refused`() async throws {
        let people = try People()
        let longest = String(repeating: "n", count: 1024)
        #expect(try await people.add(longest + "n") == (2, "", "the user name is longer than 1024 bytes\n"))
        #expect(try await people.add(longest).status == 0)
        #expect(try await people.authcheck(longest, People.password).status == 0)
        #expect(try await people.add("ann").status == 0)
        // A long name does not make the column wider in the other rows.
        let list = try await people.gatehouse("user", "list").output.split(separator: "\n")
        #expect(list.filter { $0.count > 200 }.count == 1)
    }

    @Test(
        arguments: [
            "../../etc/passwd", "/etc/passwd", "😀 🏴󠁧󠁢󠁳󠁣󠁴󠁿", "-rf", "--help", "ann;rm -rf", "$(id)", "' OR 1=1 --", "%s%n",
            "ann@people",
            "ann\u{202E}nna", "\u{200B}", "e\u{301}", "null",
        ]
    )
    func `names that look like options or patterns are ordinary names`(name: String) async throws {
        let people = try People()
        let added = try await people.add(name, "--group", "Staff")
        #expect(added.status == 0 && added.isPrintable, "\(added)")
        #expect(try await people.names() == [name])
        for words in [["show"], ["groups"], ["disable"], ["enable"], ["unlock"], ["remove"]] {
            let finished = try await Program.run(
                Program.built("gatehouse"),
                ["user"] + words + ["--", name],
                in: people.folder.url
            )
            #expect(finished.status == 0 && finished.errors == "" && finished.isPrintable, "\(words): \(finished)")
        }
        let again = try await people.gatehouse("user", "remove", "--", name)
        #expect(again.status == 1 && again.isPrintable, "\(again)")
        #expect(try await people.names() == [])
        let files = try FileManager.default.contentsOfDirectory(atPath: people.folder.url.path)
        #expect(Set(files) == ["realms.conf", "var"])
    }

    @Test func `a stored name is shown without control characters`() async throws {
        let people = try People()
        #expect(try await people.add("a\u{202E}b").status == 0)
        let again = try await people.add("a\u{202E}b")
        #expect(again == (1, "", "the user a\u{FFFD}b exists already\n"))
        #expect(try await people.gatehouse("user", "list").isPrintable)
        #expect(try await people.gatehouse("user", "show", "a\u{202E}b").isPrintable)
    }

    @Test func `names that differ in a byte are different users`() async throws {
        let people = try People()
        for name in ["e\u{301}", "\u{e9}", "Ann", "ann"] { #expect(try await people.add(name).status == 0) }
        #expect(try await people.gatehouse("user", "remove", "ann").status == 0)
        #expect(try await Set(people.names().map { Array($0.utf8) }).count == 3)
    }

    @Test func `a user name that is not UTF-8 is refused`() async throws {
        let people = try People()
        // If invalid bytes were replaced, different names would become the same name.
        let shell = "exec \"$0\" user add --no-password \"$(printf 'a\\377b')\""
        let finished = try await Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", shell, Program.built("gatehouse").path],
            in: people.folder.url
        )
        #expect(finished == (2, "", "the user name is not UTF-8\n"))
    }

    @Test func `control characters in arguments are not written to the terminal`() async throws {
        let people = try People()
        let nasty = "\u{1B}[31m\u{9B}2J\u{202E}\u{2028}x"
        for words in [
            [nasty], ["user", nasty], ["user", "list", nasty], ["user", "list", "--" + nasty],
            ["user", "list", "--realm", nasty], ["user", "expire", "ann", nasty], ["user", "import", nasty],
            ["user", "list", "--config", nasty], ["lockouts", "clear", "--source", nasty], ["check", "-D", nasty],
            ["user", "groups", "ann", "--remove", nasty], ["hash", "--time", nasty],
        ] {
            let finished = try await Program.run(Program.built("gatehouse"), words, in: people.folder.url)
            #expect(finished.status != 0 && finished.isPrintable, "\(words): \(finished)")
        }
    }
}
