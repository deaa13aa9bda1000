// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Synchronization
import Testing

/// The conformance tests find violations of the contract.
struct ModuleConformanceTests {
    typealias Credential = LoginModuleConformance.Credential

    private static let users = ["ann": "lilac", "bob": "basil", "cid": "clove"]

    /// A correct check of a password.
    private static func check(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        let password = try await attempt.password()
        guard let right = users[attempt.username.text], Secret(utf8: right).isEqual(to: password) else {
            return .failed(users[attempt.username.text] == nil ? .unknownUser : .wrongCredentials)
        }
        return attempt.commit(groups: ["of \(attempt.username)"])
    }

    private func violations(
        of module: FaultInjector,
        refuses: [Credential] = [
            Credential("ann", password: "basil"), Credential("ann", password: ""),
            Credential("nobody", password: "lilac"),
        ],
        patience: Duration = .seconds(60)
    ) async -> [String] {
        await LoginModuleConformance(
            module,
            accepts: Self.users.map { Credential($0.key, password: $0.value) },
            refuses: refuses,
            patience: patience
        ).violations()
    }

    @Test func `a good module has no violations`() async {
        #expect(await violations(of: FaultInjector(.run(Self.check))) == [])
    }

    @Test func `a module that accepts everybody is found`() async {
        let found = await violations(of: FaultInjector())
        #expect(found.contains("nobody should be refused, but is accepted"))
        #expect(found.contains { $0.hasSuffix("is accepted with a conversation that answers none") })
    }

    @Test func `a module that refuses everybody is found`() async {
        let found = await violations(of: FaultInjector(.refuse(.locked)))
        #expect(found.contains("ann should be accepted, but is refused: locked"))
    }

    /// The defect of CVE-2026-33544: the module stores data of one login.
    @Test func `a module that mixes up logins is found`() async {
        let last = Kept<String>()
        let module = FaultInjector(
            .run { (attempt) async throws(LoginFault) in
                last.keep(attempt.username.text)
                let verdict = try await Self.check(attempt)
                guard case .success = verdict else { return verdict }
                await Task.yield()
                return attempt.commit(only: [.group("of \(last.value ?? "")")])
            }
        )
        #expect(await violations(of: module).contains { $0.hasPrefix("among two hundred logins at once, ") })
    }

    @Test func `a module that does not ask unknown users is found`() async {
        let module = FaultInjector(
            .run { (attempt) async throws(LoginFault) in
                guard Self.users[attempt.username.text] != nil else { return .failed(.unknownUser) }
                return try await Self.check(attempt)
            }
        )
        #expect(await violations(of: module).contains("the client can distinguish refusals: ann, nobody"))
    }

    @Test func `a module that accepts after a failed conversation is found`() async {
        let module = FaultInjector(
            .run { (attempt) async throws(LoginFault) in
                do throws(LoginFault) {
                    return try await Self.check(attempt)
                } catch {
                    return attempt.commit()
                }
            }
        )
        #expect(await violations(of: module).contains { $0.hasSuffix("with a conversation that fails") })
    }

    @Test func `a module that does not return when it is cancelled is found`() async {
        let forever = RecordingConversation([.held(.silent)])
        let module = FaultInjector(
            .run { (attempt) async throws(LoginFault) in
                do throws(LoginFault) {
                    return try await Self.check(attempt)
                } catch {
                    if Task.isCancelled { _ = try await forever.answer([]) }
                    throw error
                }
            }
        )
        // All of this time passes, as the module never returns.
        let found = await violations(of: module, patience: .seconds(3))
        #expect(found == ["the module does not return when its login is cancelled"])
        forever.release()
    }

    @Test func `a module whose logout fails, or that was never exercised, is found`() async {
        let module = FaultInjector(.run(Self.check), logout: .fail(.unavailable("down")))
        #expect(await violations(of: module).contains("the logout of ann fails: unavailable: down"))
        #expect(await violations(of: module, refuses: []).count == 1)
        #expect(await violations(of: module, refuses: [Credential("")]) == [" is not a valid user name"])
    }
}

struct RealmConformanceTests {
    private struct Bad: Realm {
        static let classNames = ["Bad", "Bad", "b d", ""]
        static let properties: PropertySchema = [
            .jaasContext(default: "lane"), Property("tries", .integer(0...2), default: "2", required: true),
            Property("class", .string, default: ""), .optional("no tes"), .optional("Tries"), .optional("Class"),
        ]
        let jaasContext = ""
        let authType = "B\nd"

        init(_ properties: RealmProperties) throws(BadRealm) {}

        func groupNames(of user: Username) async throws(RealmError) -> [String] {
            if user.text == "thrower" { throw .noSuchRealm("Bad", known: []) }
            return ["everybody"]
        }
    }

    @Test func `every violation of a realm is found`() async {
        let conformance = RealmConformance(
            Bad.self,
            properties: ["tries": ["1"]],
            members: ["ann": ["User"]],
            unknownUsers: ["nobody", "thrower"]
        )
        #expect(
            await conformance.violations() == [
                "the class name \"b d\" needs quotes in a configuration",
                "a class name is empty",
                "the class name Bad is listed twice",
                "the property \"no tes\" needs quotes in a configuration",
                "the property name class is reserved",
                "the properties tries and Tries differ in case only",
                "the properties class and Class differ in case only",
                "tries is required and has a default",
                "tries is required, but the realm can be created without it",
                "jaasContext is empty",
                "authType contains a control character",
                "jaas-context is set to another, but jaasContext is ",
                "the groups of ann are [\"everybody\"], not [\"User\"]",
                "groupNames(of: nobody) returns [\"everybody\"] for an unknown user",
                "groupNames(of: thrower) throws noSuchRealm",
            ]
        )
    }

    private struct Impossible: Realm {
        static let properties: PropertySchema = [Property("tries", .integer(0...2), default: "3")]
        let jaasContext = "lane"
        let authType = "Impossible"

        init(_ properties: RealmProperties) throws(BadRealm) {}
    }

    @Test func `a default that cannot be read is found`() async {
        #expect(
            await RealmConformance(Impossible.self).violations() == [
                "the default of tries is invalid: it is a whole number from 0 to 2, not 3",
                "the realm cannot be created from the given properties: tries: has an invalid default: "
                    + "it is a whole number from 0 to 2, not 3",
            ]
        )
    }
}

struct AccountKeyConformanceTests {
    private struct Moody: Realm {
        static let properties: PropertySchema = [.jaasContext(default: "lane")]
        let jaasContext: String
        let authType = "Moody"

        init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }

        func accountKey(of user: Username) -> String { user.text == "nobody" ? "" : user.text }
    }

    @Test func `spellings of one user with keys of their own are found`() async {
        let conformance = RealmConformance(
            Moody.self,
            spellings: [["ann", "Ann"], ["bob", "bob"], ["nobody"], [" "]]
        )
        #expect(
            await conformance.violations() == [
                #"accountKey(of:) of ["ann", "Ann"] is ["ann", "Ann"], not the same"#,
                #"accountKey(of:) is empty for one of ["nobody"]"#,
                #"one of [" "] is not a valid user name: the user name begins or ends with white space"#,
            ]
        )
    }
}

struct ConversationConformanceTests {
    @Test func `the conversations of the library and of the kit pass the conformance kit`() async {
        let prepared = ConversationConformance(missing: [.oneTimeCode(prompt: ""), .certificate]) {
            PreparedConversation(name: "ann", password: Secret(utf8: "lilac"))
        }
        #expect(await prepared.violations() == [])
        let full = ConversationConformance(
            missing: [.message("")],
            makeWaiting: { RecordingConversation([.never]) },
            { RecordingConversation(name: "ann", password: "lilac", code: "123", certificate: [1]) }
        )
        #expect(await full.violations() == [])
        let silent = ConversationConformance(missing: [.name(prompt: ""), .password(prompt: "")]) {
            PreparedConversation.silent
        }
        #expect(await silent.violations() == [])
    }

    @Test func `missing answers, wrong kinds, faults and ignored cancellations are found`() async {
        let short = ConversationConformance { RecordingConversation([.answers([])]) }
        #expect(await short.violations().contains("0 answers to [\"name\"]"))
        let wrong = ConversationConformance { RecordingConversation([.answers([.name("ann")])]) }
        #expect(await wrong.violations().contains("password in [\"password\"] has an answer of another kind"))
        let gone = ConversationConformance(missing: [.certificate]) {
            RecordingConversation([.fault(.unavailable("gone"))])
        }
        #expect(
            await gone.violations().contains(
                "for certificate, which should have no answer, it throws: unavailable: gone"
            )
        )
        let has = ConversationConformance(missing: [.name(prompt: "")]) { PreparedConversation(name: "ann") }
        #expect(await has.violations() == ["it answers name, which should have no answer"])
        let deaf = RecordingConversation([.held(.silent)])
        let stuck = ConversationConformance(patience: .milliseconds(500), makeWaiting: { deaf }) {
            PreparedConversation.silent
        }
        #expect(await stuck.violations() == ["it does not return when it is cancelled"])
        deaf.release()
        let calm = ConversationConformance(makeWaiting: { PreparedConversation.silent }) { PreparedConversation.silent }
        #expect(await calm.violations() == ["it answers after a cancellation instead of throwing"])
    }
}

struct ManualClockTests {
    @Test func `the clock moves only when advanced, and wakes the sleepers that are due`() async throws {
        let clock = ManualClock(now: 5)
        #expect(clock.now == 5)
        try await clock.sleep(until: 5)
        let woken = Kept<UInt64>()
        let early = Task {
            try await clock.sleep(until: 10)
            woken.keep(clock.now)
        }
        let late = Task { try await clock.sleep(until: 20) }
        await clock.untilAsleep(2)
        clock.advance(by: .nanoseconds(4))
        #expect(clock.sleepers == 2)
        clock.advance(by: .nanoseconds(1))
        try await early.value
        #expect(woken.value == 10)
        #expect(clock.sleepers == 1)
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(clock.sleepers == 0)
    }

    @Test func `a cancelled task does not sleep`() async {
        let clock = ManualClock()
        let begin = RecordingConversation([.held(.silent)])
        let task = Task {
            _ = try await begin.answer([])
            try await clock.sleep(until: 10)
        }
        await begin.untilAsked()
        task.cancel()
        begin.release()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleepers == 0)
    }
}
