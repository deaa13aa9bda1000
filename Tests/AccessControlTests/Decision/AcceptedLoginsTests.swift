// SPDX-License-Identifier: Apache-2.0

import Bytes
import RealmKit
import RealmTesting
import Sessions
import Synchronization
import Testing

@testable import AccessControl

/// The cache of accepted logins, with a realm whose back end can be stopped.
@Suite struct AcceptedLoginsTests {
    /// A back end with the password of each user; it counts the calls.
    private final class BackEnd: Sendable {
        struct State {
            var passwords = ["ann": "right", "bob": "code"]
            var outcome: LoginFailure?
            /// The failures of single users.
            var outcomes: [String: LoginFailure] = [:]
            var names: [String] = []
            var commits = 0
            var acceptsEverybody = false
            var calls = 0
            var beforeAnswer: (@Sendable () -> Void)?
            var needsCode = true
            var wait: (@Sendable () async -> Void)?
        }

        let state = Mutex(State())

        var calls: Int { state.withLock { $0.calls } }
        func set(_ outcome: LoginFailure?) { state.withLock { $0.outcome = outcome } }
    }

    private struct BackEndModule: LoginModule {
        let backEnd: BackEnd

        init(_ backEnd: BackEnd) { self.backEnd = backEnd }
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("only in tests") }

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            let password = try await attempt.password(prompt: "Directory password")
            // The user bob has a second factor.
            let needsCode = backEnd.state.withLock { $0.needsCode }
            if attempt.username.text == "bob", needsCode { _ = try await attempt.oneTimeCode() }
            let (outcome, expected, before, wait) = backEnd.state.withLock { state in
                state.calls += 1
                state.names.append(attempt.username.text)
                return (
                    state.outcomes[attempt.username.text] ?? state.outcome, state.passwords[attempt.username.text],
                    state.beforeAnswer, state.wait
                )
            }
            before?()
            await wait?()
            if outcome == .unavailable { throw .unavailable("no connection") }
            if let outcome { return .failed(outcome) }
            if backEnd.state.withLock({ $0.acceptsEverybody }) { return attempt.commit() }
            guard let expected else { return .failed(.unknownUser) }
            guard password.isEqual(to: Secret(utf8: expected)) else { return .failed(.wrongCredentials) }
            do throws(BadAttribute) {
                let mail = try UserAttribute(name: "mail", values: ["\(attempt.username.text)@x"])
                return attempt.commit(groups: ["Staff"], attributes: [mail])
            } catch {
                throw .internalError(error.description)
            }
        }
    }

    private struct CommitCounter: LoginModule {
        let backEnd: BackEnd

        init(_ backEnd: BackEnd) { self.backEnd = backEnd }
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("only in tests") }

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict { attempt.commit() }

        func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
            backEnd.state.withLock { $0.commits += 1 }
            return .done
        }
    }

    private final class Messages: Sendable {
        private let list = Mutex<[String]>([])
        var all: [String] { list.withLock { $0 } }
        func add(_ message: String) { list.withLock { $0.append(message) } }
    }

    private struct NamedRealm: Realm {
        static let properties: PropertySchema = []
        let jaasContext = "c"
        let authType = "test"
        init(_ properties: RealmProperties) throws(BadRealm) {}
        init() {}
    }

    private let clock = ManualClock()
    private let backEnd = BackEnd()
    private let logins: AcceptedLogins
    private let authenticator: Authenticator
    private let messages = Messages()

    init() throws {
        let messages = messages
        logins = try AcceptedLogins(clock: clock, capacity: 3, log: RealmLog { _, message in messages.add(message) })
        let stack = LoginStack(
            name: "c",
            [
                LoginStack.Entry(BackEndModule(backEnd), .required, name: "directory"),
                LoginStack.Entry(CommitCounter(backEnd), .optional, name: "counter"),
            ],
            clock: clock
        )
        var realm = BoundRealm(
            name: "people",
            className: "NamedRealm",
            realm: NamedRealm(),
            stack: stack,
            assignedGroups: ["Everyone"]
        )
        realm.cacheTimes = CacheTimes(lifetime: .seconds(60), staleTime: .seconds(600))
        authenticator = Authenticator([realm]).caching(by: logins)
    }

    private func login(
        _ name: String,
        _ password: String,
        peer: String = "192.0.2.7",
        service: String = "https"
    ) async throws -> LoginReport {
        let request = LoginRequest(realm: "people", username: try Username(name), service: service, peer: peer)
        let conversation = PreparedConversation(
            name: name,
            password: Secret(utf8: password),
            code: name == "bob" ? Secret(utf8: "123456") : nil
        )
        return try await authenticator.login(request, asking: conversation)
    }

    @Test func `an accepted login is repeated without the back end, with groups, attributes and its own peer`()
        async throws
    {
        let first = try #require(try await login("ann", "right").identity)
        clock.advance(by: .seconds(59))
        let report = try await login("ann", "right")
        let second = try #require(report.identity)
        #expect(backEnd.calls == 1)
        #expect(second.groups == first.groups && second.groups == ["Staff", "Everyone"])
        #expect(second.attributes == first.attributes && second.username == first.username)
        #expect(report.peer == "192.0.2.7")
        #expect(report.steps.map(\.module) == ["cache", "cache"])
        #expect(report.notes.map(\.text) == ["accepted 59 s ago by the realm"])
    }

    @Test func `a login from another address or for another service is decided by the realm`() async throws {
        _ = try await login("ann", "right")
        #expect(try await login("ann", "right", peer: "198.51.100.1").steps.first?.module == "directory")
        #expect(try await login("ann", "right", service: "imap").steps.first?.module == "directory")
        #expect(backEnd.calls == 3)
        // Each of them now has an entry of its own.
        _ = try await login("ann", "right")
        _ = try await login("ann", "right", peer: "198.51.100.1")
        _ = try await login("ann", "right", service: "imap")
        #expect(backEnd.calls == 3 && logins.count == 1)
        backEnd.state.withLock { $0.passwords["ann"] = "new" }
        #expect(try await login("ann", "new").identity != nil)
        for peer in ["192.0.2.7", "198.51.100.1"] {
            #expect(try await login("ann", "right", peer: peer).identity == nil)
        }
    }

    @Test func `an account has a limited number of addresses, and the oldest goes first`() async throws {
        for number in 0...AcceptedLogins.addresses { _ = try await login("ann", "right", peer: "192.0.2.\(number)") }
        let calls = backEnd.calls
        _ = try await login("ann", "right", peer: "192.0.2.1")
        #expect(backEnd.calls == calls)
        _ = try await login("ann", "right", peer: "192.0.2.0")
        #expect(backEnd.calls == calls + 1)
    }

    @Test func `a use does not extend the lifetime, and after it the realm decides`() async throws {
        _ = try await login("ann", "right")
        clock.advance(by: .seconds(40))
        _ = try await login("ann", "right")
        clock.advance(by: .seconds(20))
        #expect(try await login("ann", "right").steps.first?.module == "directory")
        #expect(backEnd.calls == 2)
    }

    @Test func `every other password goes to the realm, and does not remove the entry`() async throws {
        _ = try await login("ann", "right")
        for password in ["wrong", "", "right ", "Right"] {
            #expect(try await login("ann", password).refusal?.failure == .wrongCredentials)
        }
        #expect(try await login("Ann", "right").refusal?.failure == .unknownUser)
        #expect(backEnd.calls == 6)
        #expect(try await login("zed", "right").identity == nil)
    }

    @Test func `an unavailable realm is replaced by its last answer for the stale time, with a log line`() async throws
    {
        _ = try await login("ann", "right")
        backEnd.set(.unavailable)
        clock.advance(by: .seconds(60))
        let report = try await login("ann", "right")
        #expect(report.identity?.groups == ["Staff", "Everyone"])
        #expect(report.notes.map(\.text) == ["accepted 60 s ago; now it is unavailable: no connection"])
        #expect(
            messages.all == [
                "realm people is unavailable (no connection): ann was accepted from the cache; the realm accepted this user 60 s ago"
            ]
        )
        #expect(try await login("ann", "wrong").isUnavailable)
        #expect(try await login("ann", "wrong").identity == nil)
        clock.advance(by: .seconds(600))
        let late = try await login("ann", "right")
        #expect(late.identity == nil && late.isUnavailable)
        #expect(messages.all.count == 1)
    }

    // MARK: Outages that a user can cause

    /// The cached login of ann, one minute later.
    private func remember() async throws {
        _ = try await login("ann", "right")
        clock.advance(by: .seconds(60))
        backEnd.state.withLock { ($0.calls, $0.commits) = (0, 0) }
    }

    @Test func `an overload is no outage, so that a user cannot bring back the remembered login`() async throws {
        try await remember()
        backEnd.set(.overloaded)
        let report = try await login("ann", "right")
        #expect(report.identity == nil && report.isUnavailable && report.refusal?.failure == .overloaded)
        #expect(backEnd.calls == 1, "there is nothing to check")
        #expect(messages.all.isEmpty)
    }

    @Test func `a realm that is unavailable for one user, and decides others, is not down`() async throws {
        try await remember()
        backEnd.state.withLock { $0.outcomes = ["ann": .unavailable] }
        let report = try await login("ann", "right")
        #expect(report.identity == nil && report.isUnavailable)
        #expect(backEnd.calls == 2)
        #expect(
            messages.all == ["realm people could not decide a login, but decides others: the cache is not used"]
        )
        // The entry stays for a real outage.
        backEnd.set(.unavailable)
        #expect(try await login("ann", "right").identity != nil)
    }

    @Test func `a check that is overloaded does not show an outage`() async throws {
        try await remember()
        backEnd.set(.overloaded)
        backEnd.state.withLock { $0.outcomes = ["ann": .unavailable] }
        #expect(try await login("ann", "right").identity == nil)
        #expect(backEnd.calls == 2)
    }

    @Test func `the check is a login of an invented user, which is never granted`() async throws {
        try await remember()
        backEnd.state.withLock { state in
            state.outcomes = ["ann": .unavailable]
            state.acceptsEverybody = true
        }
        #expect(try await login("ann", "right").identity == nil)
        let names = backEnd.state.withLock { $0.names }
        #expect(names.count == 3 && names[2] != "ann" && names[2].hasPrefix("gatehouse"))
        #expect(backEnd.state.withLock { $0.commits } == 0)
    }

    @Test func `a user whom the realm refuses during the check is not accepted`() async throws {
        try await remember()
        backEnd.state.withLock { state in
            state.outcome = .unavailable
            state.beforeAnswer = { [logins, backEnd] in
                if backEnd.calls == 2 { logins.evict { $0.username.text == "ann" } }
            }
        }
        #expect(try await login("ann", "right").identity == nil)
    }

    @Test func `a password that the realm rejects later is not accepted during an outage`() async throws {
        _ = try await login("ann", "right")
        backEnd.state.withLock { $0.passwords["ann"] = "new" }
        clock.advance(by: .seconds(61))
        #expect(try await login("ann", "right").refusal?.failure == .wrongCredentials)
        backEnd.set(.unavailable)
        #expect(try await login("ann", "right").identity == nil)
    }

    @Test(arguments: [LoginFailure.wrongCredentials, .credentialExpired])
    func `a refusal of the cached password from another address or for another service ends all entries`(
        failure: LoginFailure
    ) async throws {
        for (peer, service) in [("198.51.100.1", "https"), ("192.0.2.7", "authcheck")] {
            // A login that begins at the time of a refusal is not stored.
            clock.advance(by: .seconds(1))
            backEnd.set(nil)
            _ = try await login("ann", "right")
            #expect(logins.count == 1)
            backEnd.set(failure)
            #expect(try await login("ann", "right", peer: peer, service: service).refusal?.failure == failure)
            #expect(logins.count == 0)
            backEnd.set(.unavailable)
            #expect(try await login("ann", "right").identity == nil)
        }
    }

    @Test(arguments: [LoginFailure.unknownUser, .disabled, .locked, .accountExpired, .permissionDenied])
    func `a refusal for another reason than the password ends the entry`(failure: LoginFailure) async throws {
        _ = try await login("ann", "right")
        backEnd.set(failure)
        #expect(try await login("ann", "other").refusal?.failure == failure)
        #expect(try await login("ann", "right").identity == nil)
    }

    @Test func `a login with a new password ends the entry of the old one`() async throws {
        _ = try await login("ann", "right")
        backEnd.state.withLock { $0.passwords["ann"] = "new" }
        #expect(try await login("ann", "new").identity != nil)
        #expect(try await login("ann", "right").identity == nil)
        #expect(logins.count == 1)
    }

    @Test func `a login with a second factor is not cached`() async throws {
        #expect(try await login("bob", "code").identity != nil)
        #expect(logins.count == 0)
        #expect(try await login("bob", "code").identity != nil)
        #expect(backEnd.calls == 2)
    }

    @Test func `a login that needs a second factor ends the entry of the password alone`() async throws {
        backEnd.state.withLock { $0.needsCode = false }
        #expect(try await login("bob", "code").identity != nil)
        #expect(logins.count == 1)
        backEnd.state.withLock { $0.needsCode = true }
        clock.advance(by: .seconds(61))
        #expect(try await login("bob", "code").identity != nil)
        backEnd.set(.unavailable)
        #expect(try await login("bob", "code").identity == nil)
    }

    @Test(arguments: [LoginFailure.wrongCredentials, .unusableCredential, .missingCredential, .credentialExpired])
    func `a refusal of another password that is not about the account leaves the entry`(
        failure: LoginFailure
    ) async throws {
        _ = try await login("ann", "right")
        backEnd.set(failure)
        #expect(try await login("ann", "other").refusal?.failure == failure)
        backEnd.set(.unavailable)
        clock.advance(by: .seconds(61))
        #expect(try await login("ann", "right").identity != nil)
    }

    @Test(arguments: [LoginFailure.disabled, .wrongCredentials])
    func `a login that was accepted before a refusal, and ends after it, stores no entry`(
        failure: LoginFailure
    ) async throws {
        let backEnd = backEnd
        let authenticator = authenticator
        let request = LoginRequest(realm: "people", username: try Username("ann"), service: "https", peer: "192.0.2.7")
        let (started, hasStarted) = AsyncStream.makeStream(of: Void.self)
        let (end, mayEnd) = AsyncStream.makeStream(of: Void.self)
        backEnd.state.withLock { state in
            state.wait = {
                hasStarted.finish()
                for await _ in end {}
            }
        }
        let slow = Task {
            try await authenticator.login(request, asking: PreparedConversation(password: Secret(utf8: "right")))
        }
        for await _ in started {}
        backEnd.state.withLock { $0.wait = nil }
        backEnd.set(failure)
        let report = try await login("ann", "right", peer: "198.51.100.1")
        #expect(report.refusal?.failure == failure)
        mayEnd.finish()
        #expect(try await slow.value.identity != nil)
        backEnd.set(.unavailable)
        #expect(try await login("ann", "right").identity == nil)
        #expect(logins.count == 0)
    }

    @Test func `a user who has to be asked for the password is not answered from the cache`() async throws {
        _ = try await login("ann", "right")
        let request = LoginRequest(realm: "people", username: try Username("ann"))
        let report = try await authenticator.login(request, asking: PreparedConversation.silent)
        #expect(report.refusal?.failure == .missingCredential)
        #expect(backEnd.calls == 1)
    }

    @Test func `what ends cached credentials also ends cached logins, even during the login`() async throws {
        let account = Account(realm: "people", key: "ann")
        let network = ClientNetwork("192.0.2.7")
        let matches: [@Sendable (CredentialCache.Client) -> Bool] = [
            { $0.account == account }, { $0.network == network }, { $0.username.text == "ann" }, { _ in true },
        ]
        for match in matches {
            _ = try await login("ann", "right")
            #expect(logins.count == 1)
            logins.evict(where: match)
            #expect(logins.count == 0)
            let logins = logins
            backEnd.state.withLock { $0.beforeAnswer = { logins.evict(where: match) } }
            #expect(try await login("ann", "right").identity != nil)
            #expect(logins.count == 0)
            backEnd.state.withLock { $0.beforeAnswer = nil }
        }
    }

    @Test func `a locked account is not answered from the cache`() async throws {
        _ = try await login("ann", "right")
        let locked = authenticator.throttled(by: LockingThrottle())
        let request = LoginRequest(realm: "people", username: try Username("ann"))
        let conversation = PreparedConversation(password: Secret(utf8: "right"))
        let report = try await locked.login(request, asking: conversation)
        #expect(report.identity == nil)
        #expect(backEnd.calls == 2)
    }

    @Test func `the number of entries is limited, and the oldest goes first`() async throws {
        backEnd.state.withLock { state in
            for number in 0..<5 { state.passwords["user\(number)"] = "p" }
        }
        for number in 0..<5 {
            clock.advance(by: .seconds(1))
            _ = try await login("user\(number)", "p")
        }
        #expect(logins.count == 3)
        _ = try await login("user4", "p")
        #expect(backEnd.calls == 5)
        _ = try await login("user0", "p")
        #expect(backEnd.calls == 6)
    }

    /// A throttle with all accounts locked.
    private struct LockingThrottle: LoginThrottle {
        struct Reservation: LoginReservation {
            func mayGrant(_ account: Account) -> Bool { false }
            func settle(_ attempts: [RealmAttempt]) async {}
        }

        func reserve(_ accounts: [Account], by username: Username, from peer: String?) async -> any LoginReservation {
            Reservation()
        }
    }
}
