// SPDX-License-Identifier: Apache-2.0

import LoginConf
import OpenSSLKit
import RealmConfiguration
import RealmKit
import Testing

@Suite struct RealmAPISettingsTests {
    private static let key = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    @Test func `the programs are read with their realms, tokens, certificates and networks`() throws {
        let folder = MemoryFolder(
            """
            login xtechMyRealm { StartWithLoginModule required; }
            realm xtech { class StartWithRealm; }
            realm other { class StartWithRealm; }
            server {
                tls { client-certificates optional; client-ca ca.pem; }
                realm-api {
                    client mail {
                        realm xtech other;
                        token "${file:mail.token}" "${env:OLD_TOKEN}";
                        networks 10.0.0.0/8 127.0.0.1;
                        may-name-address on;
                    }
                    client web {
                        realm other;
                        certificate-key \(Self.key);
                        certificate-subject CN=web,O=Example;
                        show-reasons on;
                    }
                }
            }
            """,
            ["etc/mail.token": "0123456789abcdef0123456789abcdef\n"]
        )
        var withEnvironment = folder
        withEnvironment.environment["OLD_TOKEN"] = "fedcba9876543210fedcba9876543210"
        let settings = try #require(try withEnvironment.load().server.realmAPI)
        var mail = RealmAPISettings.Client(name: "mail", realms: ["xtech", "other"])
        mail.tokens = [
            try Digest.sha256(Array("0123456789abcdef0123456789abcdef".utf8)),
            try Digest.sha256(Array("fedcba9876543210fedcba9876543210".utf8)),
        ]
        mail.networks = [try .init("10.0.0.0/8"), try .init("127.0.0.1")]
        mail.mayStateUserAddress = true
        var web = RealmAPISettings.Client(name: "web", realms: ["other"])
        web.certificateKeys = [try Digest.sha256([])]
        web.certificateSubjects = ["CN=web,O=Example"]
        web.showsReasons = true
        #expect(settings.clients == [mail, web])
        #expect(!mail.needsCertificate && web.needsCertificate)
    }

    @Test func `without a realm-api block the realm API is disabled`() throws {
        #expect(try MemoryFolder("server { listen 127.0.0.1:0; }").load().server.realmAPI == nil)
    }

    @Test func `neither a message nor the settings contain a token`() {
        let token = "0123456789abcdef 0123456789abcdef"
        let folder = MemoryFolder(
            """
            login xtechMyRealm { StartWithLoginModule required; }
            realm xtech { class StartWithRealm; }
            server { realm-api { client mail { realm xtech; token "${file:mail.token}"; } } }
            """,
            ["etc/mail.token": token]
        )
        do {
            _ = try folder.load()
            Issue.record("the token is not valid")
        } catch {
            #expect(!error.description.contains("0123"))
        }
    }
}
