// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The realm API of the running server, with users in a store, over HTTP/1.1 and HTTP/2.
@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct RealmAPIServerTests {
    private static let token = "7c0f1f1ea8b5d3c5a1e29d6b54d2f0a9"
    private static let refused = "{\"outcome\":\"refused\",\"reason\":\"wrong-credentials\"}\n"

    private static let configuration = People.configuration(
        passwords: "hash bcrypt cost=6;",
        server: """
            throttle { failures 4; delay 20ms; longest-delay 40ms; }
            realm-api {
                client mail  { realm people xtech; token "${file:mail.token}"; networks 127.0.0.1; }
                client inner { realm people; token "${env:INNER}"; networks 10.0.0.0/8; }
            }
            """
    ).replacing("\"${env:INNER}\"", with: String(token.reversed()))

    private let people: People

    init() throws {
        people = try People(Self.configuration)
        try people.folder.write("\(Self.token)\n", to: "mail.token")
    }

    private func check(
        _ server: RunningServer,
        _ name: String,
        _ password: String,
        realm: String = "people",
        token: String = RealmAPIServerTests.token,
        version: String = "--http1.1"
    ) async throws -> (status: Int, body: String) {
        // The token and the password are in files, because other users of the machine can read arguments.
        let fields = try people.folder.write("Authorization: Bearer \(token)\n", to: "fields")
        let body = try people.folder.write("{\"username\":\"\(name)\",\"password\":\"\(password)\"}", to: "body")
        return try await server.request(
            "/realms/\(realm)/check",
            version,
            "-H",
            "@\(fields.path)",
            "--json",
            "@\(body.path)"
        )
    }

    @Test func `a program checks users over HTTP/1.1 and HTTP/2, and refusals are equal`() async throws {
        #expect(try await people.add("ann", "--group", "Staff").status == 0)
        #expect(try await people.add("bob").status == 0)
        #expect(try await people.gatehouse("user", "disable", "bob").status == 0)
        let server = try await RunningServer(in: people.folder)
        for version in ["--http1.1", "--http2"] {
            let accepted = try await check(server, "ann", People.password, version: version)
            #expect(accepted.status == 200)
            #expect(accepted.body.contains("\"outcome\":\"accepted\""))
            #expect(accepted.body.contains("\"groups\":[\"Staff\"]"))
            for (name, password) in [("ann", "wrong"), ("bob", People.password), ("cid", "wrong")] {
                let refused = try await check(server, name, password, version: version)
                #expect(refused.status == 200 && refused.body == Self.refused)
            }
            #expect(try await check(server, "ann", "x", realm: "others", version: version).status == 403)
            #expect(try await check(server, "ann", "x", realm: "none", version: version).status == 403)
            #expect(try await check(server, "ann", "x", token: "wrong", version: version).status == 401)
            let inner = String(Self.token.reversed())
            #expect(try await check(server, "ann", "x", token: inner, version: version).status == 403)
        }
        #expect(try await check(server, "an\\u0000n", "x").status == 400)
        #expect(try await check(server, "ann", String(repeating: "p", count: 40_000)).status == 413)
        #expect(try await server.request("/realms").status == 401)
        let sessions = try await people.gatehouse("session", "list", "--json")
        #expect(!sessions.output.contains("ann"))
        #expect(await server.end() == 0)
        for secret in [Self.token, People.password, "wrong\""] { #expect(!server.log.contains(secret)) }
        #expect(server.log.contains("a program has checked a login: accepted"))
    }

    @Test func `a locked account is refused with the same bytes, and the lock survives a restart`() async throws {
        #expect(try await people.add("ann").status == 0)
        var server = try await RunningServer(in: people.folder)
        for _ in 0..<4 { #expect(try await check(server, "ann", "wrong").body == Self.refused) }
        #expect(try await check(server, "ann", People.password).body == Self.refused)
        #expect(await server.end() == 0)
        server = try await RunningServer(in: people.folder)
        #expect(try await check(server, "ann", People.password).body == Self.refused)
        #expect(await server.end() == 0)
    }

    @Test func `after a reload only the new token is accepted`() async throws {
        #expect(try await people.add("ann").status == 0)
        let server = try await RunningServer(in: people.folder)
        #expect(try await check(server, "ann", People.password).status == 200)
        let next = "0123456789abcdef0123456789abcdef"
        try people.folder.write("\(next)\n", to: "mail.token")
        try await server.hangUp()
        #expect(try await check(server, "ann", People.password).status == 401)
        #expect(try await check(server, "ann", People.password, token: next).status == 200)
        // A file with a short token is an error, and the server keeps its configuration.
        try people.folder.write("short\n", to: "mail.token")
        try await server.hangUp()
        #expect(try await check(server, "ann", People.password, token: next).status == 200)
        #expect(await server.end() == 0)
    }

    @Test(.enabled(if: Program.system("openssl") != nil, "openssl is not installed"))
    func `a program is found by its client certificate, also on a resumed connection`() async throws {
        let openssl = try #require(Program.system("openssl"))
        for name in ["mail", "other"] {
            let made = try await Program.run(
                openssl,
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=\(name)", "-keyout", "\(name).key", "-out", "\(name).pem",
                ],
                in: people.folder.url
            )
            #expect(made.status == 0)
        }
        let read = { (name: String) in
            try String(contentsOf: people.folder.url.appendingPathComponent(name), encoding: .utf8)
        }
        try people.folder.write(try read("mail.pem") + read("other.pem"), to: "ca.pem")
        let text = People.configuration(
            server: """
                tls { client-certificates optional; client-ca ca.pem; }
                realm-api { client mail { realm xtech; certificate-subject CN=mail; } }
                """
        )
        try people.folder.write(text, to: "realms.conf")
        let server = try await RunningServer(in: people.folder)
        let folder = people.folder.url.path
        let mail = ["--cert", "\(folder)/mail.pem", "--key", "\(folder)/mail.key"]
        let other = ["--cert", "\(folder)/other.pem", "--key", "\(folder)/other.key"]
        #expect(try await server.request("/realms", mail[0], mail[1], mail[2], mail[3]).status == 200)
        #expect(try await server.request("/realms", other[0], other[1], other[2], other[3]).status == 401)
        #expect(try await server.request("/realms").status == 401)
        let request = "GET /realms HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        let options = [
            "s_client", "-connect", "127.0.0.1:\(server.port)", "-servername", "localhost", "-CAfile",
            server.certificate, "-quiet", "-ign_eof",
        ]
        let session = "\(folder)/session.pem"
        let first = try await Program.run(
            openssl,
            options + ["-cert", mail[1], "-key", mail[3], "-sess_out", session],
            input: request
        )
        #expect(first.output.contains("\"name\":\"xtech\""))
        let resumed = try await Program.run(openssl, options + ["-sess_in", session], input: request)
        #expect(resumed.output.contains("\"name\":\"xtech\""))
        #expect(await server.end() == 0)
        // The certificate of a proxy is not the certificate of the program.
        try people.folder.write(
            text.replacing("realm-api {", with: "trusted-proxies 127.0.0.1; realm-api {"),
            to: "realms.conf"
        )
        let behindProxy = try await RunningServer(in: people.folder)
        #expect(try await behindProxy.request("/realms", mail[0], mail[1], mail[2], mail[3]).status == 401)
        #expect(await behindProxy.end() == 0)
    }

    @Test func `the configuration and the commands of docs/realm-api.md work`() async throws {
        let page = try DocumentationPage("realm-api.md")
        let configuration = try #require(page.blocks("realms.conf").first)
        try people.folder.write(configuration.replacing(":8443", with: ":0"), to: "realms.conf")
        let commands = try #require(page.blocks("sh").first)
        try people.folder.write(try #require(page.blocks("json").first), to: "credentials.json")
        #expect(try await people.add("ann", "--group", "Staff").status == 0)
        let made = commands.split(separator: "\n").filter { !$0.hasPrefix("gatehouse ") }.joined(separator: "\n")
        let shell = try #require(Program.system("sh"))
        #expect(try await Program.run(shell, ["-ec", made], in: people.folder.url).status == 0)
        let server = try await RunningServer(in: people.folder)
        let requests = page.blocks("console").filter { $0.hasPrefix("$ curl ") }
        #expect(requests.count == 2)
        for request in requests {
            let lines = request.split(separator: "\n", maxSplits: 1)
            let command = lines[0].dropFirst(2).replacing("curl ", with: "curl -q -sS --noproxy '*' --max-time 60 ")
                .replacing("https://localhost:8443", with: server.url)
            let finished = try await Program.run(shell, ["-ec", String(command)], in: people.folder.url)
            #expect(finished.output + "\n" == lines[1] || finished.output == lines[1], "\(finished)")
        }
        #expect(await server.end() == 0)
    }
}
