// SPDX-License-Identifier: Apache-2.0

import RealmConfiguration
import RealmKit
import RealmTesting
import Testing

@Suite struct ClosureRealmTests {
    @Test func `a realm of a closure and its module keep their contracts`() async throws {
        let team = RealmDefinition("team") { name, password in
            name == "ann" && password.isEqual(to: Secret(utf8: "violet lamp")) ? ["Staff"] : nil
        }
        let kind = try #require([team].kinds.first)
        let violations = await kind.violations(
            accepts: [.init("ann", password: "violet lamp")],
            refuses: [.init("ann", password: "wrong"), .init("bob", password: "violet lamp")]
        )
        #expect(violations == [])
    }
}
