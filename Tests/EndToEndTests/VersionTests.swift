// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `--version` of the built programs, and the places that name the version.
@Suite struct VersionTests {
    private static let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardized

    /// The version of Sources/Base/GatehouseVersion/BuildVersion.swift, as scripts read it.
    private static func version() async throws -> String {
        let script = source.appendingPathComponent("Scripts/version.sh")
        return try await Program.run(script, []).output.trimmingCharacters(in: .newlines)
    }

    @Test(arguments: [("gatehouse", true), ("authcheck", true), ("gatehouse-pam-helper", false)])
    func `each program has its version, its commit, and that of the OpenSSL it has loaded`(
        program: String,
        usesOpenSSL: Bool
    ) async throws {
        let version = try await Self.version()
        #expect(version.contains(/^\d+\.\d+\.\d+$/))
        let printed = try await Program.run(Program.built(program), ["--version"])
        #expect(printed.status == 0)
        #expect(printed.errors == "")
        let lines = printed.output.split(separator: "\n")
        #expect(lines.count == (usesOpenSSL ? 2 : 1))
        let first = try #require(lines.first)
        #expect(first.hasPrefix("\(program) \(version) (commit "))
        #expect(first.contains(/\(commit ([0-9a-f]{7,40}|unknown)\)$/))
        if usesOpenSSL { #expect(lines[1].contains(/^OpenSSL 3\.\d+\.\d+/)) }
    }

    @Test func `the version is the newest of the changelog`() async throws {
        let text = try String(contentsOf: Self.source.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
        let newest = try #require(text.firstMatch(of: /(?m)^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$/))
        #expect(String(newest.1) == (try await Self.version()))
    }

    @Test func `the word --version as a user does not grant access`() async throws {
        // A script may take status 0 for an accepted user.
        let checked = try await Program.run(Program.built("authcheck"), ["people", "--version"])
        #expect(checked.status == 2)
    }
}
