// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Client certificates as credentials, with curl and openssl.
@Suite(
    .enabled(if: Program.hasCurl && ClientAuthority.openssl != nil, "curl or openssl is not installed")
)
struct CertificateTests {
    private let authority: ClientAuthority

    init() async throws {
        authority = try await ClientAuthority()
        try await authority.issue("ann", subject: "/O=Town/OU=Staff/CN=ann", names: "email:ann@town.example")
        try await authority.issue("bob", subject: "/O=Town/OU=Guests/CN=bob")
    }

    private static let rules = """
        login cards { CertificateLoginModule required; }
        login both {
            CertificateLoginModule required name-from="common-name" groups-from="OU";
            ScriptedLoginModule required password="secret" groups="ByPassword";
        }
        login either {
            CertificateLoginModule sufficient name-from="common-name";
            ScriptedLoginModule sufficient password="secret";
        }
        login passwords { ScriptedLoginModule required password="secret"; }
        realm cards     { class CertificateRealm; jaas-context cards; name-from common-name; groups-from OU; }
        realm staff     { class CertificateRealm; jaas-context cards; name-from email; issuers "CN=Town CA,O=Town"; }
        realm both      { class StackRealm; jaas-context both; }
        realm either    { class StackRealm; jaas-context either; }
        realm passwords { class StackRealm; jaas-context passwords; }
        realm glassfish { class com.sun.enterprise.security.auth.realm.certificate.CertificateRealm; assign-groups A; }
        protect /glassfish   { realm glassfish; auth certificate; require user "CN=ann,OU=Staff,O=Town"; }
        protect /card        { realm cards; auth certificate; require any; }
        protect /staff       { realm cards; auth certificate; require group Staff; }
        protect /mail        { realm staff; auth certificate; require attribute mail ann@town.example; }
        protect /fallback    { realm staff passwords; auth certificate basic; require any; }
        protect /basic-first { realm cards passwords; auth basic certificate; require any; }
        protect /form        { realm staff both; auth certificate form; require any; }
        protect /both        { realm both; auth basic; require any; }
        protect /both-form   { realm both; auth form; require any; }
        protect /either      { realm either; auth certificate basic; require any; }
        """

    private func server(_ more: String = "", mode: String = "optional") async throws -> RunningServer {
        try await RunningServer(
            """
            server {
                listen 127.0.0.1:0;
                access-log on;
                credential-cache 10m;
                throttle { delay 0s; failures 5; }
                tls { client-certificates \(mode); client-ca "\(authority.path("ca.pem"))"; }
                \(more)
            }
            \(Self.rules)
            """
        )
    }

    /// Sends a request with a certificate, and returns the status.
    private func status(
        _ server: RunningServer,
        _ path: String,
        _ name: String?,
        _ more: String...
    ) async throws -> Int {
        let options = name.map { authority.options($0) } ?? []
        let curl = try #require(Program.system("curl"))
        let fixed = ["--cacert", server.certificate, "-o", "/dev/null", "-w", "%{http_code}"]
        let arguments = RunningServer.curlOptions + fixed + options + more + [server.url + path]
        let finished = try await Program.run(curl, arguments)
        return Int(finished.output) ?? 0
    }

    @Test(arguments: ["--http1.1", "--http2"])
    func `a certificate is the credential of a request`(version: String) async throws {
        let server = try await server()
        for _ in 0..<2 {
            #expect(try await status(server, "/card", "ann", version) == 200)
            #expect(try await status(server, "/card", "bob", version) == 200)
            #expect(try await status(server, "/card", nil, version) == 403)
            #expect(try await status(server, "/staff", "ann", version) == 200)
            #expect(try await status(server, "/staff", "bob", version) == 403)
            #expect(try await status(server, "/mail", "ann", version) == 200)
            #expect(try await status(server, "/mail", "bob", version) == 403)
        }
        try await server.untilLogged("\"ann\"@\"cards\" \"GET\" \"/card\" 200")
        try await server.untilLogged("certificate-rejected \"the certificate has no mail address\"")
        #expect(!server.log.contains("BEGIN CERTIFICATE"))
        let page = try await server.request("/card")
        #expect(page.status == 403)
        #expect(page.body.contains("This page accepts only client certificates."))
        #expect(try await server.request("/card", "-D", "-").body.lowercased().contains("www-authenticate") == false)
    }

    @Test func `GlassFish's realm needs no login context, and its users have the names of their subjects`() async throws
    {
        let server = try await server()
        #expect(try await status(server, "/glassfish", "ann") == 200)
        #expect(try await status(server, "/glassfish", "bob") == 403)
        try await server.untilLogged("\"CN=bob,OU=Guests,O=Town\"@\"glassfish\"")
    }

    @Test func `a session that needed a certificate ends with the certificate`() async throws {
        try await authority.issue("brief", subject: "/CN=brief", lifetime: 20)
        let server = try await server()
        let jar = authority.path("jar")
        let json = "{\"username\":\"brief\",\"password\":\"secret\",\"realm\":\"both\"}"
        #expect(try await status(server, "/session", "brief", "--json", json, "-c", jar) == 201)
        // The session is the credential now, so no certificate is needed.
        #expect(try await status(server, "/both-form", nil, "-b", jar) == 200)
        let hasEnded = try await Program.wait { try await status(server, "/both-form", nil, "-b", jar) == 401 }
        #expect(hasEnded)
    }

    @Test func `the configuration of the documentation works`() async throws {
        let documentation = try DocumentationPage("realms/certificate.md")
        let text = try #require(documentation.blocks("realms.conf").first)
            .replacing("server {", with: "server { listen 127.0.0.1:0;")
            .replacing("/etc/gatehouse/clients-ca.pem", with: authority.path("ca.pem"))
        let server = try await RunningServer(text)
        let page = try await server.request(
            "/welcome",
            "--cert",
            authority.path("ann.pem"),
            "--key",
            authority.path("ann.key")
        )
        #expect(page == (200, "Welcome ann@town.example\n"))
        #expect(try await status(server, "/welcome", "bob") == 403)
        #expect(documentation.blocks("console").first?.contains("Welcome ann@town.example") == true)
    }

    @Test func `header fields with certificates are not used`() async throws {
        let server = try await server()
        let value = "-----BEGIN CERTIFICATE-----"
        for name in ["X-SSL-Client-Cert", "X-Forwarded-Client-Cert", "X-Client-Cert", "Client-Cert", "SSL_CLIENT_S_DN"]
        {
            #expect(try await status(server, "/card", nil, "-H", "\(name): \(value)") == 403)
        }
        #expect(try await status(server, "/card", nil, "-H", "X-SSL-Client-Verify: SUCCESS", "-u", "ann:x") == 403)
    }

    @Test func `after a rejected certificate the other schemes of the rule apply`() async throws {
        let server = try await server()
        // The realm accepts ann's certificate, which has a mail address, and not bob's certificate.
        #expect(try await status(server, "/fallback", "ann") == 200)
        #expect(try await status(server, "/fallback", "bob") == 401)
        #expect(try await status(server, "/fallback", nil) == 401)
        for _ in 0..<2 {
            #expect(try await status(server, "/fallback", "bob", "-u", "carl:secret") == 200)
            #expect(try await status(server, "/fallback", nil, "-u", "carl:secret") == 200)
        }
        #expect(try await status(server, "/fallback", "bob", "-u", "carl:wrong") == 401)
        try await server.untilLogged("\"carl\"@\"passwords\" \"GET\" \"/fallback\" 200")
        let html = ["-H", "Accept: text/html", "-H", "Sec-Fetch-Mode: navigate"]
        #expect(try await status(server, "/form", "bob", html[0], html[1], html[2], html[3]) == 302)
        #expect(try await status(server, "/form", "ann", html[0], html[1], html[2], html[3]) == 200)
        #expect(try await status(server, "/form", nil, html[0], html[1], html[2], html[3]) == 302)
    }

    @Test func `a password that precedes the certificate in the rule decides`() async throws {
        let server = try await server()
        #expect(try await status(server, "/basic-first", "ann") == 200)
        #expect(try await status(server, "/basic-first", "ann", "-u", "carl:secret") == 200)
        try await server.untilLogged("\"carl\"@\"passwords\" \"GET\" \"/basic-first\" 200")
        try await server.untilLogged("\"ann\"@\"cards\" \"GET\" \"/basic-first\" 200")
    }

    @Test func `a stack can require a certificate and a password of the same user`() async throws {
        let server = try await server()
        #expect(try await status(server, "/both", "ann", "-u", "ann:secret") == 200)
        // The credentials are cached now, but only for connections with ann's certificate.
        #expect(try await status(server, "/both", nil, "-u", "ann:secret") == 401)
        #expect(try await status(server, "/both", "bob", "-u", "ann:secret") == 401)
        #expect(try await status(server, "/both", "ann", "-u", "ann:wrong") == 401)
        #expect(try await status(server, "/both", "ann", "-u", "bob:secret") == 401)
        #expect(try await status(server, "/both", "ann") == 401)
        #expect(try await status(server, "/both", "ann", "-u", "ann:secret") == 200)
        try await server.untilLogged("the certificate names another user: bob", "the client sent no certificate")
    }

    @Test func `a stack can accept a certificate or a password`() async throws {
        let server = try await server()
        #expect(try await status(server, "/either", "ann") == 200)
        #expect(try await status(server, "/either", nil, "-u", "ann:secret") == 200)
        #expect(try await status(server, "/either", nil, "-u", "ann:wrong") == 401)
        #expect(try await status(server, "/either", nil) == 401)
    }

    @Test func `a session can require a certificate and a password`() async throws {
        let server = try await server()
        func begin(_ name: String?, _ user: String, _ password: String) async throws -> Int {
            let json = "{\"username\":\"\(user)\",\"password\":\"\(password)\",\"realm\":\"both\"}"
            return try await status(server, "/session", name, "--json", json, "-c", authority.path("jar"))
        }
        #expect(try await begin(nil, "ann", "secret") == 401)
        #expect(try await begin("bob", "ann", "secret") == 401)
        #expect(try await begin("ann", "ann", "wrong") == 401)
        #expect(try await begin("ann", "ann", "secret") == 201)
        #expect(try await status(server, "/both-form", "ann", "-b", authority.path("jar")) == 200)
        #expect(try await status(server, "/both-form", "ann") == 401)
    }

    @Test func `certificates that are not accepted lock no account`() async throws {
        try await authority.issue("stranger", subject: "/CN=carl", names: "email:carl@town.example,email:x@y.example")
        let server = try await server()
        for _ in 0..<8 { #expect(try await status(server, "/fallback", "stranger") == 401) }
        for _ in 0..<8 { #expect(try await status(server, "/both", "stranger") == 401) }
        #expect(try await status(server, "/fallback", nil, "-u", "carl:secret") == 200)
    }

    @Test func `the certificate of a trusted proxy is not the certificate of its clients`() async throws {
        let server = try await server("trusted-proxies 127.0.0.1;")
        #expect(try await status(server, "/card", "ann") == 403)
        #expect(try await status(server, "/card", "ann", "-H", "X-Forwarded-For: 192.0.2.1") == 403)
        let original = ["-H", "X-Forwarded-For: 192.0.2.1", "-H", "X-Original-Method: GET"]
        let url = "X-Original-URL: https://app.example/card"
        #expect(
            try await status(
                server,
                "/auth/nginx",
                "ann",
                original[0],
                original[1],
                original[2],
                original[3],
                "-H",
                url
            ) == 403
        )
    }

    // MARK: Resumed sessions

    /// Sends a request with `openssl s_client`, and returns its output.
    private func resume(
        _ server: RunningServer,
        _ version: String,
        _ name: String,
        _ more: String...
    ) async throws -> String {
        let openssl = try #require(ClientAuthority.openssl)
        let request = "GET /card HTTP/1.1\r\nHost: localhost:\(server.port)\r\nConnection: close\r\n\r\n"
        let certificate = ["-cert", authority.path("\(name).pem"), "-key", authority.path("\(name).key")]
        let fixed =
            ["s_client", version, "-connect", "127.0.0.1:\(server.port)", "-ign_eof"]
            + ["-servername", "localhost"]
        return try await Program.run(openssl, fixed + certificate + more, input: request).output
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a resumed session has the certificate of its first handshake`(version: String) async throws {
        let server = try await server()
        let file = authority.path("session")
        let first = try await resume(server, version, "ann", "-sess_out", file)
        #expect(first.contains("Welcome ann"))
        // The client resumes ann's session, although it has another certificate now.
        let second = try await resume(server, version, "bob", "-sess_in", file)
        #expect(second.contains("Reused, TLS"))
        #expect(second.contains("Welcome ann"))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a certificate that has expired since the handshake is refused`(version: String) async throws {
        let server = try await server()
        let file = authority.path("session")
        try await authority.issue("brief", subject: "/CN=brief", lifetime: 15)
        #expect(try await resume(server, version, "brief", "-sess_out", file).contains("Welcome brief"))
        let isRefused = try await Program.wait {
            try await !resume(server, version, "brief", "-sess_in", file).contains("Welcome brief")
        }
        #expect(isRefused)
        #expect(try await !resume(server, version, "brief").contains("Welcome brief"))
    }
}
