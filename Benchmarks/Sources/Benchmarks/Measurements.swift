// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import Logging
import LoginConf
import RealmConfiguration
import RealmKit
import RealmVerifier

enum Measurements {
    static let names = [
        ("login, 1 module", "M/s"), ("login, 4 modules", "M/s"), ("login, 1 module, refused", "M/s"),
        ("login, 1 module, durations", "M/s"), ("login in a task, 1 module", "M/s"), ("login, 1 waiting module", "M/s"),
        ("verify, 1 module", "M/s"), ("verify, remembered", "M/s"), ("parse login.conf", "MB/s"),
    ]

    static func all() async throws -> [(String, Double)] {
        let zed = try Username("zed")
        let bob = try Username("bob")
        let one = try stack(1)
        let four = try stack(4)
        let waiting = try waitingStack()
        let (immediate, password) = (try await verifier(), Secret(utf8: "secret"))
        func verify(_ verifier: RealmVerifier, caching: Bool) async -> Bool {
            await verifier.verify("zed", password: password, peer: "192.0.2.1", caching: caching).user != nil
        }
        let silent = PreparedConversation.silent
        func request(_ user: Username) -> LoginRequest {
            LoginRequest(realm: "xtech", username: user, service: "benchmark", peer: nil)
        }
        // The JDK does not measure durations.
        func now(_ stack: LoginStack, _ user: Username) -> LoginReport? {
            stack.loginNow(request(user), measuringDurations: false)
        }
        func inTask(_ user: Username) async -> LoginReport {
            await one.login(request(user), asking: silent, measuringDurations: false)
        }
        return [
            ("login, 1 module", rate(1_000_000) { now(one, zed)?.identity != nil }),
            ("login, 4 modules", rate(300_000) { now(four, zed)?.identity != nil }),
            ("login, 1 module, refused", rate(1_000_000) { now(one, bob)?.refusal != nil }),
            ("login, 1 module, durations", rate(1_000_000) { one.loginNow(request(zed))?.identity != nil }),
            ("login in a task, 1 module", await rate(1_000_000) { await inTask(zed).identity != nil }),
            (
                "login, 1 waiting module",
                await rate(20_000) { await waiting.login(request(zed), asking: silent).identity != nil }
            ),
            ("verify, 1 module", await rate(300_000) { await verify(immediate, caching: false) }),
            ("verify, remembered", await rate(300_000) { await verify(immediate, caching: true) }),
            ("parse login.conf", parse()),
        ]
    }

    /// The same module behind a `RealmVerifier`, with its lock-out, its cache and no log.
    private static func verifier() async throws -> RealmVerifier {
        let logger = Logger(label: "none") { _ in SwiftLogNoOpLogHandler() }
        return try await RealmVerifier(kinds: builtInRealms, logger: logger) {
            RealmDefinition("xtech", class: "StartWithRealm")
        }
    }

    private static func rate(_ count: Int, _ body: () -> Bool) -> Double {
        let begin = cpuTime()
        for _ in 0..<count where !body() { fatalError("a login that must succeed did not") }
        return Double(count) / (cpuTime() - begin) / 1e6
    }

    private static func rate(_ count: Int, _ body: () async -> Bool) async -> Double {
        let begin = cpuTime()
        for _ in 0..<count {
            guard await body() else { fatalError("a login that must succeed did not") }
        }
        return Double(count) / (cpuTime() - begin) / 1e6
    }

    /// Returns the processor time of this process in seconds.
    ///
    /// Only the measuring thread is busy.
    private static func cpuTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func stack(_ count: Int) throws -> LoginStack {
        try stack("StartWithRealm", "StartWithLoginModule", count)
    }

    private static func waitingStack() throws -> LoginStack {
        try stack("StackRealm", "ScriptedLoginModule", 1)
    }

    private static func stack(_ realm: String, _ module: String, _ count: Int) throws -> LoginStack {
        let modules = String(repeating: "\(module) required; ", count: count)
        let text = "login x { \(modules) } realm xtech { class \(realm); jaas-context x; }"
        let files = ConfigurationFiles(
            read: { _ in .success(Array(text.utf8)) },
            environment: { _ in nil }
        )
        let loader = ConfigurationLoader(builtInRealms, files: files, clock: SystemClock())
        return try loader.load("realms.conf").authenticator.realm("xtech").stack
    }

    private static func parse() -> Double {
        let text = SourceText(name: "login.conf", bytes: Array(sampleText.utf8))
        let count = 2000
        let begin = cpuTime()
        for _ in 0..<count {
            guard LoginConf.parse(text, expansion: .none).value?.entries.count == 200 else { fatalError("not parsed") }
        }
        return Double(count * text.bytes.count) / (cpuTime() - begin) / 1e6
    }

    /// 200 login contexts in about 20 kB.
    static let sampleText: String = (0..<200).map { number in
        "app\(number) {\n    com.example.auth.StartWithLoginModule required debug=\"true\" url=\"ldap://host:389/dc=example\";\n};\n"
    }.joined()
}
