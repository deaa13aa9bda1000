// SPDX-License-Identifier: Apache-2.0

extension MistakesTests {
    private static func tls(_ text: String, _ diagnostics: String...) -> Mistake {
        var row = Mistake("server { tls {\n\(text)\n} }")
        row.diagnostics = diagnostics.map { "etc/realms.conf:\($0)" }
        return row
    }

    static let tls: [Mistake] = [
        Mistake("server { tls; }", "etc/realms.conf:1:10: error: tls takes a block and no words"),
        tls("certificate cert.pem;", "1:10: error: certificate and key must be set together | set both or remove both"),
        tls("key key.pem;", "1:10: error: certificate and key must be set together | set both or remove both"),
        tls("ocsp-response a.der;", "2:1: error: ocsp-response needs a certificate | add certificate FILE; key FILE;"),
        tls("certificate a;\nkey b;\nkey c;", "4:1: error: a second key | the first one is at etc/realms.conf:3:1"),
        tls("minimum-version 1.1;", "2:17: error: minimum-version is one of 1.2, 1.3, not 1.1 | did you mean 1.2?"),
        tls(
            "minimum-version 1.3; ciphers A;",
            "2:22: error: ciphers is for TLS 1.2, but minimum-version is 1.3 | use ciphersuites for TLS 1.3"
        ),
        tls("ciphers;", "2:1: error: ciphers takes at least one word"),
        tls("grups X25519;", "2:1: error: unknown statement grups in tls | did you mean groups?"),
        tls("session-tickets yes;", "2:17: error: session-tickets is on or off, not yes"),
        tls(
            "session-tickets off; ticket-key k;",
            "2:22: error: ticket-key cannot be combined with session-tickets off | remove one of them"
        ),
        tls(
            "client-certificates require; client-ca a;",
            "2:21: error: client-certificates is one of none, optional, required, not require | did you mean required?"
        ),
        tls(
            "client-certificates required;",
            "2:1: error: client-certificates required needs client-ca | add client-ca FILE;"
        ),
        tls(
            "client-certificates optional; client-crl a;",
            "2:1: error: client-certificates optional needs client-ca | add client-ca FILE;"
        ),
        tls(
            "client-ca a;",
            "2:1: error: client-ca is set, but client certificates are not requested | add client-certificates optional; or client-certificates required;"
        ),
        tls(
            "client-certificates none; client-crl a; client-depth 2;",
            "2:27: error: client-crl is set, but client certificates are not requested | add client-certificates optional; or client-certificates required;",
            "2:41: error: client-depth is set, but client certificates are not requested | add client-certificates optional; or client-certificates required;"
        ),
        tls(
            "client-certificates required; client-ca a; client-depth 21;",
            "2:57: error: client-depth is a whole number from 0 to 20, not 21"
        ),
        tls(
            "client-certificates required; client-ca a; client-ca b;",
            "2:44: error: a second client-ca | the first one is at etc/realms.conf:2:31"
        ),
        tls(
            "host { certificate a; key b; }",
            "2:1: error: host takes names and a block | as in: host example.org *.example.org { certificate FILE; key FILE; }"
        ),
        tls(
            "host a.test;",
            "2:1: error: host takes names and a block | as in: host example.org *.example.org { certificate FILE; key FILE; }"
        ),
        tls(
            "host a.test { certificate a; }",
            "2:1: error: certificate and key must be set together | set both or remove both"
        ),
        tls("host a.test { }", "2:1: error: the host has no certificate | add certificate FILE; key FILE;"),
        tls(
            "host a.test { certificate a; key b; minimum-version 1.3; }",
            "2:37: error: unknown statement minimum-version in host | known names: certificate, key, ocsp-response"
        ),
        tls(
            "host a.test b.test { certificate a; key b; }\nhost B.Test. { certificate a; key b; }",
            "3:6: error: a second host b.test | the first one is at etc/realms.conf:2:13"
        ),
        tls(
            "certificate a\nkey b;",
            "3:1: error: a ; is missing before key | quote it if it is meant as a word of certificate"
        ),
    ]
}
