// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The check of all files that a configuration names.
@Suite(.enabled(if: Program.system("openssl") != nil, "openssl is not installed"))
struct FileTrustReportTests {
    private final class Folder: Sendable {
        let path = "/tmp/gatehouse-\(UUID().uuidString)"

        init(_ files: [String: String]) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try chmod(".", 0o755)
            for (name, text) in files {
                try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
                try chmod(name, 0o600)
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func chmod(_ name: String, _ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(path)/\(name)")
        }

        func chown(_ user: Int) throws {
            let names = try FileManager.default.subpathsOfDirectory(atPath: path)
            for name in names {
                try FileManager.default.setAttributes([.ownerAccountID: user], ofItemAtPath: "\(path)/\(name)")
            }
        }

        /// The diagnostics of `gatehouse check` in the form `line:column: severity: message`.
        func diagnostics() async throws -> [String] {
            let checked = try await Program.run(
                Program.built("gatehouse"),
                ["check", "--config", "\(path)/realms.conf"],
                in: URL(fileURLWithPath: path)
            )
            let lines = checked.errors.replacing(path + "/", with: "").split(separator: "\n")
            return lines.filter { $0.hasPrefix("realms.conf:") }.map { String($0.dropFirst(12)) }
        }
    }

    private static let realms = """
        login-config login.conf;
        default-realm "${file:name}";
        realm f { class FileRealm; file users; group-file groups; attribute-file attributes; }
        realm c { class CertificateRealm; name-from mapping; mapping-file map; }
        realm r { class RemoteRealm; url https://localhost:9/; credentials json; ca-file ca.pem; token "${file:token}"; }
        server {
            tls {
                certificate cert.pem; key key.pem; ticket-key ticket;
                client-certificates optional; client-ca client.pem; client-crl crl.pem;
                host a.example { certificate host.pem; key host.key; ocsp-response ocsp; }
            }
            identity-token { key token.pem; }
            trusted-proxies 127.0.0.1;
            sign-in { prefix /gatehouse; translation it it.conf; brand { logo logo.svg; } }
        }
        protect app.example.org/ { realm r; auth basic; require any; }
        """
    /// Each file, the words that name it, and the severity if every user may write to it.
    private static let files = [
        ("login.conf", "login.conf;", "warning"), ("name", "\"${file:name}", "warning"), ("users", "users;", "error"),
        ("groups", "users;", "error"), ("attributes", "users;", "error"), ("map", "map;", "error"),
        ("ca.pem", "ca.pem;", "warning"), ("token", "\"${file:token}", "warning"),
        ("cert.pem", "cert.pem;", "warning"),
        ("key.pem", "key.pem;", "warning"), ("ticket", "ticket;", "error"), ("client.pem", "client.pem;", "warning"),
        ("crl.pem", "crl.pem;", "warning"), ("host.pem", "host.pem;", "warning"), ("host.key", "host.key;", "warning"),
        ("ocsp", "ocsp;", "warning"), ("token.pem", "token.pem;", "error"), ("it.conf", "it.conf;", "warning"),
        ("logo.svg", "logo.svg;", "warning"),
    ]

    /// The place of words in the configuration, as line and column.
    private static func place(_ words: String) throws -> String {
        let before = realms[..<(try #require(realms.firstRange(of: words))).lowerBound]
        let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
        return "\(lines.count):\((lines.last?.count ?? 0) + 1)"
    }

    private static func folder() async throws -> Folder {
        var texts = Dictionary(uniqueKeysWithValues: files.map { ($0.0, "") })
        texts["realms.conf"] = realms
        texts["login.conf"] = """
            fileRealm { FileLoginModule required; };
            remoteRealm { RemoteLoginModule required; };

            """
        texts["name"] = "f"
        texts["token"] = "t"
        texts["map"] = "subject \"CN=ann\" issuer \"CN=ca\"  user ann\n"
        texts["logo.svg"] = "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>"
        let folder = try Folder(texts)
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "99", "-subj", "/CN=a"]
        for (certificate, name) in [("ca.pem", "token.pem"), ("cert.pem", "key.pem"), ("host.pem", "host.key")] {
            let made = try await Program.run(
                try #require(Program.system("openssl")),
                ["req", "-x509"] + key + ["-keyout", name, "-out", certificate],
                in: URL(fileURLWithPath: folder.path)
            )
            #expect(made.status == 0, "\(made)")
        }
        return folder
    }

    @Test func `each file that decides is named with its place if every user may write to it`() async throws {
        let folder = try await Self.folder()
        let before = try await folder.diagnostics()
        #expect(!before.contains { $0.contains(" user") || $0.contains("secret") }, "\(before)")
        for (name, words, severity) in Self.files {
            try folder.chmod(name, 0o602)
            let expected = "\(try Self.place(words)): \(severity): "
            let found = try await folder.diagnostics().filter { $0.contains(" user") }
            #expect(found.contains { $0.hasPrefix(expected) && $0.contains(name) }, "\(name): \(found)")
            try folder.chmod(name, 0o600)
        }
        try folder.chmod("realms.conf", 0o606)
        #expect(
            try await folder.diagnostics().contains(
                "1:1: warning: realms.conf: every user of this machine may write to it"
            )
        )
    }

    @Test func `a folder in which every user may replace the files is named once for each kind of danger`() async throws
    {
        let folder = try await Self.folder()
        try folder.chmod(".", 0o777)
        let found = try await folder.diagnostics().filter { $0.contains("may replace") }
        let text = "every user of this machine may replace it"
        for (words, realm) in [("users;", "f"), ("map;", "c")] {
            let place = "\(try Self.place(words)): error: realm \(realm): "
            #expect(found.contains { $0.hasPrefix(place) && $0.contains(text) }, "\(found)")
        }
        #expect(found.contains("1:1: warning: realms.conf: \(text)"), "\(found)")
    }

    @Test func `warnings about modes of a file of users have its place`() async throws {
        let folder = try await Self.folder()
        try folder.chmod("users", 0o664)
        try folder.chmod("groups", 0o664)
        let found = try await folder.diagnostics().filter { $0.contains("may ") }
        #expect(
            found == [
                "\(try Self.place("users;")): warning: users: its group may write to it",
                "\(try Self.place("users;")): warning: users: every user of this machine may read the password hashes",
                "\(try Self.place("groups;")): warning: groups: its group may write to it",
            ]
        )
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `each file of another user is named with its place`() async throws {
        let folder = try await Self.folder()
        try folder.chown(48_213)
        let found = try await folder.diagnostics().filter { $0.contains("belongs to another user") }
        #expect(found.contains { $0.hasPrefix("1:1: warning: realms.conf: belongs") }, "\(found)")
        for (name, words, _) in Self.files {
            // The realm reports errors about these two at the file of users.
            let own = ["groups", "attributes"].contains(name) ? "\(name);" : words
            let expected = "\(try Self.place(own)): warning: \(name): belongs"
            #expect(found.contains { $0.hasPrefix(expected) }, "\(name): \(found)")
        }
    }
}
