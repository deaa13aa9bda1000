// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `gatehouse init`: the files that it makes are used as they are.
@Suite struct InitTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func gatehouse(_ arguments: String..., input: String = "") async throws -> Finished {
        try await Program.run(Program.built("gatehouse"), arguments, input: input, in: folder.url)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
    }

    @Test func `a first configuration with a first user, who can sign in`() async throws {
        let made = try await gatehouse(
            "init",
            "--defaults",
            "--protect",
            "/welcome",
            "--user",
            "ann",
            "--password-stdin",
            input: People.password + "\n"
        )
        let expected = """
            made ./realms.conf
            ann added (realm people)

            next: gatehouse serve --config ./realms.conf
            then open https://localhost:8443/welcome
            other paths are open to all clients

            """
        #expect(made == (0, expected, ""))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["realms.conf", "var"]
        )
        #expect(try text("realms.conf").contains("other paths are open to all clients"))
        let checked = try await Program.run(
            Program.built("authcheck"),
            ["--password-stdin", "people", "ann"],
            input: People.password + "\n",
            in: folder.url
        )
        #expect(checked.status == 0, "\(checked)")
        let file = try text("realms.conf").replacing("127.0.0.1:8443", with: "127.0.0.1:0")
        try folder.write(file, to: "realms.conf")
        let server = try await RunningServer(in: folder)
        #expect(try await server.request("/welcome/x").status == 401)
        #expect(try await server.request("/other").status == 404)
    }

    @Test func `with the state folder of a service, nothing is read or written there`() async throws {
        let state = folder.url.appendingPathComponent("service").path
        try folder.write("", to: "service")
        let made = try await gatehouse(
            "init",
            "--defaults",
            "--proxy",
            "nginx",
            "--folder",
            "new",
            "--state",
            "\(state)/"
        )
        #expect(made.status == 0 && made.errors == "", "\(made)")
        #expect(try text("new/realms.conf").contains("state   \"\(state)\";"))
        #expect(
            made.output.contains(
                "next: gatehouse user add NAME --config new/realms.conf      # as the user of the server"
            )
        )
        #expect(
            made.output.contains("install -D -m 644 \(state)/development-authority.pem /etc/nginx/gatehouse-ca.pem")
        )
        #expect(try !FileManager.default.contentsOfDirectory(atPath: folder.url.path).contains("var"))
    }

    @Test(arguments: [
        (
            ["--state", "var/lib"],
            "--state takes an absolute path without \" \\ $, such as /var/lib/gatehouse, not var/lib"
        ),
        (["--state", "/var/$X"], "--state takes an absolute path"), (["--state", "~/x"], "~ is not expanded in ~/x"),
        (["--state", "/s", "--user", "ann"], "--user adds no user to the folder of --state: use gatehouse user add"),
        (["--state", "/s", "--password-stdin"], "--password-stdin needs --users new, --user NAME, and no --state"),
    ])
    func `a state folder that cannot be used is an error`(arguments: [String], message: String) async throws {
        let made = try await Program.run(
            Program.built("gatehouse"),
            ["init", "--defaults"] + arguments,
            input: "",
            in: folder.url
        )
        #expect(made.status == 2 && made.errors.contains(message), "\(made)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test func `without a first user, the next step is to add one`() async throws {
        let made = try await gatehouse("init", "--defaults", "--folder", "it's/")
        let expected = """
            made it's/realms.conf

            next: gatehouse user add NAME --config 'it'\\''s/realms.conf'
                  gatehouse serve --config 'it'\\''s/realms.conf'
            then open https://localhost:8443/

            """
        #expect(made == (0, expected, ""))
        let shell = try #require(Program.system("sh"))
        let command = made.output.split(separator: "\n").filter { $0.contains("gatehouse user add") }.joined()
            .replacing("next: gatehouse", with: "\"$0\"").replacing("NAME", with: "--no-password ann")
        let added = try await Program.run(shell, ["-c", command, Program.built("gatehouse").path], in: folder.url)
        #expect(added == (0, "ann added (realm people)\n", ""))
        // A path that begins with - would be read as an option.
        let dash = try await gatehouse("init", "--defaults", "--folder=-x")
        #expect(dash.status == 0 && dash.output.hasPrefix("made ./-x/realms.conf\n"), "\(dash)")
        #expect(try await gatehouse("check", "--config", "./-x/realms.conf").status == 0)
    }

    @Test func `questions on the terminal, with their defaults`() async throws {
        let terminal = try PseudoTerminal(Program.built("gatehouse"), ["init"], in: folder.url)
        try await terminal.answer("Which path is protected? [/] ", "/staff\n")
        try await terminal.answer("Which users? (new, pam, ldap, sql, or the path of a file of users) [new] ", "\n")
        try await terminal.answer("Which proxy? (none, nginx, caddy, haproxy) [none] ", "nginx\n")
        try await terminal.answer("Which host name does the application have? [app.example.com] ", "wiki.example.org\n")
        try await terminal.answer("Which address does the application have? [127.0.0.1:3000] ", "127.0.0.1:4000\n")
        try await terminal.answer("In which folder? [.] ", "made\n")
        try await terminal.answer("The name of the first user? (empty for none) ", "ann\n")
        try await terminal.answer("New password for ann: ", People.password + "\n")
        try await terminal.answer("Once more: ", People.password + "\n")
        #expect(try await terminal.end() == 0, "\(terminal.output)")
        #expect(try text("made/realms.conf").contains("protect wiki.example.org/staff {"))
        #expect(try text("made/realms.conf").contains("other paths of wiki.example.org are denied"))
        #expect(try text("made/nginx/wiki.example.org.conf").contains("server 127.0.0.1:4000;"))
        #expect(terminal.output.contains("the application of wiki.example.org is expected at 127.0.0.1:4000\n"))
        #expect(terminal.output.contains("\nother paths of wiki.example.org are denied\n"), "\(terminal.output)")
        #expect(
            terminal.output.hasSuffix(
                "\na further application: gatehouse init --add --folder made --host NAME --application ADDRESS\n"
            )
        )
        let other = try await gatehouse("explain", "--config", "made/realms.conf", "GET", "https://wiki.example.org/")
        #expect(other.status == 1, "\(other)")
    }

    @Test func `a wrong answer on the terminal is asked for again, with the reason`() async throws {
        try folder.write("", to: "full")
        let terminal = try PseudoTerminal(Program.built("gatehouse"), ["init"], in: folder.url)
        try await terminal.answer("Which path is protected? [/] ", "//\n")
        try await terminal.answer(
            "one / is enough: a request with // is rejected\nWhich path is protected? [/] ",
            "/a\n"
        )
        try await terminal.answer("[new] ", "./missing\n")
        try await terminal.answer(
            "of Gatehouse\nWhich users? (new, pam, ldap, sql, or the path of a file of users) [new] ",
            "\n"
        )
        try await terminal.answer("[none] ", "apache\n")
        try await terminal.answer("not apache\nWhich proxy? (none, nginx, caddy, haproxy) [none] ", "\n")
        try await terminal.answer("In which folder? [.] ", "full\n")
        try await terminal.answer("full is not a folder; nothing was written\nIn which folder? [.] ", "~/x\n")
        try await terminal.answer("or ./~/x for a path of this name\nIn which folder? [.] ", "\n")
        try await terminal.answer("first user? (empty for none) ", "ann\n")
        try await terminal.answer("New password for ann: ", "short\n")
        try await terminal.answer("at least 8 characters\nNew password for ann: ", People.password + "\n")
        try await terminal.answer("Once more: ", "another password\n")
        try await terminal.answer("the two passwords are not the same\nNew password for ann: ", People.password + "\n")
        try await terminal.answer("Once more: ", People.password + "\n")
        #expect(try await terminal.end() == 0, "\(terminal.output)")
        #expect(try text("realms.conf").contains("protect /a {"))
    }

    @Test(arguments: 0...6)
    func `the end of the input at a question ends the command, and writes nothing`(question: Int) async throws {
        let prompts = [
            "[/] ", "[new] ", "[none] ", "[app.example.com] ", "[127.0.0.1:3000] ", "[.] ", "(empty for none) ",
        ]
        let terminal = try PseudoTerminal(Program.built("gatehouse"), ["init"], in: folder.url)
        for (number, prompt) in prompts.prefix(question + 1).enumerated() {
            try await terminal.answer(prompt, number == question ? "\u{4}" : number == 2 ? "caddy\n" : "\n")
        }
        #expect(try await terminal.end() == 1)
        #expect(terminal.output == "the question has no answer; nothing was written\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test func `without a terminal and --defaults, every option but --user is needed`() async throws {
        let setsid = try #require(Program.system("setsid"))
        func run(_ arguments: String...) async throws -> Finished {
            try await Program.run(
                setsid,
                ["--wait", Program.built("gatehouse").path, "init"] + arguments,
                in: folder.url
            )
        }
        #expect(
            try await run()
                == (
                    2, "",
                    "there is no terminal for the questions: give --protect, --users, --folder, or --defaults\n"
                )
        )
        #expect(try await run("--proxy", "apache").errors == "the proxy is none, nginx, caddy or haproxy, not apache\n")
        #expect(
            try await run("--users", "ldap").errors
                == """
                there is no terminal for the questions: give --property directory=VALUE, --property base-dn=VALUE, --protect, \
                --folder

                """
        )
        let some = try await run("--protect", "/", "--users", "new", "--proxy", "nginx", "--folder", ".")
        #expect(some.errors == "there is no terminal for the questions: give --host, --application, or --defaults\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        let all = try await run("--protect", "/", "--users", "new", "--folder", ".")
        #expect(all.status == 0, "\(all)")
    }

    @Test func `users of a file`() async throws {
        try folder.write("", to: "people")
        let path = folder.url.appendingPathComponent("people").path
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let user = try await gatehouse("init", "--defaults", "--users", "./people", "--user", "ann")
        #expect(user == (2, "", "--user needs --users new, ldap or sql\n"))
        let file = try await gatehouse("init", "--defaults", "--users", "./people", "--folder", "made")
        #expect(file.status == 0, "\(file)")
        #expect(file.output.contains("\nnext: gatehouse serve --config made/realms.conf\n"), "\(file)")
        #expect(file.errors.contains("warning: no user of \(path) can sign in: the file has no users\n"), "\(file)")
        for (line, canSignIn) in [("ann:*\n", false), ("ann:*\nbob:$1$xxxxxxxx$BSCEFsmIRHBu.CKPbwMYr/\n", true)] {
            try folder.write(line, to: "people")
            let next = try await gatehouse("init", "--defaults", "--users", "./people", "--folder", "\(canSignIn)")
            #expect(next.errors.contains("can sign in: each user is disabled") == !canSignIn, "\(next)")
        }
        #expect(try await gatehouse("check", "--config", "made/realms.conf").output.contains("FileRealm"))
    }

    @Test func `users of the system need a service file`() async throws {
        let system = try await gatehouse("init", "--defaults", "--users", "pam", "--folder", "made")
        guard FileManager.default.fileExists(atPath: "/etc/pam.d/gatehouse") else {
            #expect(system.status == 3)
            #expect(
                system.errors.contains("write to /etc/pam.d/gatehouse:\n        @include common-auth\n"),
                "\(system)"
            )
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
            return
        }
        #expect(system.status == 0, "\(system)")
        #expect(try text("made/realms.conf").contains("class PAMRealm; service gatehouse;"), "\(system)")
    }
}
