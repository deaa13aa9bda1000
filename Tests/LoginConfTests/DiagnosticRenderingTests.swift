// SPDX-License-Identifier: Apache-2.0

import LoginConf
import TestTools
import Testing

/// Tests the exact text of diagnostics.
@Suite struct DiagnosticRenderingTests {
    private func error(_ text: String, _ start: UInt32, _ end: UInt32, hint: String? = nil) -> Diagnostic {
        SourceText(name: "realms.conf", text).error(at: SourceRange(start, end), "message", hint: hint)
    }

    @Test func `a diagnostic shows place, line, underline and hint on separate lines`() {
        let diagnostic = error("a;\nb;\nrealm xtech {\n", 12, 17, hint: "a hint")
        #expect(
            diagnostic.rendered == """
                realms.conf:3:7: error: message
                    realm xtech {
                          ^~~~~
                    hint: a hint
                """
        )
        #expect(diagnostic.description == diagnostic.rendered)
    }

    @Test func `a diagnostic without a hint ends with the underline`() {
        #expect(error("abc", 1, 2).rendered == "realms.conf:1:2: error: message\n    abc\n     ^")
    }

    @Test func `a warning is marked as a warning`() {
        let warning = SourceText(name: "f", "abc").warning(at: SourceRange(0, 3), "message")
        #expect(warning.rendered == "f:1:1: warning: message\n    abc\n    ^~~")
    }

    @Test(arguments: [
        "    search-bind-password hunter2;", "db-password\t\"hunter2\"", "Password=hunter2", "CLIENT-SECRET  hunter2 ;",
        "  bindPassword=\"hunter2\"", "database \"host=db password=hunter2\"; x",
        "database \"host=db password = hunter2\";",
        "url https://ann:hunter2@example.org/;", "url \"postgresql://ann:hunter/2@db\";",
        "token hunter2; bogus 1;", "code=\"hunter2\"", "bindCredential=hunter2", "api-key hunter2", "apiKey=hunter2",
        "java.naming.security.credentials=\"hunter2\"", "bind-pwd hunter2;", "key-passphrase hunter2;",
        "search-bind-passwd hunter2;", "\"search-bind-password\" hunter2;", "search-bind-password: hunter2;",
        "password/**/=hunter2", "password /* old */ = hunter2", "password=#hunter2", "password= #hunter2",
        "search-bind-password ${env:NOPE}hunter2;", "search-bind-password \"${env:A}\" hunter2;",
        "search-bind-password \"${{hunter2}}\";", "search-bind-password hun${x} ter2;",
        "search-bind-password {hunter2};", "search-bind-password ;hunter2;",
        "url https://hunter2@example.org/;", "url https://example.org/?key=hunter2;",
        "//search-bind-password hunter2;", "M requird; //token=hunter2",
        "search-bind-password\u{A0}hunter2;", "'search-bind-password' 'hunter2';", "token'hunter2'",
        "password\u{FF1A}hunter2", "password\u{C}hunter2", "<password>hunter2</password>", "[password]=hunter2",
        "password\\thunter2", "\u{201C}password\u{201D} \u{201C}hunter2\u{201D}",
        "search-bind-password \"${env:LDAP_PW:-hunter2}\"", "password \"${PW:-hunter2}\"", "password ${PW:hunter2};",
        "password \"${env:A:hunter2}\"", "fields \"Authorization: Bearer hunter2\";", "Bearer hunter2",
        "bindpw hunter2;", "dbpass hunter2;", "pw=hunter2", "authtok hunter2", "accesskey hunter2;",
        "privatekey hunter2",
        "password2 hunter2;", "password. hunter2", "passwort hunter2;", "search-bind-pasword \"hunter2;",
        "pasword hunter2", "passwrod: hunter2", "bind-credentails hunter2",
        "directory ldaps:/ann:hunter2@host;", "database \"postgresql:/ann:hunter2@db\";",
        "database \"postgresql://ann:hun\"ter2@db\"", "path db/password=hunter2;", "token { hunter2; }",
        "db-password; \"hunter2\";", "token;hunter2", "password=; \"hunter2\";", "password;=\"hunter2\"",
        "db-password } \"hunter2\";", "db-password,\"hunter2\";", "db-password) \"hunter2\"; a b;",
        "password,=\"hunter2\"",
        "directory \"ldaps://svc:hunter2 b@db\";", "db-password \"${T=-hunter2}\";",
        "password \"${env:DB?password=hunter2}\";",
        "tokens \"hunter2\";", "tokn hunter2", "secert hunter2", "db-assword \"hunter2\";",
        "search-bind-assword hunter2",
        "credentials ann:hunter2;", "credentials hunter2;", "p\u{0}a\u{0}s\u{0}s\u{0} \u{0}hunter2",
        "key hunter2hunter2hunter2hunter2hunter2;", "key=hunter2;", "client-key: hunter2;", "server-key hunter2;",
    ])
    func `a line that may contain a password is not shown`(line: String) {
        let diagnostic = error("a;\n\(line)\n", 3, 6, hint: "a hint")
        #expect(diagnostic.rendered == "realms.conf:2:1: error: message\n    hint: a hint")
        #expect(diagnostic.lineText == "" && diagnostic.indent == 0 && diagnostic.length == 0)
        let warning = SourceText(name: "f", line).warning(at: SourceRange(0, 3), "message")
        #expect(!warning.rendered.contains("hunter"))
    }

    @Test(arguments: [
        "text \"Wrong user name or password\";", "passwords", "key /etc/key.pem;", "client-key \"tls/client.pem\";",
        "identity-token { x y; }", "outcomes 401:wrong-credentials 423:locked;", "monkey 1;", "unicode yes;",
        "require one-time-code;", "change-expired-password maybe;", "M required token=\"${env:A}\" bogus=1;",
        "search-bind-password \"${file:a}${file:b}\"; # both", "token \"${file:a}\" \"${file:b}\";",
        "password-query \"SELECT 1\";", "search-bind-password ${file:ldap.secret};", "db-password \"${env:X}\";",
        "passwords { }", "url https://example.org:8443/a", "url http://[::1]:80/", "db-password ;",
        "password-query \"SELECT login AS username, hash AS password FROM person WHERE login = :usr\";",
        "update-password-query \"UPDATE t SET password = :password-hash WHERE password = :old-hash\"; x",
        "key \"${env:HOME}/nokey.pem\";", "ticket-key tickets;", "key ~/key;", "key \"my key.pem\";",
        "certificate site.p12; key site.p12;", "key \"site.p12\";", "key id;", "client-key a.jks;",
        "key certificate-of-the-application-2026.p12;",
        "key sch\u{FC}ssel.pem;", "credentials jsn;", "credentials basic;", "identity-token",
        "M required useFirstPass=true storePass=false;", "auth required use_first_pass;",
        "help-link mailto:help@example.com;", "footer \"Mail:help@example.com\";",
        #"body-template "{\"username\":\"%u\",\"password\":\"%p\"}";"#,
        "database \"password=${file:pw} host=db\";", "(memberOf:1.2.840.113556.1.4.1941:=cn=a)",
    ])
    func `a line that only looks like one with a password is shown`(line: String) {
        #expect(error(line, 0, 1).lineText == line)
    }

    @Test(arguments: [
        "search-bind-password\n\"hunter2;", "search-bind-password\n  hunter2 }",
        "search-bind-password # old\n hun\"ter2;",
        "search-bind-password\n\"hunter2${env:NOPE}\"", "M required password=\r\n hunter2 bogus=1;",
        "password \"a;\nhunter2\";", "password /*\n*/ = hunter2",
        "token \"a\"\n \"hunter2\";", "key -----BEGIN\r\nhunter2+/a==\r\n", "key -----BEGIN\nhunter2;",
        "token \"a\"\n\n # c\n\n \u{201C}hunter2\u{201D};", "token \"a\" # old\n \"hunter2\"; b;",
        "token \"${file:a}\"\n \"hunter2", "password=\"${env:X}\" # a\n \"hunter2\" delay=\"1s\"",
        "search-bind-password {\n hunter2", "note \"room # 5\"; search-bind-password\n \"hunter2;",
        "password \"${file:a}\nhunter2\";",
    ])
    func `a password on the next line is not shown`(text: String) {
        let start = UInt32(text.utf8.count - 1)
        let diagnostic = error(text, start, start)
        #expect(diagnostic.line > 1)
        #expect(diagnostic.lineText == "", "\(diagnostic.lineText)")
    }

    @Test func `the lines before and after a password are shown`() {
        let text = "url a;\nsearch-bind-password\n  hunter2;\nbase-dn b;"
        #expect(error(text, 0, 1).lineText == "url a;")
        #expect(error(text, 7, 8).lineText == "search-bind-password")
        #expect(error(text, 32, 33).lineText == "")
        #expect(error(text, 39, 40).lineText == "base-dn b;")
        // A comment does not have its value on the next line.
        #expect(error("# the password\nbase-dn b;", 15, 16).lineText == "base-dn b;")
        // A `;` is missing before a statement or an option.
        for next in ["base-dn b;", "depth=3;", "}", "# a", "", "realm {"] {
            let place = UInt32("password hunter2\n".utf8.count)
            #expect(error("password hunter2\n\(next)", place, place).lineText == next)
        }
        #expect(error("identity-token\n{ key k.pem; }", 15, 16).lineText == "{ key k.pem; }")
    }

    @Test func `the end of a long password is not shown`() {
        let value = String(repeating: "x", count: 5000) + "hunter2"
        let text = "password \"\(value)\"; bogus 1;"
        let start = UInt32(text.utf8.count - 8)
        #expect(error(text, start, start + 5).lineText == "")
        let large = String(repeating: "x", count: 20_000)
        let diagnostic = SourceText(name: "f", "password \"\(large)\"; b;").error(
            at: SourceRange(20_013, 20_014),
            large
        )
        #expect(diagnostic.rendered == "f:1:20014: error: a mistake in a text that may contain a secret")
    }

    @Test(arguments: [
        "password ", "password \"", "token /*", "key ${", "x://@", "key # \n", "code //", "key a", "\"key ",
        "pasword",
        "password x\n", "a:b@",
    ])
    func `a large text with many names is searched in linear time`(part: String) async {
        func cost(_ count: Int) -> Double {
            let text = SourceText(name: "f", String(repeating: part, count: count))
            return ProcessorTime.measureThread { #expect(text.error(at: SourceRange(1, 2), "m").line == 1) }
        }
        let ratio = await CostRatio(below: 20, of: { cost(4_000) }, to: { cost(500) })
        #expect(ratio.value < 20, "\(ratio)")
    }

    @Test(arguments: [
        ("password hun;ter2;", "unknown statement ter2", "unknown statement (hidden)"),
        ("password=hunter2!x", "`!` is not allowed", "`!` is not allowed"),
        ("password {hunter2};", "missing `;` after `hunter2`", "missing `;` after (hidden)"),
        ("password \"hun${ter2}\";", "the property `ter2` is not defined", "the property (hidden) is not defined"),
        ("password 'hun ter2';", "a 'hun ter2' b", "a (hidden) b"),
        ("password=\"\\150unter2\"", "not hunter2", "not (hidden)"),
        ("password \"hun\\ter2\";", "not hunter2", "not (hidden)"),
        ("password пароль;", "not `пароль`", "not (hidden)"),
        ("password !$%&;", "not `!$%&`, but `;`", "not (hidden) but `;`"),
        ("password hun\u{7}ter2;", "not hun\u{7}ter2", "not (hidden)"),
        ("password k; tries 12;", "tries is not 12, unknown `;`", "tries is not 12, unknown `;`"),
        ("M a password=hunter2 bogus=12;", "M has no option bogus", "M has no option bogus"),
        ("url https://ann:hunter2@x; b", "not https://ann:hunter2@x;", "not (hidden)"),
    ])
    func `a message does not contain the words of a password`(line: String, message: String, expected: String) {
        let diagnostic = SourceText(name: "f", line).error(at: SourceRange(9, 10), message)
        #expect(diagnostic.message == expected)
        #expect(diagnostic.lineText == "")
    }

    @Test func `a hint with a word of a password is left out`() {
        let text = SourceText(name: "f", "password=hunter2!x")
        #expect(text.error(at: SourceRange(9, 18), "m", hint: "write \"hunter2!x\"").hint == nil)
        #expect(text.error(at: SourceRange(9, 18), "m", hint: "write it in quotes").hint == "write it in quotes")
    }

    @Test func `the value of an unknown name is not shown, unless the name that is meant has no secret`() {
        let text = SourceText(name: "f", "\nvault-pin hunter2; a b;")
        func shown(meant: String?) -> String {
            text.error(unknownName: SourceRange(1, 10), "unknown vault-pin", meant: meant).rendered
        }
        let cut = "f:2:1: error: unknown vault-pin\n    vault-pin...\n    ^~~~~~~~~"
        #expect(shown(meant: nil) == cut)
        #expect(shown(meant: "vault-secret") == "\(cut)\n    hint: did you mean vault-secret?")
        let path = SourceText(name: "f", "kay tls/a.pem;")
        #expect(path.error(unknownName: SourceRange(0, 3), "m", meant: "key").lineText == "kay tls/a.pem;")
        let whole = "f:2:1: error: unknown vault-pin\n    vault-pin hunter2; a b;\n    ^~~~~~~~~"
        #expect(shown(meant: "vault-path") == "\(whole)\n    hint: did you mean vault-path?")
    }

    @Test func `the words of the value of an unknown name that means a secret are not in the message`() {
        let text = SourceText(name: "f", "vault-pin hunter2;")
        let name = SourceRange(0, 9)
        let diagnostic = text.error(unknownName: name, "unknown vault-pin hunter2", meant: "vault-secret")
        #expect(diagnostic.message == "unknown vault-pin (hidden)")
    }

    @Test func `a text can have further names of secrets`() {
        let text = SourceText(name: "f", bytes: Array("pin 2580;\npins 3;".utf8), secretNames: ["pin"])
        #expect(text.error(at: SourceRange(0, 3), "a second pin").lineText == "")
        #expect(text.error(at: SourceRange(0, 3), "not 2580").message == "not (hidden)")
        #expect(text.error(at: SourceRange(10, 14), "m").lineText == "pins 3;")
    }

    @Test func `the value of an unknown name is not shown in later diagnostics either`() {
        let (name, value) = (SourceRange(0, 5), SourceRange(6, 13))
        func text() -> SourceText { SourceText(name: "f", "vault hunter2 { a; }; size 2;\npassword x;") }
        let unknown = text()
        unknown.hideValue(ofUnknownName: name, at: value, meant: nil)
        #expect(unknown.error(at: name, "m").lineText == "vault ...")
        #expect(unknown.error(at: SourceRange(22, 26), "not hunter2").rendered == "f:1:23: error: not hunter2")
        #expect(unknown.error(at: SourceRange(8, 9), "m").lineText == "")
        #expect(unknown.error(at: SourceRange(30, 31), "m").lineText == "")
        let secret = text()
        secret.hideValue(ofUnknownName: name, at: value, meant: "password")
        #expect(secret.error(at: SourceRange(22, 26), "not hunter2").rendered == "f:1:23: error: not (hidden)")
        let other = text()
        other.hideValue(ofUnknownName: name, at: value, meant: "path")
        #expect(other.error(at: name, "m").lineText == "vault hunter2 { a; }; size 2;")
    }

    @Test func `the values of many unknown names are hidden in linear time`() async {
        func cost(_ count: UInt32) -> Double {
            let text = SourceText(name: "f", String(repeating: "ab cd;\n", count: Int(count)))
            return ProcessorTime.measureThread {
                for start in stride(from: 0, to: count * 7, by: 7) {
                    let name = SourceRange(start, start + 2)
                    text.hideValue(ofUnknownName: name, at: SourceRange(start + 3, start + 5), meant: nil)
                }
                #expect(text.error(at: SourceRange(count * 7 - 7, count * 7 - 5), "m").lineText == "ab ...")
            }
        }
        let ratio = await CostRatio(below: 20, of: { cost(8_000) }, to: { cost(1_000) })
        #expect(ratio.value < 20, "\(ratio)")
    }

    @Test func `a diagnostic for a log has one line, without a line of the configuration`() {
        let text = SourceText(name: "f", "a;\nb c;")
        #expect(
            text.error(at: SourceRange(3, 4), "unknown b", hint: "write a").logLine
                == "f:2:1: error: unknown b; hint: write a"
        )
        #expect(SourceText(name: "f", "").warning(at: .none, "m").logLine == "f: warning: m")
        let errors = ConfigurationErrors("m", at: SourceRange(3, 4), in: text)
        #expect(errors.logText == "f:2:1: error: m")
    }

    @Test func `diagnostics about a text show references in the place of the values that are hidden`() {
        let text = SourceText(name: "f", "key \"${file:k}\";\nsize 2;")
        text.hide("-----BEGIN\nabcd\n", writtenAs: "${file:k}", at: SourceRange(4, 15))
        text.hide("abc", writtenAs: "${file:short}", at: SourceRange(4, 15))
        text.hide("plain", writtenAs: "plain", at: SourceRange(4, 15))
        let shown = text.error(at: SourceRange(4, 15), "-----BEGIN\nabcd\n cannot be read, plain")
        #expect(shown.message == "${file:k} cannot be read, plain")
        #expect(text.warning(at: SourceRange(17, 21), "abc, not 'abc'").message == "abc, not 'abc'")
        let other = SourceText(name: "g", "a").error(at: .none, "no -----BEGIN\nabcd\n here")
        #expect(text.hidingValues(in: other).message == "no ${file:k} here")
    }

    @Test func `a diagnostic shows references in the place of their values`() {
        let text = SourceText(name: "f", "size \"x${file:pw}\";")
        let diagnostic = text.error(
            at: SourceRange(5, 17),
            "not xhunter2, 2hunter2 or 'xhunter2'",
            hint: "write xhunter2"
        )
        let shown = diagnostic.replacing("xhunter2", by: "x${file:pw}", hidesParts: true)
        #expect(shown.message == "not x${file:pw}, (hidden) or 'x${file:pw}'")
        #expect(shown.hint == "write x${file:pw}")
        #expect(shown.lineText == diagnostic.lineText)
        let other = diagnostic.replacing("xhunter2", by: "x${file:pw}", hidesParts: false)
        #expect(other.message == "not x${file:pw}, 2hunter2 or 'x${file:pw}'")
    }

    @Test func `a value of references only is not written in the text`() {
        func isReferences(_ text: String) -> Bool {
            SourceText(name: "f", text).consistsOfReferences(in: SourceRange(0, UInt32(text.utf8.count)))
        }
        for text in ["${pw}", "\"${file:a b}\"", "\"${env:A}${env:B}\""] { #expect(isReferences(text), "\(text)") }
        for text in ["", "\"\"", "x", "s3${env:A}", "\"${env:A} \"", "${env:A", "${{a}}", "\"a"] {
            #expect(!isReferences(text), "\(text)")
        }
    }

    @Test func `a line whose confidential part the caller knows is not shown`() {
        let text = SourceText(name: "f", "key hunter2;")
        #expect(text.error(at: SourceRange(4, 11), "message", isConfidential: true).rendered == "f:1:5: error: message")
    }

    @Test func `tabs are kept, so that the underline is below its word`() {
        #expect(error("\ta\tbc;", 3, 5).rendered == "realms.conf:1:4: error: message\n    \ta\tbc;\n    \t \t^~")
    }

    @Test func `lines end at LF, CRLF and CR`() {
        let text = "a\r\nb\rc\nd"
        #expect(error(text, 3, 4).rendered == "realms.conf:2:1: error: message\n    b\n    ^")
        #expect(error(text, 5, 6).rendered == "realms.conf:3:1: error: message\n    c\n    ^")
        #expect(error(text, 7, 8).rendered == "realms.conf:4:1: error: message\n    d\n    ^")
    }

    @Test func `the end of a file is after its last character, or on the empty last line`() {
        #expect(error("abc", 3, 3).rendered == "realms.conf:1:4: error: message\n    abc\n       ^")
        #expect(error("abc\n", 4, 4).rendered == "realms.conf:2:1: error: message\n    \n    ^")
        // A diagnostic about an empty or unreadable file has no line.
        #expect(error("", 0, 0).rendered == "realms.conf: error: message")
        #expect(error("abc", 99, 120).rendered == "realms.conf:1:4: error: message\n    abc\n       ^")
    }

    @Test func `columns and underlines count scalars, not bytes`() {
        let diagnostic = error("é中😀x", 9, 10)
        #expect(diagnostic.column == 4)
        #expect(diagnostic.rendered == "realms.conf:1:4: error: message\n    é中😀x\n       ^")
        #expect(error("é中😀x", 0, 9).length == 3)
    }

    @Test func `an underline ends at the end of its line`() {
        #expect(error("a bcd\nef", 2, 8).rendered == "realms.conf:1:3: error: message\n    a bcd\n      ^~~")
    }

    @Test func `control characters are replaced by visible characters`() {
        #expect(
            error("a\u{1B}[2J\u{7F}\u{85}\u{202E}b\0", 1, 2).rendered
                == "realms.conf:1:2: error: message\n    a\u{241B}[2J\u{2421}??b\u{2400}\n     ^"
        )
    }

    @Test func `control characters in names, messages and hints are replaced`() {
        let diagnostic = SourceText(name: "a\nb", "x").error(at: SourceRange(0, 1), "m\u{1B}", hint: "h\r")
        #expect(diagnostic.rendered == "a\u{240A}b:1:1: error: m\u{241B}\n    x\n    ^\n    hint: h\u{240D}")
    }

    @Test func `malformed bytes are replaced`() {
        let text = SourceText(name: "f", bytes: [0x61, 0xFF, 0x62])
        #expect(text.error(at: SourceRange(1, 2), "m").rendered == "f:1:2: error: m\n    a\u{FFFD}b\n     ^")
    }

    @Test func `a long line is cut around the place`() {
        let line = String(repeating: "a", count: 300) + "HERE" + String(repeating: "b", count: 300)
        let diagnostic = error(line, 300, 304)
        let shown = "..." + String(repeating: "a", count: 31) + "HERE" + String(repeating: "b", count: 59) + "..."
        #expect(diagnostic.lineText == shown)
        #expect(diagnostic.lineText.count == 100)
        #expect(diagnostic.column == 301)
        #expect(diagnostic.rendered.hasSuffix("\n    " + String(repeating: " ", count: 34) + "^~~~"))
    }

    @Test func `if the place is near one end of a long line, only the other end is cut`() {
        let line = "HERE" + String(repeating: "b", count: 300)
        #expect(error(line, 0, 4).lineText == "HERE" + String(repeating: "b", count: 90) + "...")
        let other = String(repeating: "b", count: 300) + "HERE"
        let last = error(other, 300, 304)
        #expect(last.lineText == "..." + String(repeating: "b", count: 90) + "HERE")
        #expect(last.rendered.hasSuffix("\n    " + String(repeating: " ", count: 93) + "^~~~"))
    }

    @Test func `a very long line of wide characters is cut at whole characters`() {
        let text = SourceText(name: "f", String(repeating: "中", count: 5000))
        let diagnostic = text.error(at: SourceRange(6000, 6003), "m")
        #expect(diagnostic.column == 2001)
        #expect(diagnostic.lineText.unicodeScalars.count == 100)
        #expect(!diagnostic.lineText.contains("\u{FFFD}"))
    }

    @Test func `an underline ends at the end of a line that is cut`() {
        let diagnostic = error(String(repeating: "a", count: 300), 0, 300)
        #expect(diagnostic.length == 94)
        #expect(diagnostic.rendered.hasSuffix("\n    ^" + String(repeating: "~", count: 93)))
    }

    @Test func `line ends in comments and strings are counted`() {
        let text = SourceText(name: "login.conf", "/*\n\n*/\nA {\n M required a=\"x\\\ny\"\n b; };")
        let diagnostics = LoginConf.parse(text, expansion: .none).diagnostics
        #expect(diagnostics.map { [$0.line, $0.column] } == [[7, 2]])
    }

    @Test func `configuration errors show warnings too, and cannot be created without an error`() {
        let text = SourceText(name: "f", "ab")
        let warning = text.warning(at: SourceRange(0, 1), "w")
        let error = text.error(at: SourceRange(1, 2), "e")
        #expect(ConfigurationErrors([]) == nil)
        #expect(ConfigurationErrors([warning]) == nil)
        let errors = ConfigurationErrors([warning, error])
        #expect(errors?.description == "f:1:1: warning: w\n    ab\n    ^\nf:1:2: error: e\n    ab\n     ^")
        #expect(ConfigurationErrors("e", at: SourceRange(1, 2), in: text).diagnostics == [error])
    }
}
