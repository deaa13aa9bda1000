// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import Passwords
import RealmKit
import Testing

@testable import RealmFile

/// The state of users, by which their sessions continue or end.
struct StateTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func state(_ name: String, _ text: String) async throws -> UserState {
        try folder.write(text)
        return try await FileRealm.make(folder).state(of: Username(name))
    }

    @Test func `a stamp changes only with the user's hash or groups`() async throws {
        let line = "ann;\(Known.ssha);a,b\n"
        let first = try await state("ann", line)
        #expect(first.stamp?.bytes.count == 32)
        #expect(try await state("ann", "bob;\(Known.lilac);c\n" + line) == first)
        let others = [
            "ann;\(Known.lilac);a,b\n", "ann;\(Known.ssha);a\n", "ann;\(Known.ssha);b,a\n", "ann;\(Known.ssha);\n",
        ]
        var seen: Set<UserState> = [first]
        for other in others { #expect(seen.insert(try await state("ann", other)).inserted) }
    }

    @Test(arguments: [
        "bob;\(Known.ssha);a\n", "ann;!\(Known.ssha);a\n", "ann;RESET;a\n",
        "ann;\(Known.ssha);a\nann;\(Known.ssha);a\n",
    ])
    func `an unknown, disabled or repeated user has the state gone`(text: String) async throws {
        #expect(try await state("ann", text) == .gone)
    }

    @Test func `while the file is missing the state of every user is unknown`() async throws {
        try folder.write("ann;\(Known.ssha);a\n")
        let realm = try FileRealm.make(folder)
        try FileManager.default.removeItem(atPath: folder.file("users"))
        #expect(await realm.state(of: try Username("ann")) == .unknown)
    }
}
