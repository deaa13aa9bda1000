// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct FirstPassTests {
    /// A module with one right password that records the length of every password it checks.
    private struct PasswordModule: PasswordLoginModule {
        static let options: PropertySchema = .firstPass
        let firstPass: FirstPass
        let password: Secret
        let checked = CallLog()

        init(_ password: String, _ options: [String]) throws {
            self.password = Secret(utf8: password)
            let values = Dictionary(uniqueKeysWithValues: options.map { ($0, PropertyValue.boolean(true)) })
            firstPass = try FirstPass(ModuleOptions(values, schema: .firstPass, realmName: "town"))
        }

        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
            throw BadModule("can be created only in code")
        }

        func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
            checked.note(password.count)
            return self.password.isEqual(to: password) ? attempt.commit() : .failed(.wrongCredentials)
        }
    }

    /// The options, the passwords and the expected result of a login.
    ///
    /// `checked` has the lengths of the passwords that the module checks. `requests` is the number of questions to the
    /// user.
    struct Row: Sendable, CustomTestStringConvertible {
        let options: [String]
        let stored: String?
        let typed: String?
        let accepts: Bool
        let checked: [Int]
        let requests: Int
        var failure: LoginFailure = .wrongCredentials

        var testDescription: String { "\(options) stored \(stored ?? "-") typed \(typed ?? "-")" }
    }

    /// The logins and their expected results.
    ///
    /// The right password is `right` (5 bytes). Wrong passwords are `wrong!` (6 bytes) and `other!!` (7 bytes).
    static let rows: [Row] = [
        Row(options: [], stored: "right", typed: "wrong!", accepts: false, checked: [6], requests: 1),
        Row(options: [], stored: "wrong!", typed: "right", accepts: true, checked: [5], requests: 1),
        Row(
            options: [],
            stored: nil,
            typed: nil,
            accepts: false,
            checked: [],
            requests: 1,
            failure: .missingCredential
        ),
        Row(options: ["useFirstPass"], stored: "right", typed: "wrong!", accepts: true, checked: [5], requests: 0),
        Row(options: ["useFirstPass"], stored: "wrong!", typed: "right", accepts: false, checked: [6], requests: 0),
        Row(
            options: ["useFirstPass"],
            stored: nil,
            typed: "right",
            accepts: false,
            checked: [],
            requests: 0,
            failure: .missingCredential
        ),
        Row(options: ["tryFirstPass"], stored: "right", typed: "wrong!", accepts: true, checked: [5], requests: 0),
        Row(options: ["tryFirstPass"], stored: "wrong!", typed: "right", accepts: true, checked: [6, 5], requests: 1),
        Row(
            options: ["tryFirstPass"],
            stored: "wrong!",
            typed: "other!!",
            accepts: false,
            checked: [6, 7],
            requests: 1
        ),
        Row(options: ["tryFirstPass"], stored: "wrong!", typed: "wrong!", accepts: false, checked: [6], requests: 1),
        Row(options: ["tryFirstPass"], stored: nil, typed: "right", accepts: true, checked: [5], requests: 1),
        Row(
            options: ["tryFirstPass", "useFirstPass"],
            stored: "wrong!",
            typed: "right",
            accepts: true,
            checked: [6, 5],
            requests: 1
        ),
        Row(
            options: ["tryFirstPass", "useFirstPass"],
            stored: nil,
            typed: "right",
            accepts: true,
            checked: [5],
            requests: 1
        ),
    ]

    /// Returns a module that stores a password, like an earlier module of a stack.
    private static func store(_ password: String?) -> ScriptedModule {
        ScriptedModule(
            .run { attempt in
                if let password { attempt.updateShared { $0[.password] = .secret(Secret(utf8: password)) } }
                return .ignored
            }
        )
    }

    @Test(arguments: rows) func `the stored password is tried, used or not used, as the options require`(
        row: Row
    ) async throws {
        let module = try PasswordModule("right", row.options)
        let conversation = RecordingConversation(password: row.typed)
        let stack = stack(.optional(Self.store(row.stored)), .required(module))
        let report = await stack.login(try request(), asking: conversation)
        #expect((report.identity != nil) == row.accepts)
        #expect(report.refusal?.failure == (row.accepts ? nil : row.failure))
        #expect(module.checked.all == row.checked)
        #expect(conversation.questions == Array(repeating: [.password(prompt: "Password")], count: row.requests))
    }

    /// All combinations of the four options, each with no stored password, a right password and a wrong password.
    @Test(arguments: 0..<16) func `every combination of the four options has the documented effect`(
        bits: Int
    ) async throws {
        let names = ["tryFirstPass", "useFirstPass", "storePass", "clearPass"]
        let options = names.enumerated().filter { bits & 1 << $0.offset != 0 }.map(\.element)
        for stored in [nil, "right", "wrong!"] {
            let module = try PasswordModule("right", options)
            let afterLogin = CapturedValue<[String]>()
            let afterCommit = CapturedValue<[String]>()
            let witness = ScriptedModule(
                .run { attempt in
                    afterLogin.set(Self.describeShared(attempt))
                    return attempt.commit()
                },
                commit: .run { attempt in
                    afterCommit.set(Self.describeShared(attempt))
                    return .done
                }
            )
            let stack = stack(.optional(Self.store(stored)), .optional(module), .required(witness))
            _ = await stack.login(try request(), asking: RecordingConversation(password: "right"))
            let passes = options.contains("tryFirstPass") || !options.contains("useFirstPass") || stored == "right"
            let stores = options.contains("storePass") && passes && stored == nil
            let there = stored.map { ["password \($0.utf8.count)"] } ?? (stores ? ["name ann", "password 5"] : [])
            #expect(afterLogin.value == there, "\(options) \(stored ?? "-")")
            #expect(afterCommit.value == (options.contains("clearPass") ? [] : there), "\(options) \(stored ?? "-")")
        }
    }

    private static func describeShared(_ attempt: LoginAttempt) -> [String] {
        let shared = attempt.shared
        return [
            shared.text(.name).map { "name \($0)" }, shared.secret(.password).map { "password \($0.count)" },
        ].compactMap(\.self)
    }

    @Test func `a failed module leaves the shared password unchanged for the next module`() async throws {
        let first = try PasswordModule("right", ["storePass"])
        let failing = try PasswordModule("something else", ["useFirstPass", "clearPass"])
        let last = try PasswordModule("right", ["useFirstPass"])
        let conversation = RecordingConversation(password: "right")
        let stack = stack(.required(first), .optional(failing), .required(last))
        #expect(await stack.login(try request(), asking: conversation).identity != nil)
        #expect(conversation.questions.count == 1)
    }

    @Test func `clearPass also removes the shared password after a refused login`() async throws {
        let first = try PasswordModule("right", ["storePass", "clearPass"])
        let left = CapturedValue<[String]>()
        let last = ScriptedModule(
            .refuse(.permissionDenied),
            abort: .run { attempt in
                left.set(Self.describeShared(attempt))
                return .done
            }
        )
        _ = await stack(.required(first), .required(last)).login(
            try request(),
            asking: RecordingConversation(password: "right")
        )
        #expect(left.value == [])
    }

    @Test func `if the check of the stored password throws, no other password is requested`() async throws {
        let down = UnavailableModule(
            try FirstPass(ModuleOptions(["tryFirstPass": .boolean(true)], schema: .firstPass, realmName: "t"))
        )
        let conversation = RecordingConversation(password: "right")
        let report = await stack(.optional(Self.store("wrong!")), .required(down)).login(
            try request(),
            asking: conversation
        )
        #expect(report.refusal?.failure == .unavailable)
        #expect(conversation.questions == [])
    }

    private struct Town: Realm {
        static let properties: PropertySchema = []
        let jaasContext = "town"
        let authType = "town"

        init() {}
        init(_ properties: RealmProperties) throws(BadRealm) {}
    }

    /// A module that says nothing about shared passwords.
    private struct PlainModule: PasswordLoginModule {
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

        func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
            password.isEqual(to: Secret(utf8: "right")) ? attempt.commit() : .failed(.wrongCredentials)
        }
    }

    @Test func `a module that says nothing about shared passwords asks the user, and leaves the shared password`()
        async throws
    {
        let options = try ModuleOptions(schema: PlainModule.options, realmName: "town")
        let plain = try ModuleKind(PlainModule.self).makeModule(realm: Town(), options: options)
        for (stored, typed, accepts) in [("wrong!", "right", true), ("right", "wrong!", false)] {
            let left = CapturedValue<[String]>()
            let witness = ScriptedModule(
                .ignore,
                abort: .run { attempt in
                    left.set(Self.describeShared(attempt))
                    return .done
                }
            )
            let conversation = RecordingConversation(password: typed)
            let entries = stack(.optional(Self.store(stored)), .required(plain), .optional(witness))
            #expect((await entries.login(try request(), asking: conversation).identity != nil) == accepts)
            #expect(conversation.questions == [[.password(prompt: "Password")]])
            #expect(accepts || left.value == ["password \(stored.utf8.count)"])
        }
    }

    @Test(arguments: ["tryFirstPass", "useFirstPass", "storePass", "clearPass"])
    func `a configuration that shares a password with a module that shares none does not load`(option: String) throws {
        let kind = ModuleKind(PlainModule.self)
        func make(_ value: Bool) throws -> any LoginModule {
            let options = try ModuleOptions([option: .boolean(value)], schema: kind.options, realmName: "town")
            return try kind.makeModule(realm: Town(), options: options)
        }
        #expect(try #require(throws: BadModule.self) { try make(true) }.setting == option)
        #expect(throws: Never.self) { try make(false) }
    }

    private struct UnavailableModule: PasswordLoginModule {
        let firstPass: FirstPass

        init(_ firstPass: FirstPass) { self.firstPass = firstPass }
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
            throw BadModule("can be created only in code")
        }

        func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
            throw .unavailable("the directory is down")
        }
    }
}
