// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The commands with the example configuration of docs/realms/aggregate.md.
@Suite struct AggregateRealmCommandTests {
    /// The SHA-256 of `secret` in 100 rounds, as GlassFish computes it.
    private static let hash = "{SSHA256}x6t5hlGtPj4OPvXhOxWodhYyyTyg6LoBbrurY375hSUBAgMEBQYHCA=="

    private let people: People

    init() throws {
        people = try People(try #require(DocumentationPage("realms/aggregate.md").blocks("realms.conf").first))
        for (name, text) in [("accounts", "Ann@example.org;\(Self.hash);\n"), ("staff", "ann;RESET;Crew\n")] {
            try people.folder.write(text, to: name)
            let path = people.folder.url.appendingPathComponent(name).path
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
    }

    @Test func `the example of the documentation signs a user in, with the groups of the other realm`() async throws {
        let arguments = ["--password-stdin", "--trace", "people", "Ann@example.org"]
        let program = Program.built("authcheck")
        let accepted = try await Program.run(program, arguments, input: "secret\n", in: people.folder.url)
        #expect(accepted.status == 0, "\(accepted)")
        #expect(accepted.output.contains("  group  Crew\n"), "\(accepted)")
        #expect(accepted.output.contains("accounts: 0 FileLoginModule required login success"), "\(accepted)")
        #expect(accepted.output.contains("name in the authorization realms: ann"), "\(accepted)")
        let refused = try await Program.run(program, arguments, input: "wrong\n", in: people.folder.url)
        #expect(refused.status == 1, "\(refused)")
        #expect(refused.output.contains("wrong credentials (AggregateLoginModule)"), "\(refused)")
        let direct = ["--password-stdin", "staff", "ann"]
        #expect(try await Program.run(program, direct, input: "RESET\n", in: people.folder.url).status == 1)
    }

    @Test func `check and explain know the aggregate`() async throws {
        let checked = try await people.gatehouse("check")
        #expect(checked.status == 0, "\(checked)")
        #expect(checked.output.contains("people (default)  AggregateRealm, aggregate"), "\(checked)")
        #expect(checked.output.contains("    uses accounts, staff\n"), "\(checked)")
        let explained = try await people.gatehouse("explain", "GET", "/staff", "--user", "Ann@example.org")
        #expect(explained.output.hasPrefix("200: Ann@example.org of realm people is allowed"), "\(explained)")
    }
}
