// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// SIGHUP replaces the whole configuration.
///
/// If the new configuration has an error, nothing changes.
@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct ReloadTests {
    private static func configuration(startWith: String, path: String, tls: String = "") -> String {
        """
        login xtechMyRealm { StartWithLoginModule required; }
        realm xtech { class StartWithRealm; startWith \(startWith); }
        server { listen 127.0.0.1:0; \(tls) }
        protect \(path) { realm xtech; require any; }
        """
    }

    @Test func `a reload applies the realms and rules of the changed file`() async throws {
        let server = try await RunningServer(Self.configuration(startWith: "z", path: "/welcome"))
        #expect(try await server.request("/welcome", "-u", "zed:x").status == 200)
        #expect(try await server.request("/other", "-u", "zed:x").status == 404)
        try server.folder.write(Self.configuration(startWith: "a", path: "/other"), to: "realms.conf")
        try await server.hangUp()
        #expect(try await server.request("/other", "-u", "ann:x").status == 200)
        // These credentials were accepted before the reload, but the reload has removed them from the cache.
        #expect(try await server.request("/other", "-u", "zed:x").status == 401)
        #expect(try await server.request("/welcome", "-u", "zed:x").status == 404)
        #expect(await server.end() == 0)
    }

    @Test func `after a reload cached credentials are checked again`() async throws {
        let server = try await RunningServer(Self.configuration(startWith: "z", path: "/welcome"))
        #expect(try await server.request("/welcome", "-u", "zed:x").status == 200)
        try server.folder.write(Self.configuration(startWith: "zz", path: "/welcome"), to: "realms.conf")
        try await server.hangUp()
        #expect(try await server.request("/welcome", "-u", "zed:x").status == 401)
        #expect(try await server.request("/welcome", "-u", "zzed:x").status == 200)
    }

    @Test(arguments: ["realm {", "login-config missing.conf;", "server { tls { certificate a.pem; key a.key; } }"])
    func `a reload of a broken file changes nothing, and logs the errors`(broken: String) async throws {
        let server = try await RunningServer(Self.configuration(startWith: "z", path: "/welcome"))
        try server.folder.write(broken, to: "realms.conf")
        try await server.hangUp()
        // Each error is an entry of its own, with time and level, which `gatehouse log` reads.
        let lines = server.log.split(separator: "\n").filter {
            $0.contains("realms.conf:1:") && $0.contains(": error: ")
        }
        #expect(!lines.isEmpty, "\(server.log)")
        for line in lines {
            #expect(line.contains("Z error gatehouse: the configuration was not reloaded: "), "\(line)")
        }
        try server.folder.write(lines.map { "\($0)\n" }.joined(), to: "errors.log")
        let read = try await Program.run(Program.built("gatehouse"), ["log", "errors.log"], in: server.folder.url)
        #expect(read.status == 0 && read.errors == "", "\(read)")
        #expect(read.output.contains("the configuration was not reloaded: "), "\(read)")
        #expect(read.output.contains("realms.conf:1:"), "\(read)")
        // A log does not show lines of the configuration.
        #expect(!server.log.contains(broken) && !server.log.contains("^"), "\(server.log)")
        #expect(try await server.request("/welcome", "-u", "zed:x").status == 200)
        try server.folder.write(Self.configuration(startWith: "z", path: "/again"), to: "realms.conf")
        try await server.hangUp()
        #expect(try await server.request("/again", "-u", "zed:x").status == 200)
    }

    @Test func `new connections get the new certificate`() async throws {
        let openssl = try #require(Program.system("openssl"))
        let folder = try TemporaryFolder()
        func makeCertificate(_ name: String) async throws {
            let arguments = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=\(name)", "-addext", "subjectAltName=DNS:localhost", "-keyout", "tls.key", "-out", "tls.pem",
            ]
            #expect(try await Program.run(openssl, arguments, in: folder.url).status == 0)
        }
        try await makeCertificate("first")
        let tls = "tls { certificate tls.pem; key tls.key; }"
        try folder.write(Self.configuration(startWith: "z", path: "/welcome", tls: tls), to: "realms.conf")
        let server = try await RunningServer(in: folder)
        func subject() async throws -> String {
            let arguments = ["s_client", "-connect", "localhost:\(server.port)", "-servername", "localhost"]
            // Versions of openssl differ in the spaces around the equals sign.
            return try await Program.run(openssl, arguments).output.replacing(" = ", with: "=")
        }
        #expect(try await subject().contains("CN=first"))
        try await makeCertificate("second")
        #expect(try await subject().contains("CN=first"))
        try await server.hangUp()
        #expect(try await subject().contains("CN=second"))
    }

    @Test func `settings that need a restart are logged`() async throws {
        let server = try await RunningServer(Self.configuration(startWith: "z", path: "/welcome"))
        try server.folder.write("server { listen 127.0.0.1:1; threads 2; limits { body 1; } }", to: "realms.conf")
        try await server.hangUp()
        for name in ["listen", "threads", "limits"] {
            #expect(server.log.contains("\(name) has changed; the change needs a restart"))
        }
    }
}
