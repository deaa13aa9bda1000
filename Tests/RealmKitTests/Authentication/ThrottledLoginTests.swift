// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization
import Testing

struct ThrottledLoginTests {
    /// A throttle with a fixed decision that records its calls.
    private final class Recorder: LoginThrottle {
        private let noted = Mutex<[String]>([])
        let mayGrant: Bool

        init(mayGrant: Bool = true) { self.mayGrant = mayGrant }

        var all: [String] { noted.withLock { $0 } }

        func note(_ event: String) { noted.withLock { $0.append(event) } }

        func reserve(
            _ accounts: [Account],
            by username: Username,
            from peer: String?
        ) async -> any LoginReservation {
            let names = accounts.map(\.description).joined(separator: ", ")
            note("reserve \(names) for \(username) from \(peer ?? "-")")
            return Reservation(recorder: self)
        }
    }

    private struct Reservation: LoginReservation {
        let recorder: Recorder
        func mayGrant(_ account: Account) -> Bool { recorder.mayGrant && account.realm != "closed" }

        func settle(_ attempts: [RealmAttempt]) async {
            let answers = attempts.map { "\($0.account.realm) \($0.report.refusal?.failure.code ?? "in")" }
            recorder.note("settle " + answers.joined(separator: ", "))
        }
    }

    private struct Town: Realm {
        static let properties: PropertySchema = [.jaasContext(default: "lane")]
        let jaasContext: String
        var authType: String { "Town" }

        init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
    }

    private func bound(_ entries: LoginStack.Entry..., name: String = "town") throws -> BoundRealm {
        BoundRealm(
            name: name,
            className: "Town",
            realm: try Town(RealmProperties(schema: Town.properties, realmName: name)),
            stack: LoginStack(name: "lane", entries, clock: ManualClock()),
            assignedGroups: ["Guests"]
        )
    }

    @Test(arguments: [
        (Outcome.success, "in"), (.failure(.wrongCredentials), "wrong-credentials"), (.ignored, "permission-denied"),
        (.failure(.unavailable), "unavailable"),
    ])
    func `each login reserves an attempt, and settles it exactly once`(outcome: Outcome, answer: String) async throws {
        let recorder = Recorder()
        let module = ScriptedModule(
            .run { attempt in
                recorder.note("evaluate")
                if let failure = outcome.failure { return .failed(failure) }
                return outcome == .success ? attempt.commit() : .ignored
            }
        )
        let authenticator = Authenticator([try bound(.required(module))]).throttled(by: recorder)
        let report = try await authenticator.login(try request("Ann"), asking: PreparedConversation.silent)
        #expect(recorder.all == ["reserve ann@town for Ann from 192.0.2.7", "evaluate", "settle town \(answer)"])
        #expect(report.identity?.groups == (answer == "in" ? ["Guests"] : nil))
    }

    @Test func `a locked login is evaluated, refused and settled`() async throws {
        let recorder = Recorder(mayGrant: false)
        let module = ScriptedModule()
        let authenticator = Authenticator([try bound(.required(module))], throttle: recorder)
        let report = try await authenticator.login(try request(), asking: PreparedConversation.silent)
        #expect(report.refusal == .locked)
        #expect(report.identity == nil)
        #expect(module.phases == [.login, .abort])
        #expect(recorder.all == ["reserve ann@town for ann from 192.0.2.7", "settle town locked"])
    }

    @Test func `a cancelled login is settled`() async throws {
        let recorder = Recorder()
        let module = ScriptedModule(.hold())
        let authenticator = Authenticator([try bound(.required(module))]).throttled(by: recorder)
        let task = Task { try await authenticator.login(try request(), asking: PreparedConversation.silent) }
        await module.untilCalled()
        task.cancel()
        _ = try await task.value
        #expect(recorder.all.last == "settle town unavailable")
        #expect(recorder.all.count == 2)
    }

    @Test func `a login in several realms is one attempt, and uses the realms in order until one accepts`() async throws
    {
        let recorder = Recorder()
        func module(_ name: String, _ failure: LoginFailure? = nil) -> ScriptedModule {
            ScriptedModule(
                .run { attempt in
                    recorder.note("evaluate \(name)")
                    return failure.map { .failed($0) } ?? attempt.commit()
                }
            )
        }
        let authenticator = Authenticator(
            [
                try bound(.required(module("closed")), name: "closed"),
                try bound(.required(module("first", .unknownUser)), name: "first"),
                try bound(.required(module("second")), name: "second"),
                try bound(.required(module("third")), name: "third"),
            ],
            throttle: recorder
        )
        let report = try await authenticator.login(
            as: try Username("Ann"),
            inFirstOf: ["closed", "first", "second", "third"],
            peer: "192.0.2.7",
            asking: PreparedConversation.silent
        )
        guard case .accepted(let identity, let accepting) = report.outcome else {
            Issue.record("no realm accepted")
            return
        }
        #expect(identity.realm == "second" && accepting.realm == "second")
        #expect(report.reports.map(\.refusal?.failure) == [.locked, .unknownUser, nil])
        #expect(
            recorder.all == [
                "reserve ann@closed, ann@first, ann@second, ann@third for Ann from 192.0.2.7", "evaluate closed",
                "evaluate first",
                "evaluate second", "settle closed locked, first unknown-user, second in",
            ]
        )
    }

    @Test func `if one of several realms does not exist, no realm is used`() async throws {
        let recorder = Recorder()
        let authenticator = Authenticator([try bound(.required(FixedVerdictModule(.success)))], throttle: recorder)
        let ann = try Username("ann")
        for names in [["town", "gone"], ["gone", "town"]] {
            await #expect(throws: RealmError.self) {
                try await authenticator.login(as: ann, inFirstOf: names, asking: PreparedConversation.silent)
            }
        }
        #expect(recorder.all == [])
        let none = try await authenticator.login(as: ann, inFirstOf: [], asking: PreparedConversation.silent)
        guard case .rejected(nil) = none.outcome else {
            Issue.record("without a realm the outcome is \(none.outcome)")
            return
        }
        #expect(none.identity == nil)
    }

    @Test func `a login to an unknown realm reserves no attempt`() async throws {
        let recorder = Recorder()
        let authenticator = Authenticator([]).throttled(by: recorder)
        let request = try request()
        await #expect(throws: RealmError.self) {
            try await authenticator.login(request, asking: PreparedConversation.silent)
        }
        #expect(recorder.all == [])
    }
}
