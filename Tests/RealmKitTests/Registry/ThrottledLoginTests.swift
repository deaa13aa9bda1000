// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Synchronization
import Testing

struct ThrottledLoginTests {
    /// A throttle that says what it is told to and remembers what it was told.
    private final class Recorder: LoginThrottle {
        private let noted = Mutex<[String]>([])
        let mayGrant: Bool

        init(mayGrant: Bool = true) { self.mayGrant = mayGrant }

        var all: [String] { noted.withLock { $0 } }

        func note(_ what: String) { noted.withLock { $0.append(what) } }

        func reserve(_ account: Account, for request: LoginRequest) async -> any LoginReservation {
            note("reserve \(account) for \(request.username) from \(request.peer ?? "-")")
            return Place(recorder: self)
        }
    }

    private struct Place: LoginReservation {
        let recorder: Recorder
        var mayGrant: Bool { recorder.mayGrant }

        func settle(_ report: LoginReport) async {
            recorder.note("settle \(report.refusal?.failure.code ?? "in")")
        }
    }

    private struct Town: Realm {
        static let properties: PropertySchema = [.jaasContext(default: "lane")]
        let jaasContext: String
        var authType: String { "Town" }

        init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
    }

    private func bound(_ entries: LoginStack.Entry...) throws -> BoundRealm {
        BoundRealm(
            name: "town",
            className: "Town",
            realm: try Town(RealmProperties(schema: Town.properties, realmName: "town")),
            stack: LoginStack(name: "lane", entries, clock: ManualClock()),
            assignedGroups: ["Guests"]
        )
    }

    @Test(arguments: [
        (Outcome.success, "in"), (.failure(.wrongCredentials), "wrong-credentials"), (.ignored, "permission-denied"),
        (.failure(.unavailable), "unavailable"),
    ])
    func `every login is reserved, walked and settled, once each`(outcome: Outcome, answer: String) async throws {
        let recorder = Recorder()
        let module = FaultInjector(
            .run { attempt in
                recorder.note("walk")
                if let failure = outcome.failure { return .failed(failure) }
                return outcome == .success ? attempt.commit() : .ignored
            }
        )
        let authenticator = Authenticator([try bound(.required(module))]).throttled(by: recorder)
        let report = try await authenticator.login(try request("Ann"), asking: PreparedConversation.silent)
        #expect(recorder.all == ["reserve ann@town for Ann from 192.0.2.7", "walk", "settle \(answer)"])
        #expect(report.identity?.groups == (answer == "in" ? ["Guests"] : nil))
    }

    @Test func `a login that may not succeed is walked, refused and settled`() async throws {
        let recorder = Recorder(mayGrant: false)
        let module = FaultInjector()
        let authenticator = Authenticator([try bound(.required(module))], throttle: recorder)
        let report = try await authenticator.login(try request(), asking: PreparedConversation.silent)
        #expect(report.refusal == .locked)
        #expect(report.identity == nil)
        #expect(module.phases == [.login, .abort])
        #expect(recorder.all == ["reserve ann@town for ann from 192.0.2.7", "settle locked"])
    }

    @Test func `a cancelled login is settled`() async throws {
        let recorder = Recorder()
        let module = FaultInjector(.hold())
        let authenticator = Authenticator([try bound(.required(module))]).throttled(by: recorder)
        let task = Task { try await authenticator.login(try request(), asking: PreparedConversation.silent) }
        await module.untilCalled()
        task.cancel()
        _ = try await task.value
        #expect(recorder.all.last == "settle unavailable")
        #expect(recorder.all.count == 2)
    }

    @Test func `a realm there is not reserves nothing`() async throws {
        let recorder = Recorder()
        let authenticator = Authenticator([]).throttled(by: recorder)
        let request = try request()
        await #expect(throws: RealmError.self) {
            try await authenticator.login(request, asking: PreparedConversation.silent)
        }
        #expect(recorder.all == [])
    }

    @Test func `behind a throttle nothing is decided at once`() throws {
        let open = Authenticator([try bound(.required(Fixed(.success)))])
        #expect(try open.loginNow(try request()) != nil)
        let recorder = Recorder()
        #expect(try open.throttled(by: recorder).loginNow(try request()) == nil)
        #expect(recorder.all == [])
    }

    @Test func `no letter has a counter of its own in another case`() throws {
        for number in UInt32(0x21)...0x1_FFFF {
            guard let letter = Unicode.Scalar(number), letter.properties.isCased else { continue }
            let key = try Username("x\(letter)x").caseFolded
            let cases = [letter.properties.lowercaseMapping, letter.properties.uppercaseMapping]
            for other in cases + [letter.properties.titlecaseMapping] {
                #expect(try Username("x\(other)x").caseFolded == key, "U+\(String(number, radix: 16))")
            }
        }
        #expect(try Username("\u{E9}").caseFolded == Username("E\u{301}").caseFolded)
        #expect(try Username("Straße").caseFolded == Username("STRASSE").caseFolded)
        #expect(try Username("ann").caseFolded != Username("bob").caseFolded)
    }
}
