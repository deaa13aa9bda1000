// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The pages in docs/realms, and the first configuration of each.
struct DocumentedRealmsTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let pages = [
        "aggregate", "certificate", "exec", "file", "pam", "remote", "stack", "start-with", "store",
    ]

    /// Their configurations need a directory or a database: docs-check runs these pages.
    private static let pagesWithServers = ["ldap", "sql"]

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent("docs/\(path)"), encoding: .utf8)
    }

    @Test func `the table of all realms links every page, and every page is tested here`() throws {
        let table = try Self.text("realms.md")
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.root.path + "/docs/realms")
        let pages = Self.pages + Self.pagesWithServers
        #expect(files.sorted() == pages.map { "\($0).md" }.sorted())
        for page in pages { #expect(table.contains("](realms/\(page).md)"), "\(page)") }
    }

    @Test(.enabled(if: Program.system("openssl") != nil, "openssl is not installed"), arguments: pages)
    func `the first configuration of each page is valid`(page: String) async throws {
        let block = Self.blocks(of: try Self.text("realms/\(page).md")).first { block in
            block.contains { $0.hasPrefix("realm ") }
        }
        let folder = try TemporaryFolder()
        // The pages use the folder of an installation.
        let lines = try #require(block, "\(page) has no configuration")
            .filter { getuid() == 0 || !$0.contains(" nobody;") }
            .map { $0.replacing("/etc/gatehouse", with: folder.url.path) }
            // The service file is in the folder and not in /etc/pam.d.
            .map { $0.replacing("class    PAMRealm;", with: "class PAMRealm; confdir \(folder.url.path);") }
        try folder.write(lines.joined(separator: "\n") + "\n", to: "realms.conf")
        let token = String(repeating: "0123456789abcdef", count: 4)
        for (name, text) in [("users", ""), ("accounts", ""), ("staff", ""), ("people.token", token)] {
            let file = try folder.write(text, to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        try folder.write("auth required pam_deny.so\naccount required pam_deny.so\n", to: "gatehouse")
        let program = folder.url.appendingPathComponent("users-file.sh")
        try FileManager.default.copyItem(
            at: Self.root.appendingPathComponent("Examples/Helpers/users-file.sh"),
            to: program
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        let made = try await Program.run(
            try #require(Program.system("openssl")),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=Town CA", "-keyout", "ca.key", "-out", "clients-ca.pem",
            ],
            in: folder.url
        )
        #expect(made.status == 0)
        let authority = folder.url.appendingPathComponent("clients-ca.pem")
        try FileManager.default.copyItem(at: authority, to: folder.url.appendingPathComponent("ca.pem"))
        let finished = try await Program.run(
            Program.built("gatehouse"),
            ["check", "--config", folder.url.path + "/realms.conf"],
            in: folder.url
        )
        #expect(finished.status == 0, "\(page):\n\(finished.output)\(finished.errors)")
    }

    /// Returns the code blocks of a page, fenced and indented ones, without their indentation.
    private static func blocks(of text: String) -> [[String]] {
        var blocks: [[String]] = [[]]
        var isFenced = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isFenced.toggle()
                blocks.append([])
            } else if isFenced {
                blocks[blocks.count - 1].append(String(line))
            } else if line.hasPrefix("    ") || line.isEmpty {
                blocks[blocks.count - 1].append(String(line.dropFirst(4)))
            } else {
                blocks.append([])
            }
        }
        return blocks
    }
}
