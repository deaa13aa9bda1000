// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Testing
import Throttle

@testable import RealmKit

private struct Town: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "town")]
    let jaasContext = "town"
    var authType: String { "town" }

    init(_ properties: RealmProperties) throws(BadRealm) {}
}

/// A module that requests the password and accepts `right`.
private struct PasswordModule: LoginModule {
    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}
    init() {}

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        try await attempt.password().text == "right" ? attempt.commit() : .failed(.wrongCredentials)
    }
}

/// A module that requests a code and accepts `123456`.
private struct CodeModule: LoginModule {
    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}
    init() {}

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        try await attempt.oneTimeCode().text == "123456" ? attempt.commit(only: []) : .failed(.wrongCredentials)
    }
}

/// Tests with a realm that requests a code after the right password, and a throttle that locks after one failure.
@Suite struct AbandonedLoginTests {
    private let throttle: FailureThrottle
    private let authenticator: Authenticator

    init() throws {
        var settings = ThrottleSettings()
        settings.failures = 1
        settings.delay = .zero
        throttle = FailureThrottle(settings, clock: ManualClock(), wall: { 0 }, jitter: { 0 })
        let realm = BoundRealm(
            name: "town",
            className: "Town",
            realm: try Town(RealmProperties(schema: Town.properties, realmName: "town")),
            stack: LoginStack(
                name: "town",
                [.init(PasswordModule(), .requisite), .init(CodeModule(), .required)],
                clock: ManualClock()
            )
        )
        authenticator = Authenticator([realm]).throttled(by: throttle)
    }

    private func begin(_ password: String?) throws -> InteractiveLogin {
        let request = LoginRequest(realm: "town", username: try Username("ann"))
        let password = password.map { Secret(utf8: $0) }
        return InteractiveLogin(name: "ann", password: password, numbers: QuestionNumbers()) {
            [authenticator] conversation in
            .rejected(try? await authenticator.login(request, asking: conversation))
        }
    }

    @Test func `the right password and the right code sign the user in`() async throws {
        let dialogue = try begin("right")
        let step = await dialogue.next()
        // While the page waits for the code, the sign-in is a failure that an administrator sees and can clear.
        #expect(throttle.lockouts.count == 1)
        #expect(dialogue.answer([.secret(Secret(utf8: "123456"))], to: step.number))
        #expect(await dialogue.next().isAccepted == true)
        #expect(throttle.lockouts.isEmpty)
    }

    @Test func `leaving the page for the code counts as a failure`() async throws {
        let dialogue = try begin("right")
        #expect(await dialogue.next().callbacks?.count == 1)
        dialogue.cancel()
        #expect(await dialogue.next().isAccepted == false)
        #expect(throttle.lockouts.count == 1)
    }

    @Test func `an empty code counts as a failure`() async throws {
        let dialogue = try begin("right")
        let step = await dialogue.next()
        #expect(dialogue.answer([.none], to: step.number))
        #expect(await dialogue.next().isAccepted == false)
        #expect(throttle.lockouts.count == 1)
    }

    @Test func `leaving the sign-in before a password is sent does not count as a failure`() async throws {
        let dialogue = try begin(nil)
        #expect(await dialogue.next().callbacks == [.password(prompt: "Password")])
        #expect(throttle.lockouts.count == 1)
        dialogue.cancel()
        #expect(await dialogue.next().isAccepted == false)
        #expect(throttle.lockouts.isEmpty)
    }
}

extension InteractiveLogin.Step {
    /// True if the user was accepted; nil before the end.
    fileprivate var isAccepted: Bool? { report.map { $0.refusal == nil } }
}
