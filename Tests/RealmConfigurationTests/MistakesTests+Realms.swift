// SPDX-License-Identifier: Apache-2.0

extension MistakesTests {
    static let structure: [Mistake] = [
        Mistake(
            "relm x { }",
            "etc/realms.conf:1:1: error: unknown statement relm in realms.conf | did you mean realm?"
        ),
        Mistake(
            login + "relm xtech { class StartWithRealm; }",
            "etc/realms.conf:2:1: error: unknown statement relm in realms.conf | did you mean realm?"
        ),
        Mistake(
            login + realm + "default-realm xtech;\ndefault-realm xtech;",
            "etc/realms.conf:4:1: error: a second default-realm | the first one is at etc/realms.conf:3:1"
        ),
        Mistake(
            login + realm + "default-realm xtec;",
            "etc/realms.conf:3:15: error: there is no realm xtec | did you mean xtech?"
        ),
        Mistake(
            login + realm + "default-realm xtec;\nprotect /a { require any; }",
            "etc/realms.conf:3:15: error: there is no realm xtec | did you mean xtech?"
        ),
        Mistake(
            login + realm + "default-realm;",
            "etc/realms.conf:3:1: error: default-realm takes one word"
        ),
        Mistake(
            login + realm + "default-realm a b;",
            "etc/realms.conf:3:17: error: default-realm takes one word | quote a value that holds blanks"
        ),
        Mistake(
            login + realm + "default-realm { }",
            "etc/realms.conf:3:1: error: default-realm takes no block | end it with ;"
        ),
        Mistake(
            login + realm + "default-realm xtech\nprotect /a { require any; }",
            "etc/realms.conf:4:1: error: a ; is missing before protect | quote it if it is meant as a word of default-realm"
        ),
        Mistake(
            login + "default-realm xtech\n" + realm,
            "etc/realms.conf:3:1: error: a ; is missing before realm | quote it if it is meant as a word of default-realm"
        ),
        Mistake(
            "default-realm xtech\nlogin-config login.conf;\n" + realm,
            files: ["etc/login.conf": "xtechMyRealm { StartWithLoginModule required; };"],
            "etc/realms.conf:2:1: error: a ; is missing before login-config | quote it if it is meant as a word of default-realm"
        ),
        Mistake(
            login + "realm xtech {\n  class StartWithRealm;\n  startWith z;\n  startWith y;\n}",
            "etc/realms.conf:5:3: error: a second startWith | the first one is at etc/realms.conf:4:3"
        ),
        Mistake(
            login + realm + realm,
            "etc/realms.conf:3:7: error: a second realm xtech | the first one is at etc/realms.conf:2:7"
        ),
        Mistake(
            login + "realm { class StartWithRealm; }",
            "etc/realms.conf:2:1: error: realm takes one word before its block"
        ),
        Mistake(
            login + "realm \"\" { class StartWithRealm; }",
            "etc/realms.conf:2:7: error: a realm\'s name must not be empty or contain control characters"
        ),
        Mistake(login + "realm xtech;", "etc/realms.conf:2:1: error: realm needs a block in { }"),
        Mistake(
            login + "realm \"caf\u{E9}\" { class StartWithRealm; }",
            "etc/realms.conf:2:7: warning: the realm\'s name is not ASCII | RFC 7617 does not define how clients decode other characters in a challenge"
        ),
        Mistake(
            "login a b { StartWithLoginModule required; }",
            "etc/realms.conf:1:9: error: a `login` block has one name | write login NAME { ... }"
        ),
    ]

    static let realms: [Mistake] = [
        Mistake(
            login + "realm xtech { startWith z; }",
            "etc/realms.conf:2:7: error: realm xtech has no class | as in: class StartWithRealm;"
        ),
        Mistake(
            login + "realm xtech { class StartWithRaelm; }\nprotect /a { realm xtech; require any; }",
            "etc/realms.conf:2:21: error: there is no realm class StartWithRaelm | did you mean StartWithRealm?"
        ),
        Mistake(
            login + "realm xtech { class Nonsense; }",
            "etc/realms.conf:2:21: error: there is no realm class Nonsense | known names: StackRealm, StartWithRealm, VaultRealm"
        ),
        Mistake(
            "realm xtech { class org.example.CrewRealm; }",
            "etc/realms.conf:1:21: error: there is no realm class org.example.CrewRealm | \(ofJava)"
        ),
        Mistake(
            login
                + "realm xtech {\n class StartWithRealm;\n jndiCtxFactory x;\n digestrealm-password-enc-algorithm AES;\n java.naming.referral follow;\n java.naming.security.credentials hunter2;\n com.sun.jndi.ldap.connect.timeout 500;\n}",
            diagnostics: [
                ("4", "jndiCtxFactory", "it has no meaning here: remove it"),
                ("5", "digestrealm-password-enc-algorithm", "it has no meaning here: remove it"),
                ("6", "java.naming.referral", "it has no meaning here: remove it"),
                ("7", "java.naming.security.credentials", "write search-bind-password"),
                ("8", "com.sun.jndi.ldap.connect.timeout", "write connect-timeout, as in: connect-timeout 3s;"),
            ].map { line, keyword, hint in
                "etc/realms.conf:\(line):2: error: unknown statement \(keyword) in a StartWithRealm | \(hint)"
            }
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; startwith z; }",
            "etc/realms.conf:2:37: error: unknown statement startwith in a StartWithRealm | did you mean startWith?"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; nonsense z; }",
            "etc/realms.conf:2:37: error: unknown statement in a StartWithRealm | known names: assign-groups, cache, class, group-mapping, jaas-context, startWith"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; startWith; }",
            "etc/realms.conf:2:37: error: startWith takes at least one word"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; startWith a b; }",
            "etc/realms.conf:2:47: error: startWith takes one value; quote it if it holds blanks"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; startWith \"\"; }",
            "etc/realms.conf:2:47: error: realm xtech: startWith: is empty, so every name would match"
        ),
        Mistake(
            login + "realm xtech {\n  class StartWithRealm;\n  startWith z\n  assign-groups Staff;\n}",
            "etc/realms.conf:5:3: error: a ; is missing before assign-groups | quote it if it is meant as a word of startWith"
        ),
        Mistake(
            login + "realm xtech {\n  class StartWithRealm\n  startWith z;\n}",
            "etc/realms.conf:4:3: error: a ; is missing before startWith | class takes one word"
        ),
        Mistake(
            login + "realm xtech {\n  class StartWithRealm;\n  assign-groups Staff\n  startWith z;\n}",
            "etc/realms.conf:5:3: error: a ; is missing before startWith | quote it if it is meant as a word of assign-groups"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; startWith { } }",
            "etc/realms.conf:2:37: error: startWith takes no block | end it with ;"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; startWith \"${nope}\"; }",
            "etc/realms.conf:2:48: error: the property `nope` is not defined | set it with -D NAME=VALUE"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; startWith \"${env:NOPE}\"; }",
            "etc/realms.conf:2:48: error: the environment variable `NOPE` is not set"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; startWith \"${file:nope}\"; }",
            "etc/realms.conf:2:48: error: cannot read the file `nope`: No such file or directory"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; group-mapping a->b b->a; }",
            "etc/realms.conf:2:51: error: group-mapping has a cycle through a"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; group-mapping ab; }",
            "etc/realms.conf:2:51: error: group-mapping takes rules such as a,b->c, not ab"
        ),
        Mistake(
            "login vault { VaultLoginModule required; }\nrealm v { class VaultRealm; }",
            "etc/realms.conf:2:7: error: realm v: key: must be set"
        ),
        Mistake(
            "login vault { VaultLoginModule required; }\nrealm v { class VaultRealm; key k; tries 0; strict maybe; wait 5; colour blue; file a b; }",
            "etc/realms.conf:2:42: error: tries is a whole number from 1 to 9, not 0",
            "etc/realms.conf:2:52: error: strict is true or false, not maybe",
            "etc/realms.conf:2:64: error: wait is a time such as 250ms, 30s, 5m, 12h or 7d, not 5",
            "etc/realms.conf:2:85: error: file takes one value; quote it if it holds blanks",
            "etc/realms.conf:2:74: error: colour is one of red, green, not blue"
        ),
        Mistake(
            "login vault { VaultLoginModule required; }\nrealm v { class VaultRealm; key a b; }",
            "etc/realms.conf:2:35: error: key takes one value | quote it if it holds blanks"
        ),
        Mistake(
            "login vault { VaultLoginModule required; }\nrealm v { class VaultRealm; key k; note bad; }",
            "etc/realms.conf:2:41: error: realm v: note: is bad"
        ),
        Mistake(
            "login vault { VaultLoginModule required; }\nrealm v { class VaultRealm; key k; note worse; }",
            "etc/realms.conf:2:7: error: realm v: nothing goes together"
        ),
        Mistake("realm s { class StackRealm; }", "etc/realms.conf:1:7: error: realm s: jaas-context: must be set"),
    ]
}
