// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Reading a new password from the terminal or standard input, and refusing passwords that are not allowed.
@Suite struct NewPasswordTests {
    private func terminal(_ people: People, _ arguments: String...) throws -> PseudoTerminal {
        try PseudoTerminal(Program.built("gatehouse"), arguments, in: people.folder.url)
    }

    @Test func `the terminal prompts twice for a new password, and does not show it`() async throws {
        let people = try People()
        let terminal = try terminal(people, "user", "add", "ann")
        try await terminal.answer("New password for ann: ", People.password + "\n")
        try await terminal.answer("Once more: ", People.password + "\n")
        #expect(try await terminal.end() == 0)
        #expect(terminal.shown == "New password for ann: \nOnce more: \n")
        #expect(terminal.output == "ann added (realm people)\n")
        #expect(terminal.echoes)
        #expect(try await people.authcheck("ann", People.password).status == 0)
    }

    @Test func `a typed password can be edited`() async throws {
        let people = try People()
        let terminal = try terminal(people, "user", "add", "ann")
        try await terminal.answer("New password for ann: ", "wrong\u{15}corrext\u{7F}\u{7F}ct horse é\u{7F}battery\n")
        try await terminal.answer("Once more: ", People.password + "\n")
        #expect(try await terminal.end() == 0)
        #expect(try await people.authcheck("ann", People.password).status == 0)
    }

    @Test func `nothing is changed if the two passwords differ or are empty`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        let other = try terminal(people, "user", "set-password", "ann")
        try await other.answer("New password for ann: ", "another password\n")
        try await other.answer("Once more: ", "another passwort\n")
        #expect(try await other.end() == 1)
        #expect(other.output == "the two passwords are not the same; nothing was changed\n")
        let none = try terminal(people, "user", "set-password", "ann")
        try await none.answer("New password for ann: ", "\u{4}")
        #expect(try await none.end() == 1)
        #expect(none.output == "no password was given\n")
        let added = try terminal(people, "user", "add", "bob")
        try await added.answer("New password for bob: ", "another password\n")
        try await added.answer("Once more: ", "\n")
        #expect(try await added.end() == 1)
        #expect(try await people.names() == ["ann"])
        #expect(try await people.authcheck("ann", People.password).status == 0)
    }

    @Test func `an interrupt at the prompt changes nothing and restores the terminal`() async throws {
        let people = try People()
        let terminal = try terminal(people, "user", "add", "ann")
        try await terminal.answer("New password for ann: ", "half a pass\u{3}")
        #expect(try await terminal.end() == 128 + SIGINT)
        #expect(terminal.echoes)
        #expect(!terminal.shown.contains("half"))
        #expect(try await people.names() == [])
    }

    @Test func `an existing user is reported before the password prompt`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        let terminal = try terminal(people, "user", "add", "ann")
        #expect(try await terminal.end() == 1)
        #expect(terminal.shown == "")
    }

    @Test func `without a terminal and without --password-stdin the exit status is 2`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        // A process that setsid starts has no terminal.
        let setsid = try #require(Program.system("setsid"))
        for words in [["user", "add", "bob"], ["user", "set-password", "ann"], ["hash"]] {
            let finished = try await Program.run(
                setsid,
                ["--wait", Program.built("gatehouse").path] + words,
                input: People.password,
                in: people.folder.url
            )
            #expect(finished == (2, "", "there is no terminal for the prompt; use --password-stdin\n"), "\(words)")
        }
        #expect(try await people.names() == ["ann"])
    }

    @Test func `a password that must be changed is changed with authcheck on the terminal`() async throws {
        let people = try People()
        #expect(try await people.add("ann", "--must-change").status == 0)
        #expect(try await people.authcheck("ann", People.password).status == 1)
        for (second, status) in [("another passwort", Int32(1)), ("another password", 0)] {
            let terminal = try PseudoTerminal(Program.built("authcheck"), ["people", "ann"], in: people.folder.url)
            try await terminal.answer("Password for ann: ", People.password + "\n")
            for _ in 0..<(status == 0 ? 1 : 3) {
                try await terminal.answer("New password for ann: ", "another password\n")
                try await terminal.answer("New password again for ann: ", "\(second)\n")
            }
            #expect(try await terminal.end() == status, "\(terminal.output)")
        }
        #expect(try await people.authcheck("ann", "another password").status == 0)
        #expect(try await people.authcheck("ann", People.password).status == 1)
    }

    static let refused: [(input: [UInt8], status: Int32, words: String)] = [
        ([], 2, "there is no password on standard input"),
        (Array("\n".utf8), 1, "at least 8 characters"),
        (Array("\r\n".utf8), 1, "at least 8 characters"),
        (Array("seven77\n".utf8), 1, "at least 8 characters"),
        (Array("éééé€€€\n".utf8), 1, "at least 8 characters"),
        (Array("correct\thorse\n".utf8), 1, "control characters"),
        (Array("correct horse\u{7F}\n".utf8), 1, "control characters"),
        ([UInt8](repeating: 0x61, count: 1025) + [0x0A], 1, "1024"),
        ([UInt8](repeating: 0x61, count: 4097) + [0x0A], 2, "line is longer than 4096 bytes"),
    ]

    @Test(arguments: refused)
    func `an invalid password is refused by every command`(
        input: [UInt8],
        status: Int32,
        words: String
    )
        async throws
    {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        for command in [["user", "add", "bob"], ["user", "set-password", "ann"], ["hash"]] {
            let finished = try await Program.run(
                Program.built("gatehouse"),
                command + ["--password-stdin"],
                input: input,
                in: people.folder.url
            )
            #expect(finished.status == status, "\(command): \(finished)")
            #expect(finished.errors.contains(words) && finished.output == "", "\(command): \(finished)")
        }
        #expect(try await people.names() == ["ann"])
        #expect(try await people.authcheck("ann", People.password).status == 0)
    }

    @Test func `the password is the first line without its line end`() async throws {
        let people = try People()
        for (number, line) in ["  blanks count \n", "ended by Windows\r\n", "no end at all", "eight é8"].enumerated() {
            let input = line + "second line\n"
            let name = "user\(number)"
            let text = line.hasSuffix("\n") ? input : line
            let added = try await people.gatehouse("user", "add", "--password-stdin", name, input: text)
            #expect(added.status == 0, "\(line): \(added)")
            var password = line
            while password.last?.isNewline == true { password.removeLast() }
            #expect(try await people.authcheck(name, password).status == 0, "\(line)")
            #expect(try await people.authcheck(name, password.trimmingCharacters(in: .whitespaces) + "!").status == 1)
        }
    }

    @Test func `the configuration sets the minimum length of passwords`() async throws {
        let people = try People(People.configuration(passwords: "minimum-length 15;"))
        let short = try await people.gatehouse("user", "add", "--password-stdin", "ann", input: "fourteen chars")
        #expect(short == (1, "", "a password must have at least 15 characters\n"))
        let long = try await people.gatehouse("user", "add", "--password-stdin", "ann", input: "fifteen charact")
        #expect(long.status == 0)
    }

    @Test func `a password that the hash would truncate is refused`() async throws {
        let people = try People(People.configuration(passwords: "hash bcrypt cost=10;"))
        let long = String(repeating: "a", count: 73)
        let refused = try await people.gatehouse("user", "add", "--password-stdin", "ann", input: long)
        #expect(refused.status == 1 && refused.errors.contains("72"), "\(refused)")
        let hash = try await people.gatehouse("hash", "--password-stdin", input: long)
        #expect(hash.status == 1 && hash.errors.contains("72"), "\(hash)")
        #expect(try await people.names() == [])
    }

    @Test func `no password is in the store, in the output or in the arguments`() async throws {
        let people = try People()
        let added = try await people.add("ann")
        #expect(!(added.output + added.errors).contains(People.password))
        let bytes = try Data(contentsOf: people.store)
        #expect(bytes.range(of: Data(People.password.utf8)) == nil)
        #expect(bytes.range(of: Data("$argon2id$".utf8)) != nil)
        let shown = try await people.gatehouse("user", "show", "--json", "ann").output
        #expect(!shown.contains("$argon2id$"))
    }

    @Test func `a last day in the past is not asked about for a user who does not exist`() async throws {
        let people = try People()
        let terminal = try terminal(people, "user", "expire", "nosuch", "2020-02-28")
        #expect(try await terminal.end() == 1)
        let finished = try await people.gatehouse("user", "expire", "nosuch", "2020-02-28")
        #expect(finished == (1, "", "there is no user nosuch\n"))
    }

    @Test(arguments: [("y\n", Int32(0)), ("n\n", 1), ("\n", 1)])
    func `a last day in the past is confirmed on the terminal`(answer: String, status: Int32) async throws {
        let people = try People()
        _ = try await people.gatehouse("user", "add", "ann", "--no-password")
        let terminal = try terminal(people, "user", "expire", "ann", "2020-02-28")
        let question = "2020-02-28 is in the past: after this, ann could not sign in. Continue? [y/N] "
        try await terminal.answer(question, answer)
        #expect(try await terminal.end() == status)
        let shown = try await people.gatehouse("user", "show", "ann")
        #expect(shown.output.contains("expired after 2020-02-28") == (status == 0), "\(shown)")
    }
}
