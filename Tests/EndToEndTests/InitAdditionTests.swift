// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `gatehouse init` for several applications, at once and one later.
@Suite struct InitAdditionTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func initialize(_ arguments: String...) async throws -> Finished {
        try await Program.run(Program.built("gatehouse"), ["init"] + arguments, in: folder.url)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
    }

    /// All files below the folder, with the folders.
    private var files: Set<String> {
        get throws { Set(try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)) }
    }

    private func status(of url: String) async throws -> String {
        let explained = try await Program.run(Program.built("gatehouse"), ["explain", "GET", url], in: folder.url)
        return String(explained.output.prefix(3))
    }

    /// Makes a configuration with two applications and a sign-in host.
    private func makeTwo() async throws {
        let made = try await initialize(
            "--defaults",
            "--proxy",
            "nginx",
            "--sign-in-host",
            "auth.example.org",
            "--host",
            "a.example.org",
            "--application",
            "127.0.0.1:4000",
            "--host",
            "b.example.org",
            "--application",
            "127.0.0.1:4001"
        )
        #expect(
            made.status == 0 && made.output.contains("\nthen open https://a.example.org/, https://b.example.org/\n")
        )
    }

    @Test func `each host has its rule and its file, and the sign-in host its own`() async throws {
        try await makeTwo()
        #expect(try text("realms.conf").contains("sign-in { host auth.example.org; prefix /gatehouse; }"))
        for (host, port) in [("a.example.org", "4000"), ("b.example.org", "4001")] {
            #expect(try await status(of: "https://\(host)/x") == "401")
            #expect(try text("nginx/\(host).conf").contains("upstream \(host) {\n    server 127.0.0.1:\(port);"))
        }
        #expect(try text("nginx/auth.example.org.conf").contains("server_name auth.example.org;"))
        #expect(try !text("nginx/auth.example.org.conf").contains("upstream"))
    }

    @Test func `a later application keeps every byte of realms.conf, and its owner can have changed it`() async throws {
        try await makeTwo()
        // Without a line end at its end.
        let edited = try text("realms.conf") + "# my own\nprotect a.example.org/open { open; }"
        try folder.write(edited, to: "realms.conf")
        try folder.write("mine", to: "nginx/gatehouse.conf")
        let added = try await initialize(
            "--add",
            "--host",
            "c.example.org",
            "--application",
            "[::1]:5000",
            "--protect",
            "/staff"
        )
        #expect(added.status == 0 && added.errors == "", "\(added)")
        #expect(
            added.output.hasPrefix("made ./nginx/c.example.org.conf\nadded rules to ./realms.conf: c.example.org\n"),
            "\(added)"
        )
        #expect(try text("realms.conf").hasPrefix(edited + "\n\n"))
        #expect(try text("nginx/gatehouse.conf") == "mine")
        let attributes = try FileManager.default.attributesOfItem(
            atPath: folder.url.appendingPathComponent("realms.conf").path
        )
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try await status(of: "https://c.example.org/staff") == "401")
        #expect(try await status(of: "https://a.example.org/open") == "200")
        #expect(try await status(of: "https://c.example.org/other") == "403")
    }

    @Test(arguments: [
        (["--host", "b.example.org", "--application", "127.0.0.1:1"], 3, "a second rule for b.example.org/"),
        (["--host", "a;b", "--application", "127.0.0.1:1"], 2, "is not a host name such as app.example.com"),
        (["--host", "c.example.org", "--application", "1"], 2, "the address of an application is HOST:PORT"),
        (["--host", "c.example.org", "--application", "a:1", "--protect", "//"], 3, "// is not a path"),
        (["--host", "c.example.org", "--application", "a:1", "--proxy", "none"], 2, "give --proxy nginx, caddy"),
        (["--host", "c.example.org", "--application", "a:1", "--folder", "x"], 1, "there is no x/realms.conf"),
        (["--host", "c.example.org", "--defaults"], 2, "give --application\n"),
        (["--users", "new"], 2, "--users cannot be"),
        (["--state", "/s"], 2, "--state cannot be used with --add"), (["--user", "ann"], 2, "--user cannot be used"),
        (
            ["--sign-in-host", "x.example.org"], 2,
            "write sign-in { host NAME; prefix /gatehouse; } in the server block"
        ),
    ])
    func `an application that cannot be added changes nothing`(
        arguments: [String],
        status: Int32,
        message: String
    ) async throws {
        try await makeTwo()
        let (before, rules) = (try files, try text("realms.conf"))
        let setsid = try #require(Program.system("setsid"))
        let added = try await Program.run(
            setsid,
            ["--wait", Program.built("gatehouse").path, "init", "--add"] + arguments,
            in: folder.url
        )
        #expect(added.status == status && added.errors.contains(message), "\(added)")
        #expect(try files == before && text("realms.conf") == rules)
    }

    @Test func `a file of the host that exists is not replaced, and its rule is not added`() async throws {
        try await makeTwo()
        try folder.write("mine", to: "nginx/c.example.org.conf")
        let rules = try text("realms.conf")
        let added = try await initialize("--add", "--host", "c.example.org", "--application", "127.0.0.1:1")
        #expect(added.status == 1 && added.errors.contains("nginx/c.example.org.conf exists already"), "\(added)")
        #expect(try text("realms.conf") == rules && text("nginx/c.example.org.conf") == "mine")
    }

    @Test func `a configuration without a proxy, or with an error, gets no rule`() async throws {
        #expect(try await initialize("--defaults").status == 0)
        let arguments = ["--add", "--proxy", "nginx", "--host", "c.example.org", "--application", "127.0.0.1:1"]
        let program = Program.built("gatehouse")
        let added = try await Program.run(program, ["init"] + arguments, in: folder.url)
        #expect(added.status == 3 && added.errors.contains("trusted-proxies 127.0.0.1;"), "\(added)")
        try folder.write(text("realms.conf") + "nonsense;\n", to: "realms.conf")
        let wrong = try await Program.run(program, ["init"] + arguments, in: folder.url)
        #expect(wrong.status == 3 && wrong.errors.hasSuffix("nothing was written\n"), "\(wrong)")
        #expect(try files == ["realms.conf"])
    }
}
