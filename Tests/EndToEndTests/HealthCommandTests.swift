// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `gatehouse health` with the built server.
@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct HealthCommandTests {
    private static func configuration(listen: String = "127.0.0.1:0", rules: String) -> String {
        """
        default-realm xtech;
        login xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; }
        realm xtech { class StartWithRealm; }
        server { listen \(listen); }
        \(rules)
        """
    }

    private func health(_ arguments: String..., in folder: TemporaryFolder) async throws -> Finished {
        try await Program.run(Program.built("gatehouse"), ["health"] + arguments, in: folder.url)
    }

    @Test(arguments: [("protect /welcome { require any; }", 200), ("protect / { require any; }", 401)])
    func `a server that answers is healthy, even if a rule protects the page`(rules: String, code: Int) async throws {
        let server = try await RunningServer(Self.configuration(rules: rules))
        let answered = try await health("--address", "127.0.0.1:\(server.port)", in: server.folder)
        #expect(answered.status == 0, "\(answered)")
        #expect(answered.output == "https://127.0.0.1:\(server.port)/health: the answer is \(code)\n")
        // The address of the configuration; a server on all addresses is asked on the loopback address.
        let folder = try TemporaryFolder()
        try folder.write(Self.configuration(listen: "0.0.0.0:\(server.port)", rules: rules), to: "realms.conf")
        let configured = try await health(in: folder)
        #expect(configured.status == 0, "\(configured)")
        #expect(configured.output == answered.output)
        // A server that hangs is not healthy.
        server.signal(SIGSTOP)
        let stopped = try await health("--address", "127.0.0.1:\(server.port)", "--timeout", "1", in: server.folder)
        #expect(stopped.status == 4, "\(stopped)")
        server.signal(SIGCONT)
        let continued = try await health("--address", "127.0.0.1:\(server.port)", in: server.folder)
        #expect(continued.status == 0, "\(continued)")
        let status = await server.end()
        #expect(status == 0, "\(server.log)")
        let ended = try await health("--address", "127.0.0.1:\(server.port)", in: server.folder)
        #expect(ended.status == 4, "\(ended)")
        #expect(ended.errors == "https://127.0.0.1:\(server.port)/health: cannot connect: Connection refused\n")
    }

    @Test(arguments: ["nonsense x;", "protect /x { require", "realm xtech { class StartWithRealm; startWit z; }"])
    func `a server that answers is healthy while its configuration has errors, which are named`(
        mistake: String
    )
        async throws
    {
        let rules = "protect /welcome { require any; }"
        let server = try await RunningServer(Self.configuration(rules: rules))
        let folder = try TemporaryFolder()
        let configuration = Self.configuration(listen: "127.0.0.1:\(server.port)", rules: rules)
        try folder.write("\(configuration)\n\(mistake)\n", to: "realms.conf")
        let answered = try await health(in: folder)
        #expect(answered.status == 0 && answered.errors == "", "\(answered)")
        #expect(answered.output.hasPrefix("https://127.0.0.1:\(server.port)/health: the answer is 200\nwarning: "))
        let warning = "could not be started again with the configuration: realms.conf:"
        #expect(answered.output.contains(warning), "\(answered)")
        _ = await server.end()
        let ended = try await health(in: folder)
        #expect(ended.status == 3 && ended.errors.contains("realms.conf:"), "\(ended)")
    }

    @Test func `no address is asked if the listen statement has an error`() async throws {
        let rules = "protect /welcome { require any; }"
        let server = try await RunningServer(Self.configuration(rules: rules))
        let folder = try TemporaryFolder()
        let listen = "127.0.0.1:\(server.port)x"
        try folder.write(Self.configuration(listen: listen, rules: rules), to: "realms.conf")
        let asked = try await health(in: folder)
        #expect(asked.status == 3 && asked.output == "", "\(asked)")
        #expect(asked.errors.contains("realms.conf:4:"), "\(asked)")
        let addressed = try await health("--address", "127.0.0.1:\(server.port)", in: folder)
        #expect(addressed.status == 0, "\(addressed)")
    }

    @Test(.enabled(if: Program.system("openssl") != nil, "openssl is not installed"))
    func `a certificate that expires within 30 days is named by health, check and the log`() async throws {
        let folder = try TemporaryFolder()
        let key = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9"]
        let made = try await Program.run(
            try #require(Program.system("openssl")),
            key + ["-subj", "/CN=short", "-keyout", "key.pem", "-out", "cert.pem"],
            in: folder.url
        )
        #expect(made.status == 0, "\(made)")
        let files = ["certificate", "key"].map { name in
            "\(name) \(folder.url.appendingPathComponent(name == "key" ? "key.pem" : "cert.pem").path);"
        }
        let text = Self.configuration(rules: "protect / { open; }")
            .replacing("listen 127.0.0.1:0;", with: "listen 127.0.0.1:0; tls { \(files.joined(separator: " ")) }")
        try folder.write(text, to: "realms.conf")
        let server = try await RunningServer(text)
        let asked = try await health("--address", "127.0.0.1:\(server.port)", in: folder)
        let warning = "warning: certificate CN=short of https://127.0.0.1:\(server.port)/health expires on "
        #expect(asked.status == 0, "\(asked)")
        // Nine days minus the time since it was made.
        #expect(asked.output.contains(warning) && asked.output.contains(/, in [89] days\n/), "\(asked)")
        let checked = try await Program.run(Program.built("gatehouse"), ["check"], in: folder.url)
        #expect(checked.status == 0 && checked.errors.contains("realms.conf:4:"), "\(checked)")
        #expect(checked.errors.contains("warning: certificate CN=short in "), "\(checked)")
        #expect(server.log.contains("certificate CN=short in "), "\(server.log)")
        _ = await server.end()
    }

    @Test(
        .enabled(if: getuid() == 0, "only root can start a program as another user"),
        .enabled(if: Program.system("setpriv") != nil, "setpriv is not installed")
    )
    func `a user without rights can ask a server`() async throws {
        // On Linux, SO_DEBUG has the number of TCP_NODELAY and needs CAP_NET_ADMIN.
        let server = try await RunningServer(Self.configuration(rules: "protect /welcome { require any; }"))
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"]
        let command = [Program.built("gatehouse").path, "health", "--address", "127.0.0.1:\(server.port)"]
        let asked = try await Program.run(try #require(Program.system("setpriv")), user + command)
        #expect(asked.status == 0, "\(asked)")
    }

    @Test(arguments: [
        ([], "the configuration has no port; use --address HOST:PORT"),
        (["--address", "a b"], "--address takes HOST:PORT, as in 127.0.0.1:8443 or [::1]:8443, not a b"),
        (["--address", ":8443"], "not :8443"), (["--address", "::1:8443"], "not ::1:8443"),
        (["--address", "localhost:0"], "not localhost:0"), (["--address", "a:1?b"], "not a:1?b"),
        (["--timeout", "0"], "--timeout takes 1 to 3600 seconds"),
    ])
    func `wrong arguments`(arguments: [String], message: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.configuration(rules: "protect / { open; }"), to: "realms.conf")
        let asked = try await Program.run(Program.built("gatehouse"), ["health"] + arguments, in: folder.url)
        #expect(asked.status == 2, "\(asked)")
        #expect(asked.errors.contains(message), "\(asked)")
    }
}
