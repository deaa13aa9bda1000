// SPDX-License-Identifier: Apache-2.0

import Foundation
import Passwords
import RealmKit
import Testing

@testable import RealmFile

/// Tests of the state of users, which determines whether their sessions end.
struct UserStateTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func state(_ name: String, _ text: String) async throws -> UserState {
        try folder.write(text)
        return try await FileRealm.make(folder).state(of: Username(name))
    }

    @Test func `a stamp changes only with the user's hash or groups`() async throws {
        let line = "ann;\(KnownHashes.ssha);a,b\n"
        let first = try await state("ann", line)
        #expect(first.stamp?.bytes.count == 32)
        #expect(try await state("ann", "bob;\(KnownHashes.lilac);c\n" + line) == first)
        let others = [
            "ann;\(KnownHashes.lilac);a,b\n", "ann;\(KnownHashes.ssha);a\n", "ann;\(KnownHashes.ssha);b,a\n",
            "ann;\(KnownHashes.ssha);\n",
        ]
        var seen: Set<UserState> = [first]
        for other in others { #expect(seen.insert(try await state("ann", other)).inserted) }
    }

    @Test(arguments: [
        "bob;\(KnownHashes.ssha);a\n", "ann;!\(KnownHashes.ssha);a\n", "ann;RESET;a\n",
        "ann;\(KnownHashes.ssha);a\nann;\(KnownHashes.ssha);a\n",
    ])
    func `an unknown, disabled or repeated user has the state gone`(text: String) async throws {
        #expect(try await state("ann", text) == .gone)
    }

    @Test func `the state of every user is unknown while the file is missing`() async throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n")
        let realm = try FileRealm.make(folder)
        try FileManager.default.removeItem(atPath: folder.file("users"))
        #expect(await realm.state(of: try Username("ann")) == .unknown)
    }
}
