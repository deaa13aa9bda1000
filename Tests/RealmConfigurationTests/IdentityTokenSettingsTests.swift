// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import RealmConfiguration
import Testing

@Suite struct IdentityTokenSettingsTests {
    private static let rules = """

        default-realm a;
        login a { StartWithLoginModule required; }
        realm a { class StartWithRealm; jaas-context a; startWith a; }
        protect app.example/ { require any; }
        """
    private static let example = "as in: identity-token { key identity-token.pem; }"
    private static let hint =
        "make a key with: (umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out FILE)"

    private func pem() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try PrivateKey.makeP256().withPEM { pem throws(OpenSSLError) in
            for index in pem.indices { bytes.append(pem[index]) }
        }
        return bytes
    }

    private func folder(
        _ block: String,
        _ files: [String: [UInt8]] = [:],
        rules: String = rules
    ) -> MemoryFolder {
        var folder = MemoryFolder("server { trusted-proxies 127.0.0.1; identity-token \(block) }" + rules)
        for (name, bytes) in files { folder.files["etc/\(name)"] = bytes }
        return folder
    }

    @Test func `the keys are read in the order of the file`() throws {
        let (first, second) = (try pem(), try pem())
        let settings = try folder("{ key a.pem; key b.pem; }", ["a.pem": first, "b.pem": second]).load().server
        let keys = try [first, second].map { try SigningKey(PrivateKey(pem: $0, name: ""), name: "") }
        #expect(settings.identityTokenKeys.map(\.x) == keys.map(\.x))
        #expect(try MemoryFolder("").load().server.identityTokenKeys.isEmpty)
    }

    @Test func `a mistake is reported at its place`() throws {
        let key = try pem()
        let ed25519 = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
            -----END PRIVATE KEY-----
            """
        let cases: [(String, [String])] = [
            ("on;", ["1:37: error: identity-token takes a block and no words | \(Self.example)"]),
            ("{ }", ["1:37: error: identity-token has no key | \(Self.example)"]),
            (
                "{ kay a.pem; }",
                [
                    "1:54: error: unknown statement kay in identity-token | did you mean key?",
                    "1:37: error: identity-token has no key | \(Self.example)",
                ]
            ),
            (
                "{ key none.pem; }",
                ["1:58: error: etc/none.pem cannot be read: No such file or directory | \(Self.hint)"]
            ),
            (
                "{ key bad.pem; }",
                [
                    "1:58: error: private key file etc/bad.pem: contains no private key; expected a PEM block \"BEGIN PRIVATE KEY\" | \(Self.hint)"
                ]
            ),
            (
                "{ key ed.pem; }",
                ["1:58: error: private key file etc/ed.pem: the key is not an EC key on the curve P-256 | \(Self.hint)"]
            ),
            ("{ key a.pem; key copy.pem; }", ["1:69: error: the key in etc/copy.pem occurs twice"]),
        ]
        let files = ["a.pem": key, "copy.pem": key, "bad.pem": [], "ed.pem": Array(ed25519.utf8)]
        for (block, expected) in cases {
            #expect(folder(block, files).diagnostics() == expected.map { "etc/realms.conf:\($0)" }, "\(block)")
        }
    }

    @Test func `a key that other users can read is an error`() throws {
        var folder = folder("{ key a.pem; }", ["a.pem": try pem()])
        folder.readableByOthers = ["etc/a.pem"]
        #expect(
            folder.diagnostics() == [
                "etc/realms.conf:1:58: error: etc/a.pem contains a private key that other users can read or change | set its mode to 0600, or to 0640 if root owns it"
            ]
        )
    }

    @Test func `a rule for all hosts is an error, because the client could choose the audience`() throws {
        let rules = Self.rules + "\nprotect /any { require any; }\nprotect /open { open; }\nprotect /no { nobody; }"
        #expect(
            folder("{ key a.pem; }", ["a.pem": try pem()], rules: rules).diagnostics() == [
                "etc/realms.conf:6:9: error: the rule needs a host, because an identity token is for the host that a rule names | name the host, as in: protect app.example.org/any { ... }"
            ]
        )
    }

    @Test func `a configuration without trusted-proxies gets a warning`() throws {
        var folder = MemoryFolder("server { identity-token { key a.pem; } }" + Self.rules)
        folder.files["etc/a.pem"] = try pem()
        #expect(
            folder.diagnostics() == [
                "etc/realms.conf:1:10: warning: identity-token has no effect without trusted-proxies | name the addresses of the proxies"
            ]
        )
    }
}
