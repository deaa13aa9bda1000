// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import LoginConf
import RealmConfiguration
import Testing

struct SecretsTests {
    private static let login = "login vault { VaultLoginModule required; }\n"

    /// Returns the errors of a configuration as they are shown.
    private static func shown(_ text: String) -> String {
        do throws(ConfigurationErrors) {
            return try MemoryFolder(text).load().warnings.map(\.rendered).joined(separator: "\n")
        } catch {
            return error.diagnostics.map(\.rendered).joined(separator: "\n")
        }
    }

    @Test(arguments: [
        (login + "realm a {\n class VaultRealm; key hunter2;\n}", "realm a: key: is too short"),
        (login + "realm a {\n class VaultRealm; key hunter2 hunter2;\n}", "key takes one value"),
        (
            "login vault { VaultLoginModule required token=hunter2; }\nrealm a { class VaultRealm; key k; }",
            "VaultLoginModule for realm a: token: is too short"
        ),
        (login + "realm a { class VaultRealm; key k; note x;\n db-password hunter2; }", "db-password"),
        (login + "realm a { class VaultRealm; key k; note x;\n db-password \"hunter2;\n }", "quote"),
        (
            login + "realm a { class VaultRealm; key k; tries \"postgresql://ann:hunter2@db/app\"; }",
            "tries is a whole number"
        ),
    ])
    func `no message shows a line with a secret`(text: String, message: String) {
        let shown = Self.shown(text)
        #expect(shown.contains(message), "\(shown)")
        // The value of a property that holds no secret is a part of its message.
        let lines = shown.split(separator: "\n").filter { !$0.contains("error:") }
        #expect(!lines.contains { $0.contains("hunter2") }, "\(shown)")
    }

    @Test func `other lines are shown`() {
        #expect(Self.shown(Self.login + "realm a { class VaultRealm; key k; note bad; }").contains("note bad;"))
        #expect(Self.shown("realm a {\n db-password ${env:SECRET};\n}").contains("db-password ${env:SECRET};"))
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
}
