// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `authcheck --certificate`, with certificates of the `openssl` command.
@Suite(.enabled(if: ClientAuthority.openssl != nil, "openssl is not installed"))
struct AuthcheckCertificateTests {
    private let authority: ClientAuthority

    init() async throws {
        authority = try await ClientAuthority()
        try await authority.issue("ann", subject: "/O=Town/OU=Staff/CN=ann", names: "email:ann@town.example")
        try await authority.issue("bob", subject: "/O=Town/OU=Guests/CN=bob")
        try authority.folder.write(
            configuration("tls { client-certificates optional; client-ca ca.pem; }"),
            to: "realms.conf"
        )
    }

    private func configuration(_ tls: String) -> String {
        """
        login cards { CertificateLoginModule required; }
        login both {
            CertificateLoginModule required name-from="common-name" groups-from="OU";
            ScriptedLoginModule required password="secret" groups="ByPassword";
        }
        login passwords { ScriptedLoginModule required password="secret"; }
        login either {
            CertificateLoginModule sufficient name-from="common-name";
            ScriptedLoginModule sufficient password="secret";
        }
        login start { org.xtech.examples.gfloginmodule.MyLoginModule required; }
        realm cards     { class CertificateRealm; jaas-context cards; name-from common-name; groups-from OU; }
        realm mail      { class CertificateRealm; jaas-context cards; name-from email; }
        realm both      { class StackRealm; jaas-context both; }
        realm passwords { class StackRealm; jaas-context passwords; }
        realm either    { class StackRealm; jaas-context either; }
        realm start     { class StartWithRealm; startWith a; jaas-context start; }
        server { listen 127.0.0.1:0; \(tls) }
        protect /card { realm cards; auth certificate; require any; }
        """
    }

    private func authcheck(_ arguments: String..., input: String = "") async throws -> Finished {
        try await Program.run(Program.built("authcheck"), arguments, input: input, in: authority.folder.url)
    }

    @Test func `a realm takes the user and the groups from a certificate`() async throws {
        let named = try await authcheck("--certificate", "ann.pem", "cards")
        #expect(named.status == 0, "\(named)")
        #expect(named.output.hasPrefix("accepted: ann in realm cards\n"), "\(named)")
        #expect(named.output.contains("  group  Staff\n"), "\(named)")
        #expect(try await authcheck("--certificate", "ann.pem", "mail").output.hasPrefix("accepted: ann@town.example "))
        #expect(try await authcheck("--certificate", "ann.pem", "cards", "ann").status == 0)
        let other = try await authcheck("--certificate", "bob.pem", "cards", "ann")
        #expect(other.status == 1)
        #expect(other.output.contains("the certificate names another user: bob"), "\(other)")
        // The file may contain the key too; the command does not use it.
        let both = try ["ann.key", "ann.pem"].map { try Data(contentsOf: URL(fileURLWithPath: authority.path($0))) }
        try both.reduce(Data(), +).write(to: URL(fileURLWithPath: authority.path("both.pem")))
        #expect(try await authcheck("--certificate", "both.pem", "cards").status == 0)
    }

    @Test func `a stack can require the certificate and a password`() async throws {
        let accepted = try await authcheck("--certificate", "ann.pem", "--password-stdin", "both", input: "secret\n")
        #expect(accepted.status == 0, "\(accepted)")
        #expect(accepted.output.contains("ByPassword"), "\(accepted)")
        let wrong = try await authcheck("--certificate", "ann.pem", "--password-stdin", "both", input: "wrong\n")
        #expect(wrong.status == 1)
        let missing = try await authcheck("--password-stdin", "both", "ann", input: "secret\n")
        #expect(missing.status == 1)
        #expect(missing.output.contains("the client sent no certificate"), "\(missing)")
    }

    @Test func `a certificate that the TLS server rejects begins no login`() async throws {
        try await authority.makeAuthority("other", subject: "/CN=Other CA")
        try await authority.issue("stranger", subject: "/CN=ann", by: "other")
        let stranger = try await authcheck("--certificate", "stranger.pem", "cards")
        #expect(stranger.status == 1)
        #expect(stranger.output.contains("unable to get local issuer certificate"), "\(stranger)")
        #expect(stranger.output.hasPrefix("refused: the certificate in realm cards: "), "\(stranger)")
        let json = try await authcheck("--certificate", "stranger.pem", "--json", "cards", "ann")
        #expect(json.status == 1)
        #expect(json.output.contains(#""accepted":false"#) && json.output.contains("unusable-credential"), "\(json)")
        try await authority.issue("old", subject: "/CN=ann", lifetime: -60)
        let old = try await authcheck("--certificate", "old.pem", "cards")
        #expect(old.status == 1)
        #expect(old.output.contains("certificate has expired"), "\(old)")
        let none = try await authcheck("--certificate", "bob.pem", "mail")
        #expect(none.status == 1)
        #expect(none.output.contains("the certificate has no mail address"), "\(none)")
        let passwords = try await authcheck("--certificate", "ann.pem", "passwords")
        #expect(passwords.status == 1)
        #expect(passwords.output.contains("missing credential"), "\(passwords)")
        #expect(try await authcheck("--certificate", "stranger.pem", "--quiet", "cards").output.isEmpty)
    }

    @Test(arguments: [
        (["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], "", Int32(0), ""),
        (["ec", "-pkeyopt", "ec_paramgen_curve:P-521"], "", 0, ""),
        (["ed25519"], "", 0, ""), (["rsa:2048"], "", 0, ""),
        (["ec", "-pkeyopt", "ec_paramgen_curve:secp256k1"], "", 1, "no version of TLS has a signature algorithm"),
        (["ec", "-pkeyopt", "ec_paramgen_curve:P-224"], "", 1, "no version of TLS has a signature algorithm"),
        (
            ["ec", "-pkeyopt", "ec_paramgen_curve:brainpoolP256r1"], "", 1,
            "no version of TLS has a signature algorithm"
        ),
        (["ec", "-pkeyopt", "ec_paramgen_curve:secp256k1"], "groups P-256 secp256k1;", 0, "in TLS 1.2 only"),
        (
            ["ec", "-pkeyopt", "ec_paramgen_curve:secp256k1"], "groups P-256 secp256k1; minimum-version 1.3;", 1,
            "no version"
        ),
        (["dsa:parameters"], "", 0, "in TLS 1.2 only"),
    ])
    func `a key that no handshake accepts is rejected`(
        key: [String],
        tls: String,
        status: Int32,
        message: String
    ) async throws {
        if key[0].hasPrefix("dsa") {
            try await authority.run(["dsaparam", "-out", "parameters", "2048"])
        }
        try await authority.issue("key", subject: "/CN=ann", key: key)
        try authority.folder.write(
            configuration("tls { client-certificates optional; client-ca ca.pem; \(tls) }"),
            to: "realms.conf"
        )
        let checked = try await authcheck("--certificate", "key.pem", "cards")
        #expect(checked.status == status, "\(checked)")
        #expect(
            message.isEmpty ? checked.errors.isEmpty : (checked.errors + checked.output).contains(message),
            "\(checked)"
        )
    }

    /// Returns whether a server sends an answer to a client with a certificate.
    private func answers(_ server: RunningServer, version: String) async throws -> Bool {
        let openssl = try #require(ClientAuthority.openssl)
        let client = try await Program.run(
            openssl,
            ["s_client", "-connect", "127.0.0.1:\(server.port)", version, "-ign_eof"]
                + ["-cert", authority.path("key.pem"), "-key", authority.path("key.key")],
            input: "GET /card HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        return client.output.contains("HTTP/1.1 200")
    }

    @Test(arguments: [
        (["ec", "-pkeyopt", "ec_paramgen_curve:P-521"], false, true),
        (["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], true, true),
        (["ec", "-pkeyopt", "ec_paramgen_curve:P-224"], false, false),
        (["ec", "-pkeyopt", "ec_paramgen_curve:secp256k1"], false, false),
        (["dsa:parameters"], true, false),
    ])
    func `the server accepts a key in the versions of TLS that the command takes for possible`(
        key: [String],
        acceptsTLS12: Bool,
        acceptsTLS13: Bool
    ) async throws {
        try await authority.run(["dsaparam", "-out", "parameters", "2048"])
        try await authority.issue("key", subject: "/CN=ann", key: key)
        let server = try await RunningServer(in: authority.folder)
        #expect(try await answers(server, version: "-tls1_2") == acceptsTLS12)
        #expect(try await answers(server, version: "-tls1_3") == acceptsTLS13)
        let checked = try await authcheck("--certificate", "key.pem", "cards")
        #expect((checked.status == 0) == (acceptsTLS12 || acceptsTLS13), "\(checked)")
        #expect(checked.errors.contains("in TLS 1.2 only") == (acceptsTLS12 && !acceptsTLS13), "\(checked)")
    }

    @Test func `a chain that is too long for a handshake is rejected`() async throws {
        let texts = try ["ann.pem", "ca.pem"].map { try String(contentsOfFile: authority.path($0), encoding: .utf8) }
        for (copies, status) in [(20, Int32(0)), (400, 1)] {
            try authority.folder.write(texts[0] + String(repeating: texts[1], count: copies), to: "chain.pem")
            let checked = try await authcheck("--certificate", "chain.pem", "cards")
            #expect(checked.status == status, "\(checked)")
            #expect(checked.output.contains("a handshake accepts at most 102400") == (status == 1), "\(checked)")
        }
    }

    @Test func `a login that does not use the certificate is not accepted`() async throws {
        let open = try await authcheck(
            "--certificate",
            "ann.pem",
            "--password-stdin",
            "passwords",
            "ann",
            input: "secret\n"
        )
        #expect(open.status == 1, "\(open)")
        #expect(open.output.contains("no module of the login has used the certificate"), "\(open)")
        #expect(
            open.errors.contains("no rule of this configuration has auth certificate for realm passwords"),
            "\(open)"
        )
        let start = try await authcheck("--certificate", "ann.pem", "start", "ann")
        #expect(start.status == 1, "\(start)")
        let json = try await authcheck("--certificate", "ann.pem", "--json", "start", "ann")
        #expect(json.output.contains(#""accepted":false"#), "\(json)")
        // The password would be enough without the certificate.
        let other = try await authcheck(
            "--certificate",
            "bob.pem",
            "--password-stdin",
            "either",
            "ann",
            input: "secret\n"
        )
        #expect(other.status == 1, "\(other)")
        #expect(other.output.contains("the certificate names another user: bob"), "\(other)")
        let same = try await authcheck("--certificate", "ann.pem", "either", "ann")
        #expect(same.status == 0, "\(same)")
    }

    @Test func `a file or a configuration without certificates is an error`() async throws {
        let missing = try await authcheck("--certificate", "missing.pem", "cards")
        #expect(missing.status == 2)
        #expect(missing.errors.contains("missing.pem cannot be read"), "\(missing)")
        let key = try await authcheck("--certificate", "ann.key", "cards")
        #expect(key.status == 2)
        #expect(key.errors.contains("certificate file ann.key"), "\(key)")
        #expect(try await authcheck("--certificate", "ann.pem", "card").status == 3)
        #expect(try await authcheck("--certificate", "ann.pem").status == 2)
        let remote = try await authcheck("--certificate", "ann.pem", "--server", "https://localhost:1", "cards", "ann")
        #expect(remote.status == 2)
        #expect(remote.errors.contains("--certificate cannot be combined with --server"), "\(remote)")
        let rules = configuration("").replacing(
            "protect /card { realm cards; auth certificate; require any; }",
            with: ""
        )
        try authority.folder.write(rules, to: "realms.conf")
        let unverified = try await authcheck("--certificate", "ann.pem", "cards")
        #expect(unverified.status == 3)
        #expect(unverified.errors.contains("requests no client certificates"), "\(unverified)")
    }
}
