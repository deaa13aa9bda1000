// SPDX-License-Identifier: Apache-2.0

import DirectoryTesting
import Foundation
import Testing

/// `gatehouse init` with the users of a directory or a database.
@Suite struct InitServerUsersTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
    }

    @Test(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
    func `the questions about a directory are asked again after a wrong answer, and its servers are tested`()
        async throws
    {
        let directory = try await SlapdServer()
        let password = SlapdServer.service.password
        let terminal = try PseudoTerminal(Program.built("gatehouse"), ["init"], in: folder.url)
        try await terminal.answer("Which path is protected? [/] ", "\n")
        try await terminal.answer("[new] ", "ldap\n")
        try await terminal.answer("several URLs with blanks between them) ", "ldap://ldap.example.org\n")
        try await terminal.answer("Use StartTLS? (true, false) [true] ", "false\n")
        try await terminal.answer("(such as ou=people,dc=example,dc=org) ", "\(SlapdServer.base)\n")
        try await terminal.answer("or none) [none] ", "no-name\n")
        try await terminal.answer("The password of the account for searches: ", "\(password)\n")
        try await terminal.answer("[false] ", "samba\n")
        try await terminal.answer("one of: true, false\nIs it Active Directory or Samba? (true, false) [false] ", "\n")
        try await terminal.answer("the base DN of the users) [none] ", "\(SlapdServer.groups)\n")
        try await terminal.answer("[(|(member=%d)(uniqueMember=%d)(memberUid=%s))] ", "\n")
        try await terminal.answer("[ldap://ldap.example.org] ", "\(directory.url)\n")
        #expect(terminal.shown.contains("would receive passwords without encryption"), "\(terminal.shown)")
        try await terminal.answer("[\(SlapdServer.base)] ", "\n")
        try await terminal.answer("or none) [none] ", "\(SlapdServer.service.name)\n")
        try await terminal.answer("The password of the account for searches: ", "\(password)\n")
        try await terminal.answer("[false] ", "\n")
        try await terminal.answer("[\(SlapdServer.groups)] ", "\n")
        try await terminal.answer("(memberUid=%s))] ", "\n")
        try await terminal.answer("Which proxy? (none, nginx, caddy, haproxy) [none] ", "\n")
        try await terminal.answer("In which folder? [.] ", "made\n")
        try await terminal.answer("The name of a user to look up? (empty for none) ", "ann\n")
        #expect(try await terminal.end() == 0, "\(terminal.output)")
        #expect(terminal.output.contains("ok      \(directory.url): a login binds as \(SlapdServer.ann.name)"))
        #expect(terminal.output.contains("user ann, groups: "), "\(terminal.output)")
        #expect(!terminal.shown.contains(password) && !terminal.output.contains(password))
        #expect(try !text("made/realms.conf").contains(password))
        #expect(try text("made/ldap.secret") == password)
        let secret = folder.url.appendingPathComponent("made/ldap.secret").path
        let attributes = try FileManager.default.attributesOfItem(atPath: secret)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let checked = try await Program.run(
            Program.built("authcheck"),
            ["--config", "made/realms.conf", "--password-stdin", "people", "ann"],
            input: SlapdServer.ann.password + "\n",
            in: folder.url
        )
        #expect(checked.status == 0 && checked.output.contains("group  staff"), "\(checked)")
        #expect(checked.errors == "", "\(checked)")
    }

    @Test(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
    func `a directory by options, with a file for the password; if the test fails, the files stay`() async throws {
        let directory = try await SlapdServer()
        let secret = try folder.write(SlapdServer.service.password + "\n", to: "secret").path
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        func options(_ folder: String) -> [String] {
            [
                "--users", "ldap", "--property", "directory=\(directory.url)", "--property",
                "base-dn=\(SlapdServer.base)",
            ]
                + ["--property", "search-bind-dn=\(SlapdServer.service.name)", "--folder", folder]
        }
        let program = Program.built("gatehouse")
        let setsid = try #require(Program.system("setsid"))
        let unnamed = try await Program.run(
            setsid,
            ["--wait", program.path, "init", "--defaults"] + options("made"),
            in: folder.url
        )
        #expect(unnamed == (2, "", "give --password-file FILE\n"))
        let terminal = try PseudoTerminal(program, ["init", "--defaults"] + options("typed"), in: folder.url)
        try await terminal.answer("The password of the account for searches: ", SlapdServer.service.password + "\n")
        #expect(try await terminal.end() == 0, "\(terminal.output)")
        #expect(try text("typed/ldap.secret") == SlapdServer.service.password)
        let made = try await Program.run(
            program,
            ["init", "--defaults", "--password-file", "./secret"] + options("made"),
            in: folder.url
        )
        #expect(made.status == 0 && made.output.contains("\nok      \(directory.url): "), "\(made)")
        #expect(try text("made/realms.conf").contains("search-bind-password  \"${file:\(secret)}\";"))
        await directory.stop()
        let failed = try await Program.run(
            program,
            ["init", "--defaults", "--password-file", secret, "--user", "ann"] + options("next"),
            in: folder.url
        )
        #expect(failed.status == 4 && failed.output.contains("\nFAILED  \(directory.url): "), "\(failed)")
        let command = "gatehouse realm test people ann --config next/realms.conf"
        #expect(failed.errors.hasSuffix("correct next/realms.conf, and run \(command)\n"), "\(failed)")
        #expect(try text("next/realms.conf").contains("class                 LDAPRealm;"))
    }

    @Test(.enabled(if: Program.system("sqlite3") != nil, "sqlite3 is not installed"))
    func `tables of SQLite, whose path is that of the current folder`() async throws {
        let sqlite = try #require(Program.system("sqlite3"))
        let hash = try await Program.run(
            Program.built("gatehouse"),
            ["hash", "--password-stdin"],
            input: People.password + "\n",
            in: folder.url
        )
        let statements = """
            CREATE TABLE users (name TEXT, password TEXT); CREATE TABLE memberships (name TEXT, grp TEXT);
            INSERT INTO users VALUES ('ann', '\(hash.output.dropLast())'); INSERT INTO memberships VALUES ('ann', 'staff');
            """
        #expect(try await Program.run(sqlite, ["users.db", statements], in: folder.url).status == 0)
        let properties = [
            "database=sqlite:users.db", "user-table=users", "user-name-column=name", "password-column=password",
            "group-table=memberships", "group-name-column=grp",
        ].flatMap { ["--property", $0] }
        func initialize(_ arguments: [String]) async throws -> Finished {
            try await Program.run(
                Program.built("gatehouse"),
                ["init", "--defaults", "--users", "sql"] + arguments,
                in: folder.url
            )
        }
        let missing = try await initialize(Array(properties.dropLast(2)))
        #expect(missing == (2, "", "give --property group-name-column=VALUE\n"))
        let wrong = try await initialize(properties.map { $0.replacing("=memberships", with: "=absent") })
        #expect(wrong.status == 3 && wrong.errors.contains("no such table: absent"), "\(wrong)")
        let made = try await initialize(properties + ["--folder", "made", "--user", "ann"])
        #expect(made.status == 0 && made.output.contains("\nok      sqlite:"), "\(made)")
        let checked = try await Program.run(
            Program.built("authcheck"),
            ["--config", "made/realms.conf", "--password-stdin", "people", "ann"],
            input: People.password + "\n",
            in: folder.url
        )
        #expect(checked.status == 0 && checked.output.contains("group  staff"), "\(checked)")
        let unknown = try await initialize(properties + ["--folder", "next", "--user", "zoe"])
        #expect(unknown.status == 4 && unknown.output.contains("there is no user zoe"), "\(unknown)")
    }
}
