// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `gatehouse init` writes all of its files, or nothing.
@Suite struct InitRefusalTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func initialize(_ arguments: String..., input: String = "") async throws -> Finished {
        try await Program.run(
            Program.built("gatehouse"),
            ["init", "--defaults"] + arguments,
            input: input,
            in: folder.url
        )
    }

    /// All files below the folder, with the folders and links.
    private var files: Set<String> {
        get throws { Set(try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)) }
    }

    @Test(arguments: [
        (["--protect", "welcome"], "a path such as / or /welcome is protected, not welcome"),
        (["--protect", "/a b"], "a path such as / or /welcome is protected, not /a b"),
        (["--protect", "/a;{"], "a path such as / or /welcome is protected"),
        (["--protect", "//"], "// is not a path that can be protected"),
        (["--protect", "/a//b"], "/a//b is not a path that can be protected"),
        (["--protect", "/a/../b"], "remove . and .."),
        (["--protect", "/:id"], "/:id contains :, and patterns are not supported"),
        (["--protect", "/a<b>"], "/a<b> contains <, and patterns are not supported"),
        (["--protect", ""], "--protect must not be empty"),
        (["--users", "ldpa"], "the users are new, pam, ldap, sql, or the path of a file such as ./users, not ldpa"),
        (["--property", "base-dn=dc=a"], "--property needs --users ldap or sql"),
        (["--password-file", "secret"], "--password-file needs --users ldap or sql"),
        (["--users", "ldap"], "give --property directory=VALUE, --property base-dn=VALUE\n"),
        (["--users", "ldap", "--property", "base-dn"], "--property takes NAME=VALUE"),
        (["--users", "ldap", "--property", "b;n=x"], "--property takes NAME=VALUE"),
        (["--users", "ldap", "--property", "search-bind-password=x"], "use --password-file FILE"),
        (["--users", "sql", "--property", "password=x"], "use --password-file FILE"),
        (["--users", "sql", "--property", "database=sqlite:a\nb"], "must not contain control characters"),
        (["--users", "sql", "--property", "database=sqlite:a}b"], "must not contain"),
        (["--users", "./a\"b"], "must not contain"),
        (["--users", "./a\nb"], "must not contain control characters"),
        (
            ["--users", "~/users"],
            "~ is not expanded in ~/users: write the whole path, or ./~/users for a path of this name"
        ),
        (["--users", "$HOME/users"], "$HOME is not expanded in $HOME/users"),
        (["--users", ""], "--users must not be empty"),
        (["--proxy", "apache"], "the proxy is none, nginx, caddy or haproxy, not apache"),
        (["--proxy", ""], "--proxy must not be empty"),
        (["--proxy", "nginx", "--host", "wiki example"], "is not a host name such as app.example.com"),
        (["--proxy", "nginx", "--host", "a;b"], "is not a host name such as app.example.com"),
        (["--proxy", "nginx", "--host", "1.2.3"], "is not a host name such as app.example.com"),
        (["--proxy", "nginx", "--host", "gatehouse"], "use another host name"),
        (["--proxy", "haproxy", "--host", "gatehouse-checks"], "use another host name"),
        (["--proxy", "nginx", "--sign-in-host", "a;b"], "is not a host name such as app.example.com"),
        (["--proxy", "nginx", "--sign-in-host", "app.example.com"], "app.example.com is given twice"),
        (["--sign-in-host", "auth.example.com"], "--sign-in-host needs --proxy nginx, caddy or haproxy"),
        (
            ["--proxy", "nginx", "--host", "a.example", "--host", "b.example", "--application", "127.0.0.1:1"],
            "the numbers of --host (2) and --application (1) are different: give one --application for each --host"
        ),
        (
            ["--proxy", "nginx", "--host", "a.example", "--application", "127.0.0.1:1"]
                + ["--host", "A.example", "--application", "127.0.0.1:2"],
            "a.example is given twice"
        ),
        (["--proxy", "nginx", "--host", ""], "--host must not be empty"),
        (["--proxy", "nginx", "--application", "3000"], "the address of an application is HOST:PORT"),
        (["--proxy", "nginx", "--application", "a;b:1"], "the address of an application is HOST:PORT"),
        (["--proxy", "nginx", "--application", "a:0"], "the address of an application is HOST:PORT"),
        (["--proxy", "nginx", "--application", "a:+80"], "the address of an application is HOST:PORT"),
        (["--proxy", "nginx", "--application", "a:080"], "the address of an application is HOST:PORT"),
        (["--proxy", "nginx", "--application", "a:65536"], "the address of an application is HOST:PORT"),
        (["--proxy", "nginx", "--application", "::1:80"], "the address of an application is HOST:PORT"),
        (["--proxy", "nginx", "--application", "[::g]:80"], "the address of an application is HOST:PORT"),
        (["--proxy", "nginx", "--application", "1.2.3.400:80"], "the address of an application is HOST:PORT"),
        (["--proxy", "nginx", "--application", ""], "--application must not be empty"),
        (["--host", "app.example.org"], "--host needs --proxy nginx, caddy or haproxy"),
        (["--application", "127.0.0.1:1"], "--application needs --proxy nginx, caddy or haproxy"),
        (["--folder", ""], "--folder must not be empty"),
        (["--folder", "~/x"], "~ is not expanded in ~/x: write the whole path, or ./~/x for a path of this name"),
        (["--folder", "~ann"], "~ is not expanded in ~ann"),
        (["--folder", "$HOME/x"], "$HOME is not expanded in $HOME/x"),
        (["--folder", "a\u{1B}b"], "must not contain control characters"),
        (["--user", ""], "--user must not be empty"),
        (["--password-stdin"], "--password-stdin needs --user NAME"),
        (["--user", "ann"], "there is no terminal for the prompt; use --password-stdin"),
    ])
    func `an answer that cannot be used writes nothing`(arguments: [String], message: String) async throws {
        let made = try await Program.run(
            try #require(Program.system("setsid")),
            ["--wait", Program.built("gatehouse").path, "init", "--defaults"] + arguments,
            in: folder.url
        )
        #expect(made.status == 2, "\(made)")
        #expect(made.errors.contains(message), "\(made)")
        #expect(try files.isEmpty)
    }

    @Test func `a file of users that cannot be read writes nothing`() async throws {
        let made = try await initialize("--users", "./missing")
        #expect(made.status == 3)
        #expect(made.errors.contains("/missing"), "\(made)")
        #expect(try files.isEmpty)
    }

    @Test(arguments: ["short", "", String(repeating: "a", count: 1025)])
    func `a password that is not allowed writes nothing`(password: String) async throws {
        let made = try await initialize(
            "--user",
            "ann",
            "--password-stdin",
            "--folder",
            "a/b",
            input: password + "\n"
        )
        #expect(made.status == 1, "\(made)")
        #expect(made.output == "")
        #expect(
            made.errors.contains(password.count > 8 ? "1024" : "at least 8 characters; nothing was written"),
            "\(made)"
        )
        #expect(try files.isEmpty)
    }

    @Test func `a file that exists is not changed, and no other file is written`() async throws {
        try folder.write("mine", to: "nginx")
        let file = try await initialize("--proxy", "nginx")
        #expect(file == (1, "", "./nginx is not a folder; nothing was written\n"))
        #expect(try files == ["nginx"])
        try folder.write("mine", to: "var")
        #expect(try await initialize() == (1, "", "./var is not a folder; nothing was written\n"))
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("caddy"),
            withIntermediateDirectories: false
        )
        try folder.write("mine", to: "caddy/gatehouse.caddy")
        let inner = try await initialize("--proxy", "caddy")
        #expect(inner.status == 1)
        #expect(
            inner.errors.hasPrefix("./caddy/gatehouse.caddy exists already; nothing was written: move it away"),
            "\(inner)"
        )
        #expect(try files == ["nginx", "var", "caddy", "caddy/gatehouse.caddy"])
    }

    @Test func `an existing configuration is kept, also a link that leads nowhere, and the next step is named`()
        async throws
    {
        #expect(try await initialize("--folder", "a b").status == 0)
        let before = try files
        let again = try await initialize("--folder", "a b", "--proxy", "haproxy")
        let message = """
            a b/realms.conf exists already; nothing was written: add users with gatehouse user add NAME --config \
            'a b/realms.conf', applications with gatehouse init --add, or name another folder

            """
        #expect(again == (1, "", message))
        #expect(try files == before)
        let link = folder.url.appendingPathComponent("realms.conf").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "elsewhere")
        let linked = try await initialize()
        #expect(linked.status == 1)
        #expect(linked.errors.hasPrefix("./realms.conf exists already; nothing was written"), "\(linked)")
        #expect(try files == before.union(["realms.conf"]))
    }

    @Test func `the users of an earlier attempt are named before anything is written`() async throws {
        let password = People.password + "\n"
        #expect(try await initialize("--user", "ann", "--password-stdin", input: password).status == 0)
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("realms.conf"))
        let same = try await initialize("--user", "ann", "--password-stdin", input: password)
        #expect(same.status == 1 && same.output == "")
        #expect(
            same.errors.contains("ann is a user already, in ./var of an earlier configuration; nothing was written")
        )
        #expect(same.errors.contains("gatehouse user set-password ann --config ./realms.conf"), "\(same)")
        #expect(try !files.contains("realms.conf"))
        let other = try await initialize("--user", "bob", "--password-stdin", input: password)
        #expect(other.status == 0)
        #expect(
            other.errors
                == "warning: ./var exists already, and its users can sign in: ann\n"
        )
    }

    @Test(arguments: [4, 8])
    func `if a file or the first user cannot be written, everything is removed`(blocks: Int) async throws {
        // The limit of a file is 2048 bytes, less than a file of nginx, or 4096 bytes, less than the store.
        let made = try await Program.run(
            try #require(Program.system("sh")),
            ["-c", "trap '' XFSZ; ulimit -f \(blocks); exec \"$@\"", "sh", Program.built("gatehouse").path]
                + ["init", "--defaults", "--user", "ann", "--password-stdin", "--folder", "a/b"]
                + (blocks == 4 ? ["--proxy", "nginx"] : []),
            input: People.password + "\n",
            in: folder.url
        )
        #expect([1, 3].contains(made.status), "\(made)")
        #expect(made.output == "" && made.errors.hasSuffix("nothing was written\n"), "\(made)")
        #expect(try files.isEmpty)
    }
}
