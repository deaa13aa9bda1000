// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmSQL
import Synchronization
import Testing

struct BackEndTestTests {
    private func steps(_ fixture: SQLFixture, user: String?) async throws -> [BackEndStep] {
        let steps = Mutex<[BackEndStep]>([])
        await fixture.realm.testBackEnd(user: try user.map { try Username($0) }) { step in
            steps.withLock { $0.append(step) }
        }
        return steps.withLock { $0 }
    }

    @Test func `the queries of a login are run for a user, without a password`() async throws {
        let file = try SQLiteFile.glassFish()
        let fixture = try SQLFixture(file.glassFishProperties)
        let hash = try await fixture.hash("correct horse")
        try file.execute("INSERT INTO users VALUES ('ann', ?), ('bob', NULL), ('eve', 'no hash')", [hash])
        try file.execute("INSERT INTO memberships VALUES ('ann', 'staff')")
        let found = try await steps(fixture, user: "ann")
        #expect(found.filter(\.isFailure) == [])
        #expect(found.contains { $0.text.contains("password-query: ") && $0.text.contains("rows: 1") }, "\(found)")
        #expect(found.last?.text.hasSuffix("user ann, groups: staff; a login computes argon2id m=64,t=1,p=1") == true)
        for (name, text) in [
            ("zoe", "there is no user zoe"), ("bob", "user bob has no password"), ("eve", "eve cannot be read"),
        ] {
            let failures = try await steps(fixture, user: name).filter(\.isFailure)
            #expect(failures.count == 1 && failures.first?.text.contains(text) == true, "\(failures)")
        }
        #expect(try await steps(fixture, user: nil).filter { $0.text.hasSuffix("can be run") }.count == 2)
        try file.execute("DROP TABLE memberships")
        let broken = try await steps(fixture, user: nil).filter(\.isFailure)
        #expect(broken.first?.text.contains("memberships") == true, "\(broken)")
    }
}
