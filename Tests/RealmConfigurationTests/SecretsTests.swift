// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import LoginConf
import RealmKit
import RealmTesting
import Testing

@testable import RealmConfiguration

struct SecretsTests {
    private static let login = "login vault { VaultLoginModule required; }\n"

    /// Returns a configuration with a module that has an option.
    private static func option(_ option: String) -> String {
        "login vault { VaultLoginModule required \(option); }\nrealm a { class VaultRealm;\n key k;\n}"
    }

    /// Returns a configuration with a realm that has statements.
    private static func realm(_ statements: String) -> String {
        "\(login)realm a {\n class VaultRealm;\n \(statements)\n}"
    }

    /// Returns the errors of a configuration as they are shown.
    private static func shown(_ text: String) -> String {
        do throws(ConfigurationErrors) {
            return try MemoryFolder(text).load().warnings.map(\.rendered).joined(separator: "\n")
        } catch {
            return error.diagnostics.map(\.rendered).joined(separator: "\n")
        }
    }

    /// Configurations with a secret, and a part of the message about each.
    private static let secrets: [(String, String)] = [
        ("\(login)realm a {\n class VaultRealm; key hunter2;\n}", "realm a: key: is too short"),
        ("\(login)realm a {\n class VaultRealm; key hunter2 hunter2;\n}", "key takes one value"),
        (
            "login vault { VaultLoginModule required token=hunter2; }\nrealm a { class VaultRealm; key k; }",
            "VaultLoginModule for realm a: token: is too short"
        ),
        ("\(login)realm a { class VaultRealm; key k; note x;\n db-password hunter2; }", "db-password"),
        ("\(login)realm a { class VaultRealm; key k; note x;\n db-password \"hunter2;\n }", "quote"),
        (option("token=hunter2!x"), "`!` is not allowed in an unquoted option value"),
        (option("token=hunter2@x"), "`@` is not allowed in an unquoted option value"),
        (option("token='hunter2'"), "single quotes around the option value"),
        (option("token=1hunter2"), "an unquoted option value cannot begin with `1`"),
        (option("token==hunter2"), "an unquoted option value cannot begin with `=`"),
        (option("token=\n hunter2 bogus=x"), "has no such option"),
        (option("token=hun;ter2"), "the control flag of the module is missing"),
        (realm("key=hunter2;"), "no = between a keyword and its value"),
        (realm("key: hunter2; bogus 1;"), "unknown statement in a VaultRealm"),
        (realm("key hunter2${x};"), "`${...}` outside of quotes"),
        (realm("key \"hun${ter2}\";"), "the property is not defined"),
        (realm("key hun;ter2;"), "unknown statement in a VaultRealm"),
        (realm("key {hunter2};"), "missing `;` after the statement"),
        (realm("key hun;ter2 {\nnote {"), "the block is not closed"),
        (realm("key\n \"hunter2;"), "this quoted text is not closed"),
        (realm("key\n hun\"ter2;"), "a quoted text touches another word"),
        (realm("key \"\(String(repeating: "x", count: 1300))hunter2\"; bogus 1;"), "unknown statement in a VaultRealm"),
        (realm("key k; bind-pwd hunter2;"), "unknown statement in a VaultRealm"),
        (realm("kay hunter2;"), "unknown statement kay"),
        (realm("note x; friends https://hunter2@host; bogus 1;"), "unknown statement in a VaultRealm"),
        (realm("key=\n hunter2;"), "no = between a keyword and its value"),
        (realm("key =\n hunter2;"), "no = between a keyword and its value"),
        (realm("key k; friends mail, displayName\n bind-password hunter2;"), "words are separated by blanks"),
        (realm("key k; friends a key hunter2; group-mapping x key hunter2;"), "takes rules such as a,b->c, not x"),
        (realm("key k; vaultpin hunter2;"), "unknown statement in a VaultRealm"),
        (realm("key k; vaultpin hunter2; tries 12;"), "tries is a whole number from 1 to 9"),
        (realm("key k; kex hunter2; tries 12;"), "tries is a whole number from 1 to 9"),
        (realm("key k;\n vaultcode hunter2 { a; }"), "unknown statement in a VaultRealm"),
        (realm("key k; ky-pasword hunter2; tiemout 3s;"), "unknown statement in a VaultRealm"),
        (realm("key {hunter2;}"), "key takes no block"),
        (realm("key k; key hunter2;"), "a second key"),
        (realm("key -----BEGIN\n hunter2+/abc=\n -----END;"), "key takes one value"),
        (option("vaultpin=hunter2"), "has no such option"),
        (token("hunter2"), "the token must have"),
        (token(long, long), "the two tokens are equal"),
        (token("\(long)1", "\(long)2", long), "token takes one token, or two"),
        ("server { tls { certificate c.pem;\n key -----BEGIN\n hunter2+/abc=;\n } }", "key takes one"),
    ]

    private static let long = "hunter2-0123456789abcdefghijklmnopq"

    /// Returns a configuration whose realm API has tokens, each on a line of its own.
    private static func token(_ tokens: String...) -> String {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: "\n ")
        return
            "\(login)realm a { class VaultRealm; key k; }\nserver { realm-api { client m { realm a;\n token\n \(list);\n } } }"
    }

    @Test(arguments: secrets)
    func `no message shows a line with a secret`(text: String, message: String) {
        let shown = Self.shown(text)
        #expect(shown.contains(message), "\(shown)")
        #expect(!shown.contains("hunter") && !shown.contains("ter2"), "\(shown)")
    }

    @Test func `the value of a property that holds no secret is a part of its message`() {
        #expect(Self.shown(Self.realm("tries hunter2;")).contains("from 1 to 9, not hunter2"))
        #expect(Self.shown(Self.realm("key k; tries 12;")).contains("from 1 to 9, not 12"))
    }

    @Test(arguments: [
        (realm("tries \"${file:pw}\";"), "tries is a whole number from 1 to 9, not ${file:pw}"),
        (realm("tries \"${env:PW}\";"), "tries is a whole number from 1 to 9, not ${env:PW}"),
        (realm("colour \"ldaps://ann:${file:pw}@x\";"), "colour is one of red, green, not ldaps://ann:${file:pw}@x"),
        (
            realm("friends a\n \"${file:pw}\"; group-mapping \"${file:pw}\";"),
            "takes rules such as a,b->c, not ${file:pw}"
        ),
        (option("depth=\"${file:pw}\""), "depth is a whole number from 0 to 5, not ${file:pw}"),
        (realm("key \"${file:pw}\"; assign-groups \"${env:PW},x\" a, b;"), "a, contains a comma"),
    ])
    func `no message shows the content of a file or a variable`(text: String, message: String) {
        var folder = MemoryFolder(text, ["etc/pw": "hunter2\n"])
        folder.environment["PW"] = "hunter2"
        let shown = folder.diagnostics().joined(separator: "\n")
        #expect(shown.contains(message), "\(shown)")
        #expect(!shown.contains("hunter2"), "\(shown)")
    }

    @Test func `errors about a path show the references in it, and not the content of files`() throws {
        let tls = "server { tls { certificate c.pem; key \"keys/${file:name}\"; } }"
        let server = try MemoryFolder(tls, ["etc/name": "hunter2"]).load().server
        let key = try #require(server.tls.files?.key)
        #expect(key.value == "etc/keys/hunter2")
        let shown = key.errors("\(key.value) cannot be read").diagnostics.map(\.rendered).joined()
        #expect(shown.contains("error: etc/keys/${file:name} cannot be read"), "\(shown)")
        let content = "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n"
        let folder = MemoryFolder(
            "server { tls { certificate c.pem; key \"${file:k.pem}\"; } }",
            ["etc/k.pem": content]
        )
        let message = "etc/realms.conf:1:39: error: a path has no line break"
        let hint = "write the path of a file; ${file:PATH} is replaced by the content of the file"
        #expect(folder.diagnostics() == ["\(message) | \(hint)"])
    }

    /// `make lint` compares the index with the statements that the program reads.
    @Test func `messages may quote the statements of the reference`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/configuration-reference.md"),
            encoding: .utf8
        )
        let index = try #require(page.split(separator: "## Index").last?.split(separator: "\n## ").first)
        let rows = index.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        let statements = rows.flatMap { $0.split(separator: "|").last?.matches(of: /`([a-z0-9-]+)`/) ?? [] }
        #expect(statements.count > 100)
        let names = ConfigurationLoader(builtInRealms, files: .system, clock: ManualClock()).names
        for name in statements.map({ String($0.output.1) }) {
            #expect(names.isHarmless(name) == (name != "token"), "\(name)")
            #expect(names.mayQuote(name), "\(name)")
        }
        for name in ["db-password", "search-bind-password", "database"] { #expect(names.isSecret(name), "\(name)") }
    }

    @Test func `other lines are shown`() {
        #expect(Self.shown(Self.login + "realm a { class VaultRealm;\n key k;\n note bad; }").contains("note bad;"))
        #expect(Self.shown("realm a {\n note ${env:SECRET};\n}").contains("\n     note ${env:SECRET};\n"))
    }

    @Test func `files with secrets that all users can read give a warning`() {
        let text = """
            login vault { VaultLoginModule required token="${file:token}"; }
            realm a { class VaultRealm; key "${file:key}"; }
            realm b { class VaultRealm; key "${file:private}"; }
            realm c { class VaultRealm; key "${env:KEY}"; }
            """
        var folder = MemoryFolder(text, ["etc/token": "t", "etc/key": "k", "etc/private": "p"])
        folder.environment["KEY"] = "k"
        #expect(folder.diagnostics() == [])
        folder.readableByOthers = ["etc/realms.conf", "etc/token", "etc/key"]
        func warning(_ place: String, _ path: String) -> String {
            "etc/realms.conf:\(place): warning: all users of this machine can read \(path), which must be secret"
                + " | chmod o-r \(path)"
        }
        #expect(Set(folder.diagnostics()) == [warning("2:33", "etc/key"), warning("1:47", "etc/token")])
    }

    @Test func `a configuration with a secret that all users can read gives one warning`() {
        var folder = MemoryFolder(
            "login-config a.conf;\nrealm a { class VaultRealm; key k; }\nrealm b { class VaultRealm; key k; }",
            ["etc/a.conf": "vault { VaultLoginModule required token=\"t\"; };"]
        )
        folder.readableByOthers = ["etc/realms.conf", "etc/a.conf"]
        let warning =
            "1:1: warning: all users of this machine can read this file, which contains a secret"
            + " | chmod o-r, or keep the secret in a file of its own and write ${file:PATH}"
        #expect(Set(folder.diagnostics()) == ["etc/realms.conf:\(warning)", "etc/a.conf:\(warning)"])
        folder.readableByOthers = []
        #expect(folder.diagnostics() == [])
    }

    @Test(arguments: [
        ("k", true), ("\"s3${env:HOME}\"", true), ("\"${{pw}}\"", true), ("\"${pw}\"", false),
        ("\"${env:HOME}${pw}\"", false),
    ])
    func `only a secret without references, or with other text, is written in the configuration`(
        value: String,
        isWritten: Bool
    ) {
        var folder = MemoryFolder(
            "login-config a.conf;\nrealm a { class VaultRealm; key \(value); }",
            ["etc/a.conf": "vault { VaultLoginModule required token=\"${pw}\"; };"]
        )
        folder.environment["HOME"] = "/root"
        folder.properties["pw"] = "abc"
        folder.readableByOthers = ["etc/realms.conf", "etc/a.conf"]
        let warning = "all users of this machine can read this file, which contains a secret"
        #expect(folder.diagnostics().contains { $0.contains("etc/realms.conf:1:1: warning: \(warning)") } == isWritten)
        #expect(!folder.diagnostics().contains { $0.contains("etc/a.conf") })
    }
}
