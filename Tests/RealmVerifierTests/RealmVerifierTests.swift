// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import LoginConf
import RealmConfiguration
import RealmKit
import Sessions
import Synchronization
import TestTools
import Testing

@testable import RealmVerifier

@Suite struct RealmVerifierTests {
    private let log = LogLines()
    private let right = Secret(utf8: "right")

    /// A verifier for the realm `team`, whose user `ann` has the password `right`.
    private func team() async throws -> RealmVerifier {
        try await RealmVerifier(logger: log.logger) {
            RealmDefinition("team") { name, password in
                if name == "broken" { throw LoginFault.unavailable("the table is locked") }
                return name == "ann" && password.isEqual(to: Secret(utf8: "right")) ? ["Staff"] : nil
            }
        }
    }

    @Test func `a closure decides, and accepted, refused and unavailable are told apart`() async throws {
        let verifier = try await team()
        let user = await verifier.verify("ann", password: right, service: "mail", peer: "192.0.2.1").user
        #expect(user?.username.text == "ann" && user?.realm == "team" && user?.groups == ["Staff"])
        guard case .refused = await verifier.verify("ann", password: Secret(utf8: "wrong")),
            case .refused = await verifier.verify("", password: right),
            case .unavailable = await verifier.verify("broken", password: right),
            case .unavailable = await verifier.verify("ann", password: right, in: ["nowhere"])
        else { return #expect(Bool(false), "\(log.all)") }
        #expect(
            log.all == [
                #"info a login was accepted peer="192.0.2.1" realm="team" service="mail" user="ann""#,
                #"info a login was refused: wrong-credentials module=0 phase=login answers="team-password=wrong-credentials" peer="-" realm="team" service="login" user="ann""#,
                #"info a login was refused: not a user name, or too long peer="-" realm="team" service="login" user="""#,
                #"info a login was refused: unavailable module=0 phase=login "the table is locked" answers="team-password=unavailable" peer="-" realm="team" service="login" user="broken""#,
                #"error a login could not be decided: "there is no realm nowhere""#,
            ]
        )
    }

    @Test func `a name in the log cannot forge a line or a field`() async throws {
        let verifier = try await team()
        _ = await verifier.verify("ann\" realm=\"x\u{2028}", password: right)
        _ = await verifier.verify("\u{E9}\" realm=\"x", password: right)
        _ = await verifier.verify(String(repeating: "a", count: 1_000_000), password: right)
        for line in log.all {
            #expect(!line.contains("\n") && !line.contains(#" realm="x"#) && line.utf8.count < 2000, "\(line)")
        }
        #expect(log.all.count == 3)
    }

    @Test(arguments: [
        ("login", ""), ("login", "ipv4:192.0.2.1"), ("login", "host.example"), ("login", "host.example:80"),
        ("a\nb", "192.0.2.1"), ("", "192.0.2.1"), ("..", "192.0.2.1"), ("a\0b", "192.0.2.1"),
    ])
    func `a service or an address that a program must not give makes every login unavailable`(
        service: String,
        peer: String
    )
        async throws
    {
        let verifier = try await team()
        guard case .unavailable = await verifier.verify("ann", password: right, service: service, peer: peer) else {
            return #expect(Bool(false))
        }
        #expect(log.count(containing: "error a login could not be decided") == 1)
    }

    @Test func `all spellings of an address are one address`() async throws {
        let verifier = try await team()
        _ = await verifier.verify("ben", password: right, peer: "2001:DB8:0::1")
        _ = await verifier.verify("ben", password: right, peer: "::ffff:192.0.2.1")
        #expect(log.count(containing: #"peer="2001:db8::1""#) == 1 && log.count(containing: #"peer="192.0.2.1""#) == 1)
    }

    @Test func `a longer password than 64 KiB is refused without a check`() async throws {
        let verifier = try await team()
        #expect(await verifier.verify("ann", password: Secret([UInt8](repeating: 0x61, count: 65_537))).user == nil)
        #expect(log.count(containing: "or too long") == 1)
    }

    @Test func `the name of a realm in code cannot add a module, and needs no quotes`() async throws {
        let names = ["PermitLoginModule sufficient; x", "2fa", "a b", "people@example.com", "x\" }", "other", "a\\b"]
        let verifier = try await RealmVerifier(settings: "throttle { delay 0s; } # a comment", logger: log.logger) {
            for name in names {
                RealmDefinition(name) { _, password in password.isEqual(to: Secret(utf8: "right")) ? [] : nil }
            }
        }
        for name in names {
            #expect(await verifier.verify("ann", password: right, in: [name]).user?.realm == name)
            #expect(await verifier.verify("ann", password: Secret(utf8: "wrong"), in: [name]).user == nil)
        }
    }

    @Test func `while a realm is unavailable, the next one decides only if the program says so`() async throws {
        let verifier = try await RealmVerifier(logger: log.logger) {
            RealmDefinition("down") { _, _ in throw LoginFault.unavailable("down") }
            RealmDefinition("up") { _, _ in [] }
        }
        guard case .unavailable = await verifier.verify("ann", password: right, in: ["down", "up"]) else {
            return #expect(Bool(false))
        }
        let user = await verifier.verify("ann", password: right, in: ["down", "up"], whenUnavailable: .continue).user
        #expect(user?.realm == "up")
    }

    @Test func `accepted credentials are cached for their name, password, service, realms and peer only`() async throws
    {
        let calls = Mutex(0)
        let verifier = try await RealmVerifier(logger: log.logger) {
            RealmDefinition("a") { name, password in
                calls.withLock { $0 += 1 }
                return ["a"]
            }
            RealmDefinition("b") { _, _ in
                calls.withLock { $0 += 1 }
                return ["b"]
            }
        }
        func groups(
            _ name: String,
            _ password: String,
            in realms: [String]? = nil,
            service: String = "s",
            peer: String? = "192.0.2.1"
        )
            async -> [String]?
        {
            await verifier.verify(name, password: Secret(utf8: password), in: realms, service: service, peer: peer)
                .user?.groups
        }
        for _ in 0..<3 { #expect(await groups("x", "p") == ["a"]) }
        #expect(calls.withLock { $0 } == 1)
        #expect(await groups("x", "p", in: ["b"]) == ["b"])
        #expect(await groups("x", "p", in: ["b", "a"]) == ["b"])
        // The colon that separates the two in HTTP Basic means nothing here.
        for (name, password) in [("x:y", "z"), ("x", "y:z"), ("x", "q")] { _ = await groups(name, password) }
        _ = await groups("x", "p", service: "t")
        _ = await groups("x", "p", peer: nil)
        #expect(calls.withLock { $0 } == 8)
    }

    @Test func `further questions are answered one after the other, and never cached`() async throws {
        let verifier = try await RealmVerifier(kinds: [CodeRealm.kind], logger: log.logger) {
            RealmDefinition("code", class: "CodeRealm")
        }
        for _ in 0..<2 {
            guard case .questions(let questions) = await verifier.verify("ann", password: right) else {
                return #expect(Bool(false), "\(log.all)")
            }
            #expect(questions.callbacks == [.oneTimeCode(prompt: "One-time code")])
            // Answers that do not fit change nothing.
            guard case .questions = await questions.answer([]) else { return #expect(Bool(false)) }
            let result = await questions.answer([.secret(Secret(utf8: "123456"))])
            #expect(result.user?.groups == ["Staff"])
            guard case .refused = await questions.answer([.secret(Secret(utf8: "123456"))]) else {
                return #expect(Bool(false), "an answered question was answered again")
            }
        }
        #expect(log.count(containing: "a login was accepted") == 2)
    }

    @Test func `a login whose questions are dropped fails, and counts as a guess`() async throws {
        let verifier = try await RealmVerifier(
            kinds: [CodeRealm.kind],
            settings: "throttle { delay 0s; }",
            logger: log.logger
        ) {
            RealmDefinition("code", class: "CodeRealm")
        }
        for _ in 0..<10 { _ = await verifier.verify("ann", password: right, peer: "192.0.2.1") }
        try await Waiting.until { log.count(containing: "locked after 10 failures") > 0 }
        guard case .refused = await verifier.verify("ann", password: right) else {
            return #expect(Bool(false), "a locked account was asked for a code")
        }
        #expect(log.count(containing: "a login was refused: locked") == 1)
    }

    @Test func `a login whose questions are cancelled ends at once, as the failed login that it counted as`()
        async throws
    {
        let verifier = try await RealmVerifier(
            kinds: [CodeRealm.kind],
            settings: "throttle { delay 0s; failures 3; }",
            logger: log.logger
        ) {
            RealmDefinition("code", class: "CodeRealm")
        }
        for number in 1...3 {
            guard case .questions(let questions) = await verifier.verify("ann", password: right, peer: "192.0.2.1")
            else {
                return #expect(Bool(false), "\(log.all)")
            }
            #expect(verifier.openLogins.count == 1)
            questions.cancel()
            questions.cancel()
            #expect(verifier.openLogins.count == 0)
            guard case .refused = await questions.answer([.secret(Secret(utf8: "123456"))]) else {
                return #expect(Bool(false), "a cancelled login was answered")
            }
            #expect(log.count(containing: "a login was refused: wrong-credentials") == number)
            #expect(log.count(containing: "locked after 3 failures") == (number == 3 ? 1 : 0))
        }
        #expect(log.count(containing: "a login was accepted") == 0)
    }

    @Test func `a login that has ended is not undone by a cancellation of its questions`() async throws {
        let verifier = try await RealmVerifier(kinds: [CodeRealm.kind], logger: log.logger) {
            RealmDefinition("code", class: "CodeRealm")
        }
        guard case .questions(let questions) = await verifier.verify("ann", password: right) else {
            return #expect(Bool(false), "\(log.all)")
        }
        #expect(await questions.answer([.secret(Secret(utf8: "123456"))]).user != nil)
        questions.cancel()
        #expect(log.all.count == 1 && log.count(containing: "a login was accepted") == 1)
    }

    @Test func `a user who has changed while a question was open is refused`() async throws {
        let verifier = try await RealmVerifier(kinds: [CodeRealm.kind], logger: log.logger) {
            RealmDefinition("code", class: "CodeRealm", ["id": "changing"])
        }
        guard case .questions(let questions) = await verifier.verify("ann", password: right),
            case .questions(let other) = await verifier.verify("ben", password: right)
        else { return #expect(Bool(false)) }
        CodeRealm.changed.withLock { $0["changing"] = [try? Username("ann")].compactMap { $0 } }
        guard case .refused = await questions.answer([.secret(Secret(utf8: "123456"))]) else {
            return #expect(Bool(false), "the changed user was accepted")
        }
        #expect(await other.answer([.secret(Secret(utf8: "123456"))]).user?.username.text == "ben")
        #expect(log.count(containing: "has changed since it began") == 1)
    }

    @Test func `a login that waits during a reload is accepted only if its realm is the same`() async throws {
        let folder = try ProgramFolder()
        func text(_ group: String) -> String {
            "server { state \(folder.file("var")); } default-realm r; realm r { class CodeRealm; assign-groups \(group); } "
                + "login code { CodeLoginModule required; }"
        }
        let path = try folder.write(text("A"), to: "realms.conf")
        let verifier = try await RealmVerifier(path, kinds: [CodeRealm.kind], logger: log.logger)
        for (group, isAccepted) in [("A", true), ("B", false)] {
            guard case .questions(let questions) = await verifier.verify("ann", password: right) else {
                return #expect(Bool(false), "\(log.all)")
            }
            try folder.write(text(group), to: "realms.conf")
            try await verifier.reload()
            let user = await questions.answer([.secret(Secret(utf8: "123456"))]).user
            #expect((user != nil) == isAccepted)
        }
    }

    @Test func `the oldest login of a network ends if too many of it wait, and other networks keep theirs`()
        async throws
    {
        let verifier = try await RealmVerifier(
            kinds: [CodeRealm.kind],
            settings: "throttle { delay 0s; source-failures 0; }",
            logger: log.logger
        ) {
            RealmDefinition("code", class: "CodeRealm")
        }
        var waiting: [FurtherQuestions] = []
        for number in 0...101 {
            let peer = number == 0 ? "192.0.2.1" : "198.51.100.1"
            guard case .questions(let questions) = await verifier.verify("user\(number)", password: right, peer: peer)
            else {
                return #expect(Bool(false), "\(number): \(log.all.last ?? "")")
            }
            waiting.append(questions)
        }
        let code = [Answer.secret(Secret(utf8: "123456"))]
        #expect(await waiting[1].answer(code).user == nil)
        for number in [0, 2, 101] { #expect(await waiting[number].answer(code).user != nil, "\(number)") }
    }

    @Test func `a verifier that is released releases its realms`() async throws {
        final class Counter: Sendable {}
        weak var released: Counter?
        try await { () async throws in
            let counter = Counter()
            released = counter
            let verifier = try await RealmVerifier(logger: log.logger) {
                RealmDefinition("team") { _, _ in withExtendedLifetime(counter) { [] } }
            }
            _ = await verifier.verify("ann", password: right)
        }()
        // A task of the login may end a moment after the answer.
        try await Waiting.until { released == nil }
    }

    @Test func `errors of realms in code show the statement`() async throws {
        do throws(ConfigurationErrors) {
            _ = try await RealmVerifier(kinds: builtInRealms, logger: log.logger) {
                RealmDefinition("people", class: "StartWithRealm", ["startWit": "z"])
                RealmDefinition("both", class: "StackRealm", modules: ["PermitLoginModul required"])
                RealmDefinition("store", class: "StoreRealm")
            }
            #expect(Bool(false), "there are errors")
        } catch {
            for text in [error.description, error.logText] {
                for part in [
                    "did you mean startWith?", "did you mean PermitLoginModule?", "this program has no store",
                    "startWit ...", "PermitLoginModul ...",
                ] {
                    #expect(text.contains(part), "\(text)")
                }
                // There is no file with such a line.
                #expect(!text.contains(#/realms in code:[0-9]/#), "\(text)")
            }
            #expect(error.logText.split(separator: "\n").count == error.diagnostics.count)
        }
    }

    @Test func `errors of realms in code show no secret`() async throws {
        do throws(ConfigurationErrors) {
            _ = try await RealmVerifier(kinds: builtInRealms, logger: log.logger) {
                RealmDefinition(
                    "staff",
                    class: "RemoteRealm",
                    ["url": "https://127.0.0.1/", "tokn": "violet", "token": "violet", "timeout": "soon"]
                )
            }
            #expect(Bool(false), "there are errors")
        } catch {
            #expect(error.logText.contains("timeout soon"), "\(error.logText)")
            #expect(!error.description.contains("violet") && !error.logText.contains("violet"), "\(error)")
        }
    }

    @Test func `the locks of a state folder outlive a program, which uses the folder alone`() async throws {
        let folder = try ProgramFolder()
        let path = folder.file("state")
        func verifier() async throws -> RealmVerifier {
            try await RealmVerifier(
                kinds: builtInRealms,
                stateFolder: path,
                settings: "throttle { delay 0s; }",
                logger: log.logger
            ) {
                RealmDefinition("team") { _, password in password.isEqual(to: Secret(utf8: "right")) ? [] : nil }
            }
        }
        try await { () async throws in
            let first = try await verifier()
            let running = Task { await first.run() }
            for number in 0..<10 { _ = await first.verify("ann", password: Secret(utf8: "\(number)")) }
            await #expect(throws: ConfigurationErrors.self) { _ = try await verifier() }
            running.cancel()
            await running.value
        }()
        let second = try await verifier()
        #expect(await second.verify("ann", password: right).user == nil)
        #expect(await second.verify("ben", password: right).user != nil)
        #expect(log.count(containing: "locked after") == 1)
    }

    @Test func `a reload with an error changes nothing, and one without checks cached credentials anew`() async throws {
        let folder = try ProgramFolder()
        let head = "server { state \(folder.file("var")); } default-realm r;\n"
        let path = try folder.write(
            head + "realm r { class StartWithRealm; jaas-context c; }\nlogin c { StartWithLoginModule required; }",
            to: "realms.conf"
        )
        let verifier = try await RealmVerifier(path, kinds: realmsWithoutStoreForTests, logger: log.logger)
        #expect(await verifier.verify("zed", password: right).user?.groups == ["User"])
        try folder.write(head + "realm r { class StartWithRealm; startWith", to: "realms.conf")
        await #expect(throws: ConfigurationErrors.self) { try await verifier.reload() }
        #expect(await verifier.verify("zed", password: right).user != nil)
        try folder.write(
            head
                + "realm r { class StartWithRealm; startWith a; jaas-context c; }\nlogin c { StartWithLoginModule required; }",
            to: "realms.conf"
        )
        try await verifier.reload()
        #expect(await verifier.verify("zed", password: right).user == nil)
        #expect(await verifier.verify("ann", password: right).user != nil)
    }

    @Test func `one service runs a verifier`() async throws {
        let verifier = try await team()
        let first = Task { await verifier.run() }
        try await Waiting.until {
            let second = log.count(containing: "runs as one service only")
            if second == 0 { Task { await verifier.run() } }
            return second > 0
        }
        first.cancel()
        await first.value
    }

    private var realmsWithoutStoreForTests: [RealmKind] { builtInRealms.filter { $0.state == nil } }
}
