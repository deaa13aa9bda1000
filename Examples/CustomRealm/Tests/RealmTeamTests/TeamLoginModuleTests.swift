// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTeam
import RealmTesting
import Testing

struct TeamLoginModuleTests {
    @Test func `a member with the passphrase is in the group`() async throws {
        let report = await Team.stack([try Team.make().module]).login(
            try Team.request("ann"),
            asking: RecordingConversation(password: "open sesame")
        )
        let identity = try #require(report.identity)
        #expect(identity.subject.principals == [.user("ann"), .group("Crew")])
    }

    static let strangers: [(name: String, password: String?, failure: LoginFailure)] = [
        ("ann", "open sesami", .wrongCredentials),
        ("ann", "", .wrongCredentials),
        ("bob", "open sesame", .unknownUser),
        ("ann", nil, .missingCredential),
    ]

    @Test(arguments: strangers)
    func `every rejection reports its reason`(
        name: String,
        password: String?,
        failure: LoginFailure
    ) async throws {
        let report = await Team.stack([try Team.make().module]).login(
            try Team.request(name),
            asking: RecordingConversation(password: password)
        )
        #expect(report.refusal?.failure == failure)
    }

    @Test(arguments: ["tryFirstPass", "useFirstPass", "storePass", "clearPass"])
    func `the module shares no password, and takes no option to share one`(option: String) throws {
        let error = try #require(throws: BadRealm.self) { try Team.make(options: [option: "true"]) }
        #expect(error.message.contains("has no effect, because the module shares no password"))
    }

    @Test func `the time that the user takes to type does not count towards the deadline`() async throws {
        let clock = ManualClock()
        let stack = Team.stack([try Team.make().module], clock: clock)
        let person = RecordingConversation([.held(PreparedConversation(password: Secret(utf8: "open sesame")))])
        async let report = stack.login(try Team.request("ann"), asking: person)
        await person.untilCalled()
        clock.advance(by: .seconds(3600))
        person.release()
        #expect(try await report.identity != nil)
    }
}
