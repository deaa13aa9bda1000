// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Commands and the server report the errors of a configuration with their lines, and do not start.
@Suite struct RefusedConfigurationTests {
    private static let login = "login xtechMyRealm { StartWithLoginModule required; }\n"
    private static let realm = "realm xtech { class StartWithRealm; }\n"

    struct Case: Sendable, CustomTestStringConvertible {
        let configuration: String
        let place: String
        let words: [String]

        var testDescription: String { "\(place): \(words.joined(separator: ", "))" }
    }

    static let cases = [
        Case(configuration: "relm xtech { }", place: "realms.conf:1:1", words: ["relm", "realm"]),
        Case(
            configuration: login + "realm xtech { class StartWithRelm; }",
            place: "realms.conf:2:21",
            words: ["StartWithRealm"]
        ),
        Case(
            configuration: login + "realm xtech { class StartWithRealm; startwith z; }",
            place: "realms.conf:2:37",
            words: ["startWith"]
        ),
        Case(configuration: realm, place: "realms.conf:1:7", words: ["xtechMyRealm"]),
        Case(
            configuration: "login xtechMyRealm { StartWithLoginModul required; }\n" + realm,
            place: "realms.conf:1:22",
            words: ["StartWithLoginModule"]
        ),
        Case(
            configuration: "login xtechMyRealm { StartWithLoginModule required debug=\"x\"; }\n" + realm,
            place: "realms.conf:1:52",
            words: ["StartWithLoginModule has no such option", "deadline"]
        ),
        Case(
            configuration: "login xtechMyRealm { StartWithLoginModule require; }\n" + realm,
            place: "realms.conf:1:43",
            words: ["required"]
        ),
        Case(
            configuration: "login xtechMyRealm { StartWithLoginModule required }\n" + realm,
            place: "realms.conf:1:51",
            words: [";"]
        ),
        Case(
            configuration: "login-config missing.conf;",
            place: "realms.conf:1:14",
            words: ["missing.conf", "No such file"]
        ),
        Case(
            configuration: login + realm + "protect /welcome { realm xtec; require any; }",
            place: "realms.conf:3:26",
            words: ["xtech"]
        ),
        Case(
            configuration: login + realm + "protect /welcome { realm xtech; }",
            place: "realms.conf:3:9",
            words: ["require"]
        ),
        Case(configuration: "server { listen localhost; }", place: "realms.conf:1:17", words: ["HOST:PORT"]),
        Case(
            configuration: "server { tls { certificate a.pem; } }",
            place: "realms.conf:1:10",
            words: ["certificate and key"]
        ),
        Case(
            configuration: "server { tls { certificate a.pem; key b.pem; } }",
            place: "realms.conf:1:28",
            words: ["a.pem", "No such file"]
        ),
        Case(
            configuration: "server { trusted-proxies proxy; }",
            place: "realms.conf:1:26",
            words: ["takes addresses"]
        ),
    ]

    @Test(arguments: cases)
    func `every command refuses a broken configuration and reports the line of the error`(test: Case) async throws {
        let folder = try TemporaryFolder()
        try folder.write(test.configuration, to: "realms.conf")
        var commands = [("gatehouse", ["serve"]), ("gatehouse", ["check"])]
        if !test.configuration.contains("a.pem; key") { commands.append(("authcheck", ["xtech", "zed"])) }
        for (name, arguments) in commands {
            let finished = try await Program.run(Program.built(name), arguments, in: folder.url)
            #expect(finished.status == 3, "\(name): \(finished.errors)")
            #expect(finished.errors.hasPrefix(test.place + ": error: "), "\(name): \(finished.errors)")
            for word in test.words { #expect(finished.errors.contains(word), "\(name): \(finished.errors)") }
            #expect(finished.errors.components(separatedBy: ": error: ").count == 2, "\(name): \(finished.errors)")
            // Standard error of the server is a log here, which shows no lines of the configuration.
            if arguments == ["serve"] { #expect(!finished.errors.contains("\n    "), "\(finished.errors)") }
            #expect(!finished.output.contains("listening"))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.url.appendingPathComponent("var").path))
    }

    @Test func `CVE-2026-54762: a missing configuration is an error, not an empty configuration`() async throws {
        let folder = try TemporaryFolder()
        let finished = try await Program.run(
            Program.built("gatehouse"),
            ["serve", "--config", "none.conf"],
            in: folder.url
        )
        #expect(finished.status == 3)
        #expect(finished.errors.contains("none.conf") && finished.errors.contains("No such file"))
    }

    @Test func `the error for a port in use has the line of the address`() async throws {
        let first = try await RunningServer("server { listen 127.0.0.1:0; }")
        defer { withExtendedLifetime(first) {} }
        let folder = try TemporaryFolder()
        try folder.write("server {\n    listen 127.0.0.1:0 127.0.0.1:\(first.port);\n}", to: "realms.conf")
        let second = try await Program.run(Program.built("gatehouse"), ["serve"], in: folder.url)
        #expect(second.status == 3)
        #expect(!second.output.contains("listening"), "the server does not start if an address is in use")
        #expect(second.errors.components(separatedBy: "error").count == 2, "\(second.errors)")
        #expect(
            second.errors.contains("realms.conf:2:24: error: cannot listen on 127.0.0.1:\(first.port)"),
            "\(second.errors)"
        )
    }

    @Test func `a key of another certificate, an unreadable key and a folder as a key are refused`() async throws {
        let openssl = try #require(Program.system("openssl"))
        let folder = try TemporaryFolder()
        for name in ["a", "b"] {
            let arguments = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost",
                "-keyout", "\(name).key", "-out", "\(name).pem",
            ]
            #expect(try await Program.run(openssl, arguments, in: folder.url).status == 0)
        }
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("c.key"),
            withIntermediateDirectories: false
        )
        try folder.write("-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n", to: "d.key")
        for (key, word) in [
            ("b", "does not belong"), ("c", "directory"), ("d", "cannot be read"), ("e", "No such file"),
        ] {
            try folder.write(
                "server { listen 127.0.0.1:0; tls { certificate a.pem; key \(key).key; } }",
                to: "realms.conf"
            )
            let finished = try await Program.run(Program.built("gatehouse"), ["serve"], in: folder.url)
            #expect(finished.status == 3)
            #expect(
                finished.errors.contains("realms.conf:1:59: error: ") && finished.errors.contains(word),
                "\(finished.errors)"
            )
        }
        try folder.write("server { listen 127.0.0.1:0; tls { certificate a.pem; key a.key; } }", to: "realms.conf")
        #expect(try await Program.run(Program.built("gatehouse"), ["check"], in: folder.url).status == 0)
    }

    @Test func `only the owner can read the development key, and a second start does not replace it`() async throws {
        let server = try await RunningServer("server { listen 127.0.0.1:0; }")
        let state = server.folder.url.appendingPathComponent("var")
        let key = state.appendingPathComponent("development-key.pem").path
        #expect(try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.attributesOfItem(atPath: state.path)[.posixPermissions] as? Int == 0o700)
        let before = try Data(contentsOf: URL(fileURLWithPath: server.certificate))
        #expect(await server.end() == 0)
        let again = try await RunningServer(in: server.folder)
        #expect(await again.end() == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: server.certificate)) == before)
    }

    @Test func `invalid arguments exit with 2, and help exits with 0`() async throws {
        for arguments in [[], ["nonsense"], ["serve", "--port", "1"], ["check", "-D", "x"]] {
            #expect(try await Program.run(Program.built("gatehouse"), arguments).status == 2)
        }
        for arguments in [["--help"], ["help", "serve"], ["check", "--help"]] {
            let help = try await Program.run(Program.built("gatehouse"), arguments)
            #expect(help.status == 0)
            #expect(help.output.contains("USAGE: gatehouse"))
        }
    }

    @Test func `a quoted line keeps its tabs, and the underline is below its word`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("server {\n\tlisten\t127.0.0.1:0;\n\tthread\t\t2;\n}", to: "realms.conf")
        let finished = try await Program.run(Program.built("gatehouse"), ["check"], in: folder.url)
        #expect(finished.status == 3)
        #expect(
            finished.errors == """
                realms.conf:3:2: error: unknown statement thread in server
                    \tthread\t\t...
                    \t^~~~~~
                    hint: did you mean threads?

                """
        )
    }

    @Test(
        arguments: [
            ["gatehouse", "user", "add", "eve", "--password", "hunter2"],
            ["gatehouse", "user", "set-password", "eve", "--password=hunter2"],
            ["gatehouse", "user", "add", "eve", "--password"], ["gatehouse", "hash", "--password", "hunter2"],
            ["authcheck", "--password", "hunter2", "xtech", "zed"],
        ]
    )
    func `a password in the arguments is refused, and the message describes the alternatives`(
        words: [String]
    ) async throws {
        let finished = try await Program.run(Program.built(words[0]), Array(words.dropFirst()))
        #expect(finished.status == 2 && finished.output.isEmpty)
        let first = """
            Error: --password is refused, because every user of this machine can read arguments. \
            Type the password at the prompt, or use --password-stdin to read it from standard input.

            """
        #expect(finished.errors.hasPrefix(first), "\(finished.errors)")
        #expect(finished.errors.contains("Usage: \(words[0])") && !finished.errors.contains("hunter2"))
    }
}
