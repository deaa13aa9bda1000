// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The files of proxies that `gatehouse init` makes.
@Suite struct InitProxyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func initialize(
        _ proxy: String,
        host: String,
        application: String = "127.0.0.1:4000"
    ) async throws -> Finished {
        let options = ["--proxy", proxy, "--host", host, "--application", application, "--folder", "a/b"]
        return try await Program.run(Program.built("gatehouse"), ["init", "--defaults"] + options, in: folder.url)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
    }

    @Test(arguments: [
        ("nginx", ["HOST.conf", "gatehouse-application.conf", "gatehouse-server.conf", "gatehouse.conf"], []),
        ("caddy", ["gatehouse.caddy"], ["HOST.caddy"]), ("haproxy", ["gatehouse.lua"], ["haproxy.cfg", "hosts.map"]),
    ])
    func `the files of a proxy are those of the documentation, with the host of the application only`(
        proxy: String,
        whole: [String],
        shortened: [String]
    ) async throws {
        let host = "wiki.example.org"
        let made = try await initialize(proxy, host: host)
        #expect(made.status == 0, "\(made)")
        let documented = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../docs/forward-auth")
        for name in whole + shortened {
            let example = ["HOST.conf": "app.conf", "HOST.caddy": "Caddyfile"][name] ?? name
            let original = try String(
                contentsOf: documented.appendingPathComponent("\(proxy)/\(example)"),
                encoding: .utf8
            )
            let expected = original.replacing("app.example.com   app", with: "\(host)  \(host)")
                .replacing("backend app", with: "backend \(host)")
                .replacing("app.example.com", with: host)
                .replacing("127.0.0.1:3000", with: "127.0.0.1:4000")
            let text = try text("a/b/\(proxy)/\(name.replacing("HOST", with: host))")
            if whole.contains(name) {
                // Those that all hosts share name the example in a comment.
                #expect(text == (name.hasPrefix("HOST") ? expected : original), "\(name)")
                continue
            }
            let lines = expected.split(separator: "\n")
            #expect(text.split(separator: "\n").allSatisfy(lines.contains) && text.hasSuffix("\n"), "\(name)")
            #expect(text.contains(host) && !text.contains("example.com") && !text.contains("3001"), "\(name): \(text)")
        }
        #expect(try text("a/b/\(proxy)/unavailable.html").contains("<html"))
        let explained = try await Program.run(
            Program.built("gatehouse"),
            ["explain", "--config", "a/b/realms.conf", "GET", "https://\(host)/"],
            in: folder.url
        )
        #expect(explained.output.hasPrefix("401: "), "\(explained)")
    }

    /// Hosts that the tests have beside the first one: of a second application, for the sign-in, and of an application added later.
    private static let others = ["second.example.net", "login.example.net", "third.example.net"]

    /// Makes the files for several hosts and runs the printed commands, with another folder instead of /etc.
    ///
    /// - Returns: This folder.
    private func install(_ proxy: String, host: String, application: String = "127.0.0.1:4000") async throws -> String {
        let made = try await Program.run(
            Program.built("gatehouse"),
            ["init", "--defaults", "--proxy", proxy, "--folder", "a/b", "--host", host, "--application", application]
                + ["--host", Self.others[0], "--application", "[::1]:4001", "--sign-in-host", Self.others[1]],
            in: folder.url
        )
        #expect(made.status == 0, "\(made)")
        let added = try await Program.run(
            Program.built("gatehouse"),
            ["init", "--add", "--folder", "a/b", "--host", Self.others[2], "--application", "127.0.0.1:4002"],
            in: folder.url
        )
        #expect(added.status == 0, "\(added)")
        let root = folder.url.appendingPathComponent("root").path
        // `gatehouse serve` makes this certificate.
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("a/b/var"),
            withIntermediateDirectories: true
        )
        try await makeCertificate(
            of: "localhost",
            certificate: "a/b/var/development-authority.pem",
            key: "unused.key"
        )
        if proxy == "caddy" {
            // The Caddyfile of another site, without a line end at its end.
            try FileManager.default.createDirectory(atPath: "\(root)/caddy", withIntermediateDirectories: true)
            try ":8080 {\n\trespond hello\n}".write(
                toFile: "\(root)/caddy/Caddyfile",
                atomically: true,
                encoding: .utf8
            )
        }
        let commands = (made.output + added.output + added.output).split(separator: "\n")
            .filter { $0.hasPrefix("      ") && $0.contains("/etc/") && !$0.contains("systemctl") }
            .map { $0.replacing("/etc/\(proxy)", with: "\(root)/\(proxy)") }
        #expect(commands.contains { $0.contains("development-authority.pem \(root)/\(proxy)/gatehouse-ca.pem") })
        let copied = try await Program.run(
            try #require(Program.system("sh")),
            ["-ec", commands.joined(separator: "\n")],
            in: folder.url
        )
        #expect(copied.status == 0, "\(copied)")
        for host in [host] + Self.others {
            try await installCertificate(of: host, root: root, proxy: proxy, said: made.output + added.output)
        }
        let files = try #require(FileManager.default.enumerator(atPath: root))
        for case let name as String in files where !name.hasSuffix(".pem") && !name.hasSuffix(".key") {
            let path = "\(root)/\(name)"
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { continue }
            // The tests of other proxies may use the port.
            let changed = text.replacing("/etc/\(proxy)", with: "\(root)/\(proxy)")
                .replacing("listen 443 ssl", with: "listen unix:\(root)/socket ssl")
            try changed.write(toFile: path, atomically: true, encoding: .utf8)
        }
        return root
    }

    private func installCertificate(of host: String, root: String, proxy: String, said: String) async throws {
        if proxy == "haproxy" {
            try FileManager.default.createDirectory(
                atPath: "\(root)/haproxy/certificates",
                withIntermediateDirectories: true
            )
            #expect(said.contains("/etc/haproxy/certificates/\(host).pem, with its key in the same file"))
            try await makeCertificate(of: host, certificate: "crt", key: "key")
            try (text("crt") + text("key"))
                .write(toFile: "\(root)/haproxy/certificates/\(host).pem", atomically: true, encoding: .utf8)
        } else {
            let end = proxy == "caddy" ? ", as its user: install -g caddy -m 640 KEY /etc/caddy/\(host).key\n" : "\n"
            #expect(said.contains("/etc/\(proxy)/\(host).pem, and its key from /etc/\(proxy)/\(host).key\(end)"))
            let path = "\(root)/\(proxy)/\(host)"
            try await makeCertificate(of: host, certificate: "\(path).pem", key: "\(path).key")
        }
    }

    private func makeCertificate(of host: String, certificate: String, key: String) async throws {
        let openssl = try #require(Program.system("openssl"))
        let made = try await Program.run(
            openssl,
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
                + [
                    "-subj", "/CN=\(host)", "-addext", "subjectAltName=DNS:\(host)", "-keyout", key, "-out",
                    certificate,
                ],
            in: folder.url
        )
        #expect(made.status == 0, "\(made)")
    }

    /// The addresses of applications, and hosts with the names of the examples.
    private static let sites = [
        ("app.example.com", "127.0.0.1:3000"), ("wiki.example.com", "[::1]:4000"), ("auth.example.com", "127.0.0.1:1"),
        ("localhost", "127.0.0.1:65535"),
    ]

    private static func program(_ name: String) -> URL? {
        Program.system(name)
            ?? ["/usr/sbin", "/usr/local/sbin"].map { URL(fileURLWithPath: "\($0)/\(name)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    @Test(
        .enabled(if: program("nginx") != nil && ClientAuthority.openssl != nil, "nginx is not installed"),
        arguments: sites
    )
    func `nginx accepts the files`(host: String, application: String) async throws {
        let root = try await install("nginx", host: host, application: application)
        let main = "error_log \(root)/log; pid \(root)/pid; events {}\nhttp { include \(root)/nginx/conf.d/*.conf; }\n"
        try main.write(toFile: "\(root)/nginx/nginx.conf", atomically: true, encoding: .utf8)
        let nginx = try #require(Self.program("nginx"))
        let checked = try await Program.run(nginx, ["-t", "-e", "\(root)/log", "-c", "\(root)/nginx/nginx.conf"])
        #expect(checked.status == 0, "\(checked)")
        #expect(!checked.errors.contains("[warn]"), "\(checked)")
    }

    @Test(
        .enabled(if: program("caddy") != nil && ClientAuthority.openssl != nil, "caddy is not installed"),
        arguments: sites
    )
    func `Caddy accepts the files`(host: String, application: String) async throws {
        let root = try await install("caddy", host: host, application: application)
        let home = ["HOME=\(root)", "XDG_DATA_HOME=\(root)", "XDG_CONFIG_HOME=\(root)"]
        let caddy = try #require(Self.program("caddy")).path
        let checked = try await Program.run(
            try #require(Program.system("env")),
            home + [caddy, "validate", "--adapter", "caddyfile", "--config", "\(root)/caddy/Caddyfile"]
        )
        #expect(checked.status == 0, "\(checked)")
        let adapted = try await Program.run(
            try #require(Program.system("env")),
            home + [caddy, "adapt", "--adapter", "caddyfile", "--config", "\(root)/caddy/Caddyfile"]
        )
        for host in [host] + Self.others {
            #expect(adapted.output.contains(#""host":["\#(host)"]"#), "\(host): \(adapted)")
        }
    }

    @Test(
        .enabled(if: program("haproxy") != nil && ClientAuthority.openssl != nil, "haproxy is not installed"),
        arguments: sites
    )
    func `HAProxy accepts the files`(host: String, application: String) async throws {
        let root = try await install("haproxy", host: host, application: application)
        let map = try String(contentsOfFile: "\(root)/haproxy/hosts.map", encoding: .utf8)
        let hosts = map.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let others = Self.others
        let expected = [host, host, others[0], others[0], others[1], "gatehouse", others[2], others[2]]
        #expect(hosts.flatMap { $0.split(separator: " ").map(String.init) } == expected, "\(map)")
        let haproxy = try #require(Self.program("haproxy"))
        let checked = try await Program.run(haproxy, ["-c", "-f", "\(root)/haproxy/haproxy.cfg"])
        #expect(checked.status == 0, "\(checked)")
    }
}
