// SPDX-License-Identifier: Apache-2.0

import DirectoryTesting
import Testing

@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct ReplicatedDirectoryTests {
    @Test func `Replicas receive the changes of their provider`() async throws {
        let directory = try await ReplicatedDirectory.start(replicas: 2)
        try await directory.provider.modify(
            ldif: """
                dn: \(SlapdServer.ann.name)
                changetype: modify
                replace: title
                title: Mayor

                dn: \(SlapdServer.group("level1"))
                changetype: modify
                add: member
                member: \(SlapdServer.ben.name)
                """
        )
        try await directory.untilInSync()
        for server in directory.replicas + [directory.provider] {
            #expect(try await SlapdTests.search(server, "(uid=ann)", ["title"]).output.contains("title: Mayor"))
            #expect(try await SlapdTests.search(server, "(uid=ben)", ["memberOf"]).output.contains("cn=level1"))
        }
    }

    @Test func `A replica answers while its provider is down, and receives later changes`() async throws {
        let directory = try await ReplicatedDirectory.start(replicas: 1)
        await directory.provider.kill()
        #expect(try await SlapdTests.whoAmI(SlapdServer.ann, ["-H", directory.replicas[0].url]).status == 0)
        try await directory.provider.start()
        try await directory.provider.add(
            ldif: Entry("cn=late,\(SlapdServer.base)", [("objectClass", "organizationalRole"), ("cn", "late")]).ldif
        )
        try await directory.untilInSync()
        let found = try await SlapdTests.search(directory.replicas[0], "(cn=late)", ["cn"])
        #expect(found.output.contains("cn: late"))
    }

    @Test func `A replica refers a change of a password to its provider`() async throws {
        let directory = try await ReplicatedDirectory.start(replicas: 1)
        let ann = SlapdServer.ann
        let finished = try await DirectoryTool.run(
            "ldappasswd",
            ["-x", "-H", directory.replicas[0].url, "-D", ann.name, "-w", ann.password, "-s", "another password"]
        )
        #expect(finished.status == 1)
        #expect(
            (finished.output + finished.errors).contains("Referral: \(directory.provider.url)"),
            "\(finished)"
        )
    }
}
