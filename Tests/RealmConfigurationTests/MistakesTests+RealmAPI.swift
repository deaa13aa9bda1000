// SPDX-License-Identifier: Apache-2.0

extension MistakesTests {
    private static let example =
        #"as in: realm-api { client mail { realm people; token "${file:mail.token}"; networks 10.0.0.0/8; } }"#
    private static let openssl = "make one with: openssl rand -hex 32"
    private static let good = "0123456789abcdef0123456789abcdef"

    static let realmAPI: [Mistake] = [
        Mistake(
            "server { realm-api on; }",
            "etc/realms.conf:1:10: error: realm-api takes a block and no words | \(example)"
        ),
        Mistake(
            "server { realm-api { } }",
            "etc/realms.conf:1:10: error: realm-api has no client | \(example)"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { realm xtech; } } }",
            "etc/realms.conf:3:29: error: client mail has neither a token nor a certificate | a network alone identifies no program: add token \"${file:PATH}\"; or certificate-key KEY;"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { realm xtech; networks 127.0.0.1; } } }",
            "etc/realms.conf:3:29: error: client mail has neither a token nor a certificate | a network alone identifies no program: add token \"${file:PATH}\"; or certificate-key KEY;"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { token \(good); } } }",
            "etc/realms.conf:3:29: error: client mail has no realm | as in: realm people staff;"
        ),
        Mistake(
            "\(login)realm a/b { class StartWithRealm; }\nserver { realm-api { client mail { realm a/b; token \(good); } } }",
            "etc/realms.conf:3:42: error: realm a/b cannot be used here, because its name cannot be a part of a path | rename it without / \\ % ; ? #"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { realm xtek; token \(good); } } }",
            "etc/realms.conf:3:42: error: there is no realm xtek | known names: xtech"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { realm xtech; tokens \(good); } } }",
            "etc/realms.conf:3:49: error: unknown statement tokens in client | did you mean token?",
            "etc/realms.conf:3:29: error: client mail has neither a token nor a certificate | a network alone identifies no program: add token \"${file:PATH}\"; or certificate-key KEY;"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { realm xtech; token 0123456789abcdef; } } }",
            "etc/realms.conf:3:55: error: the token must have 32 to 512 characters, not 16 | \(openssl)"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { realm xtech; token aaaabbbbccccddddaaaabbbbccccdddd; } } }",
            "etc/realms.conf:3:55: error: the token has only 4 different characters, so it can be guessed | \(openssl)"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { realm xtech; token \"0123456789abcdef 0123456789abcdef\"; } } }",
            "etc/realms.conf:3:55: error: the token has a character other than A-Z a-z 0-9 - . _ ~ + / = | \(openssl)"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { realm xtech; token \"${file:mail.token}\"; } } }",
            "etc/realms.conf:3:56: error: cannot read the file `mail.token`: No such file or directory"
        ),
        Mistake(
            """
            \(login)\(realm)server { realm-api {
                client mail { realm xtech; token \(good); }
                client mail { realm xtech; token \(good)0; }
                client web  { realm xtech; token \(good); }
                client both { realm xtech; token \(good)1 \(good)1; }
            } }
            """,
            "etc/realms.conf:5:12: error: a second client mail | each program needs a name of its own",
            "etc/realms.conf:6:38: error: client mail has the same token | each program needs a token of its own",
            "etc/realms.conf:7:72: error: the two tokens are equal"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { realm xtech; certificate-subject CN=mail; } } }",
            "etc/realms.conf:3:49: error: certificate-subject is set, but client certificates are not requested | add tls { client-certificates optional; client-ca FILE; }"
        ),
        Mistake(
            """
            \(login)\(realm)server {
                tls { client-certificates optional; client-ca ca.pem; }
                realm-api {
                    client mail { realm xtech; certificate-subject CN=mail; }
                    client post { realm xtech; certificate-subject CN=post CN=mail; }
                    client web  { realm xtech; certificate-subject mail; }
                    client host { realm xtech; certificate-key sha256//AAAA; }
                }
            }
            """,
            "etc/realms.conf:7:16: error: client mail has the same certificate | each program needs a certificate or a token of its own",
            "etc/realms.conf:8:56: error: certificate-subject takes a name such as CN=mail,O=Example, not mail | openssl x509 -in FILE -noout -subject -nameopt RFC2253",
            "etc/realms.conf:9:52: error: certificate-key takes sha256// and the base64 form of 32 bytes, not sha256//AAAA | openssl x509 -in FILE -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64"
        ),
        Mistake(
            "\(login)\(realm)server { realm-api { client mail { realm xtech; token \(good); } } }\nprotect /realms/x { realm xtech; require any; }",
            "etc/realms.conf:4:9: warning: the rule does not apply to the realm API, which has /realms and /realms/REALM/check | set another path for the realm API with server { sign-in { prefix /gatehouse; } }"
        ),
    ]
}
