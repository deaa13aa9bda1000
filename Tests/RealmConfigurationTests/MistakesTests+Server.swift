// SPDX-License-Identifier: Apache-2.0

extension MistakesTests {
    /// The hint about an unknown class with a package.
    static let ofJava =
        "classes of Java cannot be run: write it in Swift (docs/custom-realm.md) or as a program (docs/realms/exec.md), or use PAM (docs/realms/pam.md)"

    static let contexts: [Mistake] = [
        Mistake(
            realm,
            "etc/realms.conf:1:7: error: realm xtech: there is no login context xtechMyRealm | add login xtechMyRealm { StartWithLoginModule required; }  (there are no login contexts; no login-config file is set)"
        ),
        Mistake(
            "login xtechMyRaelm { StartWithLoginModule required; }\n" + realm,
            "etc/realms.conf:2:7: error: realm xtech: there is no login context xtechMyRealm | did you mean xtechMyRaelm?; no login-config file is set"
        ),
        Mistake(
            "login-config login.conf;\n" + realm,
            files: ["etc/login.conf": "somethingElse { StartWithLoginModule required; };"],
            "etc/realms.conf:2:7: error: realm xtech: there is no login context xtechMyRealm | known names: somethingElse; login-config files: etc/login.conf"
        ),
        Mistake(
            "login-config login.conf;\n" + realm,
            "etc/realms.conf:1:14: error: etc/login.conf cannot be read: No such file or directory"
        ),
        Mistake(
            "login-config login.conf;\n" + realm,
            files: ["etc/login.conf": "xtechMyRealm {\n  StartWithLoginModule required\n};"],
            "etc/login.conf:2:32: error: missing `;` after the module | every module ends with `;`"
        ),
        Mistake(
            login + "login-config login.conf;\n" + realm,
            files: ["etc/login.conf": "xtechMyRealm { StartWithLoginModule required; };"],
            "etc/realms.conf:1:7: error: a second login context `xtechMyRealm` | the first one is at etc/login.conf:1:1"
        ),
        Mistake(
            "login-config a.conf b.conf;\n" + realm,
            files: [
                "etc/a.conf": "xtechMyRealm { StartWithLoginModule required; };",
                "etc/b.conf": "\nxtechMyRealm { StartWithLoginModule required; };",
            ],
            "etc/b.conf:2:1: error: a second login context `xtechMyRealm` | the first one is at etc/a.conf:1:1"
        ),
        Mistake(
            "login xtechMyRealm { StartWithLoginModul required; }\n" + realm,
            "etc/realms.conf:1:22: error: there is no login module StartWithLoginModul | did you mean StartWithLoginModule?"
        ),
        Mistake(
            "login xtechMyRealm { com.sun.security.auth.module.LdapLoginModule required; }\n" + realm,
            "etc/realms.conf:1:22: error: there is no login module com.sun.security.auth.module.LdapLoginModule | \(ofJava)"
        ),
        Mistake(
            "login xtechMyRealm { StartWithLoginModule required debug=true; }\n" + realm,
            "etc/realms.conf:1:52: error: StartWithLoginModule has no such option | known names: deadline"
        ),
        Mistake(
            "login xtechMyRealm { StartWithLoginModule required deadlin=\"3s\"; }\n" + realm,
            "etc/realms.conf:1:52: error: StartWithLoginModule has no option deadlin | did you mean deadline?"
        ),
        Mistake(
            "login xtechMyRealm { StartWithLoginModule required deadline=soon; }\n" + realm,
            "etc/realms.conf:1:61: error: deadline is a time such as 250ms, 30s, 5m, 12h or 7d, not soon"
        ),
        Mistake(
            "login xtechMyRealm { VaultLoginModule required; }\n" + realm,
            "etc/realms.conf:1:22: error: VaultLoginModule for realm xtech: works with a VaultRealm only, not with a StartWithRealm"
        ),
        Mistake(
            "login vault { VaultLoginModule required depth=\"9\" mode=medium; }\nrealm v { class VaultRealm; key k; }",
            "etc/realms.conf:1:47: error: depth is a whole number from 0 to 5, not 9",
            "etc/realms.conf:1:56: error: mode is one of soft, hard, not medium"
        ),
        Mistake(
            "login vault { VaultLoginModule required mode=hard; }\nrealm v { class VaultRealm; key k; }",
            "etc/realms.conf:1:46: error: VaultLoginModule for realm v: mode: is too hard"
        ),
        Mistake(
            "login vault { VaultLoginModule required token=\"${env:NOPE}\"; }\nrealm v { class VaultRealm; key k; }",
            "etc/realms.conf:1:48: error: the environment variable `NOPE` is not set"
        ),
        Mistake(
            login + realm + "login-config other.conf;",
            files: ["etc/other.conf": "tomcat { org.example.LoginModule required; };"],
            "etc/other.conf:1:10: warning: there is no login module org.example.LoginModule; no realm uses this entry"
        ),
        Mistake(
            "login a { Nonsense required; }\n"
                + "realm x { class StartWithRealm; jaas-context a; }\nrealm y { class StartWithRealm; jaas-context a; }",
            "etc/realms.conf:1:11: error: there is no login module Nonsense | known names: DenyLoginModule, PermitLoginModule, ScriptedLoginModule, StartWithLoginModule, VaultLoginModule"
        ),
    ]

    static let server: [Mistake] = [
        Mistake(
            login + realm + "protect /a { realm xtec; require any; }",
            "etc/realms.conf:3:20: error: there is no realm xtec | did you mean xtech?"
        ),
        Mistake(
            login + realm + "protect /a { realm xtech; }",
            "etc/realms.conf:3:9: error: the rule for /a has no require statement | as in: require group User;  or: require any;"
        ),
        Mistake(
            login + realm + "realm zoo { class StartWithRealm; }\nprotect /a { require any; }",
            "etc/realms.conf:4:9: error: the rule for /a has no realm | write realm NAME; in the rule, or default-realm NAME; at the top level"
        ),
        Mistake(
            login + realm + "protect a { realm xtech; require any; }",
            "etc/realms.conf:3:9: error: a is not a path that can be protected | a path begins with /, also after a host: /welcome, app.example.com/, *.example.com/"
        ),
        Mistake(
            login + realm + "protect /a//b { realm xtech; require any; }",
            "etc/realms.conf:3:9: error: /a//b is not a path that can be protected | one / is enough: a request with // is rejected"
        ),
        Mistake(
            login + realm + "protect /a/../b { realm xtech; require any; }",
            "etc/realms.conf:3:9: error: /a/../b is not a path that can be protected | remove . and ..: a request with them is rejected"
        ),
        Mistake(
            login + realm + "protect /%61 { realm xtech; require any; }",
            "etc/realms.conf:3:9: error: /%61 is not a path that can be protected | requests are decoded before they are compared: write the character itself"
        ),
        Mistake(
            login + realm + "protect /a { realm xtech; require any; }\nprotect /a/ { realm xtech; require any; }",
            "etc/realms.conf:4:9: error: a second rule for /a | the first one is at etc/realms.conf:3:9"
        ),
        Mistake(
            login + realm + "protect /a { realm xtech; require user; }",
            "etc/realms.conf:3:35: error: unknown requirement: user | require any;  require user ann zed;  require group User Staff;  require role admin;  or: require attribute department sales;"
        ),
        Mistake(
            login + realm + "protect /a { realm xtech; require attribute a:b x; }",
            "etc/realms.conf:3:45: error: a:b is not a name of an attribute | a name has ASCII letters, digits, - . and _, as in: require attribute department sales;"
        ),
        Mistake(
            login + realm + "protect /a { realm xtech; require attribute mail; }",
            "etc/realms.conf:3:35: error: unknown requirement: attribute mail | require any;  require user ann zed;  require group User Staff;  require role admin;  or: require attribute department sales;"
        ),
        Mistake(
            login + realm + "protect /a { realm xtech; require any body; }",
            "etc/realms.conf:3:35: error: unknown requirement: any body | require any;  require user ann zed;  require group User Staff;  require role admin;  or: require attribute department sales;"
        ),
        Mistake(
            login + realm + "protect /a { realm xtech; require; }",
            "etc/realms.conf:3:27: error: require takes at least one word"
        ),
        Mistake(
            login + realm + "protect /a { realm xtech; auth kerberos; require any; }",
            "etc/realms.conf:3:32: error: there is no scheme kerberos | the schemes are basic, form, certificate"
        ),
        Mistake(
            login + realm + "protect /a { realm xtech; auth basic certificate; require any; }",
            "etc/realms.conf:3:38: error: the scheme certificate needs client certificates, which TLS does not request | add server { tls { client-certificates optional; client-ca FILE; } }",
            "etc/realms.conf:3:38: error: no realm of the rule takes the user name from a certificate | add CertificateLoginModule to the login context of the realm xtech"
        ),
        Mistake(
            login + realm
                + "server { tls { client-certificates none; } }\nprotect /a { realm xtech nowhere; auth certificate; require any; }",
            "etc/realms.conf:4:26: error: there is no realm nowhere | known names: xtech",
            "etc/realms.conf:4:40: error: the scheme certificate needs client certificates, which TLS does not request | add server { tls { client-certificates optional; client-ca FILE; } }",
            "etc/realms.conf:4:40: error: no realm of the rule takes the user name from a certificate | add CertificateLoginModule to the login context of the realm xtech"
        ),
        Mistake(
            login + realm
                + "server { trusted-proxies 10.0.0.1; tls { client-certificates required; client-ca a; } }\nprotect /a { realm xtech; auth certificate; require any; }",
            "etc/realms.conf:4:32: error: no realm of the rule takes the user name from a certificate | add CertificateLoginModule to the login context of the realm xtech",
            "etc/realms.conf:4:32: warning: the rule denies all requests of trusted-proxies: it accepts only certificates | a proxy cannot pass a certificate on: offer another scheme too, or let clients connect directly"
        ),
        Mistake(
            login + realm + "protect /a {\n  require group User\n  realm xtech;\n}",
            "etc/realms.conf:5:3: error: a ; is missing before realm | quote it if it is meant as a word of require"
        ),
        Mistake(
            login + realm + "protect /a {\n  realm xtech\n  require any;\n}",
            "etc/realms.conf:5:3: error: a ; is missing before require | quote it if it is meant as a word of realm"
        ),
        Mistake(
            login + realm + "protect /a { realm xtech; requires any; require any; }",
            "etc/realms.conf:3:27: error: unknown statement requires in protect | did you mean require?"
        ),
        Mistake(
            "server { listen 8443; }",
            "etc/realms.conf:1:17: error: listen takes HOST:PORT, not 8443 | as in 127.0.0.1:8443 or [::1]:8443"
        ),
        Mistake(
            "server { listen 127.0.0.1:99999; }",
            "etc/realms.conf:1:17: error: 99999 is not a port | ports are 0 to 65535"
        ),
        Mistake(
            "server { listen ::1:8443; }",
            "etc/realms.conf:1:17: error: an IPv6 address must be in brackets | [::1]:8443"
        ),
        Mistake(
            "server { listen :8443; }",
            "etc/realms.conf:1:17: error: listen takes HOST:PORT, and the host is missing | [::]:8443 for all addresses, *:8443 for all of IPv4"
        ),
        Mistake(
            "server { listen a:1; listen; }",
            "etc/realms.conf:1:22: error: listen takes at least one word"
        ),
        Mistake(
            login + realm
                + "server {\n  passwords { slots 2; }\n  protect /a { realm xtech; require any; }\n  realm x { class StartWithRealm; }\n  role admin { group User; }\n  default-realm xtech;\n}",
            diagnostics: [
                ("4", "passwords", "block"), ("5", "protect", "block"), ("6", "realm", "block"), ("7", "role", "block"),
                ("8", "default-realm", "statement"),
            ].map { line, keyword, kind in
                "etc/realms.conf:\(line):3: error: unknown statement \(keyword) in server | \(keyword) is a \(kind) of the file: write it outside of server"
            }
        ),
        Mistake(
            "throttle { failures 5; }\ntls { minimum-version 1.3; }",
            "etc/realms.conf:1:1: error: unknown statement throttle in realms.conf | throttle belongs in the server block: server { throttle { ... } }",
            "etc/realms.conf:2:1: error: unknown statement tls in realms.conf | tls belongs in the server block: server { tls { ... } }"
        ),
        Mistake(
            login + "realm xtech {\n  class StartWithRealm;\n  protect / { require any; }\n}",
            "etc/realms.conf:4:3: error: unknown statement protect in a StartWithRealm | protect is a block of the file: write it outside of a StartWithRealm"
        ),
        Mistake(
            "server;",
            "etc/realms.conf:1:1: error: server takes a block and no words | as in: server { listen 127.0.0.1:8443; }"
        ),
        Mistake(
            "server a { }",
            "etc/realms.conf:1:1: error: server takes a block and no words | as in: server { listen 127.0.0.1:8443; }"
        ),
        Mistake(
            "server { state a b; }",
            "etc/realms.conf:1:18: error: state takes one word | quote a value that holds blanks"
        ),
        Mistake(
            "server { }\nserver { }",
            "etc/realms.conf:2:1: error: a second server | the first one is at etc/realms.conf:1:1"
        ),
    ]
}
