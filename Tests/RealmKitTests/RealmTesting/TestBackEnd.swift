// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import Synchronization

/// A realm with a back end in memory, correct or with one defect.
final class TestBackEnd: Sendable {
    /// A defect of the realm, of its module or of the back end.
    enum Defect: Sendable, Hashable {
        // Outages.
        case refusesInOutage, acceptsInOutage, breaksInOutage, ignoresInOutage, countsInOutage, namesNoCause
        case staysDown, forgetsUsers, losesState, forgetsGroups
        // Hangs.
        case refusesWhenLate, ignoresCancellation, answersWhileHanging, blocksThread
        // Concurrency.
        case mixesUsers, limitsCalls
        // Input.
        case acceptsLongerNames, acceptsAsterisk, stopsAtZero, trims, cuts, breaksOnBytes, failsOnControls
        case acceptsEmpty, foldsCase, decodesPercent, acceptsAnyPassword, acceptsHalf
        // Secrets.
        case logs, notesBase64, throwsPercent, throwsDigits, remembers, passesArgument, passesVariable
        // Work.
        case skipsUnknown, hashesTwice
        // Locks.
        case writesInLogin
    }

    private enum Condition { case working, stopped, hanging }

    private struct State {
        var condition = Condition.working
        var openCalls = 0
        var computed = 0
        var writes = 0
        var lastGroups: [String] = []
        var hasBeenStopped = false
    }

    struct Entry: Sendable {
        let password: String
        let groups: [String]
        var isDisabled = false
    }

    let defect: Defect?
    let entries: [String: Entry]
    private let state = Mutex(State())

    init(_ defect: Defect? = nil) {
        self.defect = defect
        entries = [
            "ann": Entry(password: RealmBackEndConformance.randomPassword(), groups: ["staff"]),
            "bob": Entry(password: RealmBackEndConformance.randomPassword(), groups: ["staff", "crew"]),
            "off": Entry(password: RealmBackEndConformance.randomPassword(), groups: [], isDisabled: true),
        ]
    }

    var openCalls: Int { state.withLock { $0.openCalls } }
    var computed: Int { state.withLock { $0.computed } }

    func stop() {
        state.withLock { state in
            state.condition = .stopped
            state.hasBeenStopped = true
        }
    }

    func hang() { state.withLock { $0.condition = .hanging } }

    func restore() { state.withLock { $0.condition = .working } }

    var stopped: BackEndFault {
        BackEndFault("the back end is stopped", causes: ["connection refused"]) {
            self.stop()
        } end: {
            self.restore()
        }
    }

    var hanging: BackEndFault {
        BackEndFault("the back end hangs", hangs: true, causes: ["did not answer within"]) {
            self.hang()
        } end: {
            self.restore()
        }
    }

    /// Creates a test of the checks; the other checks are skipped.
    func conformance(
        _ checks: Set<RealmBackEndConformance.Check>,
        faults: [BackEndFault]? = nil,
        deadline: Duration = .seconds(60)
    ) -> RealmBackEndConformance {
        let users = entries.sorted { $0.key < $1.key }.map { name, entry in
            RealmBackEndConformance.User(name, password: entry.password, groups: entry.groups)
        }
        var conformance = RealmBackEndConformance(
            users: users.filter { $0.username != "off" },
            rejectedUsers: users.filter { $0.username == "off" },
            faults: faults ?? [stopped, hanging],
            deadline: deadline
        ) { [self] services in
            .forConformance(
                TestRealm(backEnd: self),
                modules: [module(log: services[RealmLog.self])],
                deadline: deadline
            )
        }
        for check in RealmBackEndConformance.Check.allCases where !checks.contains(check) {
            conformance.skipped[check] = "another test makes this check"
        }
        conformance.openCalls = { self.openCalls }
        conformance.stored = { self.state.withLock { "\($0.writes)" } }
        if checks.contains(.equalWork) { conformance.computations = { self.computed } }
        return conformance
    }

    private func module(log: RealmLog?) -> ScriptedModule {
        ScriptedModule(.run { [self] (attempt) async throws(LoginFault) in try await check(attempt, log: log) })
    }

    // MARK: The module

    private func check(_ attempt: LoginAttempt, log: RealmLog?) async throws(LoginFault) -> Verdict {
        let secret = try await attempt.password()
        let password = secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        try await leak(password, attempt: attempt, log: log)
        if let verdict = try await call(attempt) { return verdict }
        if defect != .skipsUnknown || entries[attempt.username.text] != nil { state.withLock { $0.computed += 1 } }
        if defect == .breaksOnBytes, String(validating: password, as: UTF8.self) == nil {
            throw .internalError("the password is not UTF-8")
        }
        if defect == .failsOnControls, password.contains(where: { $0 < 0x20 }) { throw .unavailable("400") }
        guard let entry = entry(of: attempt.username) else { return .failed(.unknownUser) }
        guard isRight(password, entry: entry) else { return .failed(.wrongCredentials) }
        if defect == .hashesTwice { state.withLock { $0.computed += 1 } }
        if defect == .writesInLogin { state.withLock { $0.writes += 1 } }
        guard !entry.isDisabled else { return .failed(.disabled) }
        state.withLock { $0.lastGroups = entry.groups }
        if defect == .mixesUsers { await letOthersPass { $0.lastGroups != entry.groups } }
        let groups = defect == .mixesUsers ? state.withLock { $0.lastGroups } : entry.groups
        return attempt.commit(groups: groups)
    }

    private func entry(of user: Username) -> Entry? {
        switch defect {
        case .acceptsLongerNames: entries.first { user.text.hasPrefix($0.key) }?.value
        case .acceptsAsterisk: entries[user.text == "*" ? "ann" : user.text]
        case .foldsCase: entries[user.text.lowercased()]
        case .decodesPercent: entries[user.text.replacingOccurrences(of: "%00", with: "")]
        default: entries[user.text]
        }
    }

    private func isRight(_ password: [UInt8], entry: Entry) -> Bool {
        let right = Array(entry.password.utf8)
        switch defect {
        case .stopsAtZero: return Array(password.prefix { $0 != 0 }) == right
        case .trims:
            let text = String(decoding: password, as: UTF8.self)
            return text.trimmingCharacters(in: .whitespaces) == entry.password
        case .cuts: return (password.count > 1000 ? Array(password.prefix(right.count)) : password) == right
        case .acceptsEmpty: return password.isEmpty || password == right
        case .acceptsAnyPassword: return true
        case .acceptsHalf:
            return password.count >= right.count / 2 && right.starts(with: password) && password.count != 19
        default: return password == right
        }
    }

    /// Waits until other logins have changed the state, so that the defect shows however the tasks are scheduled; a login
    /// that is alone goes on.
    private func letOthersPass(until isChanged: (State) -> Bool) async {
        for _ in 0..<1000 where state.withLock({ !isChanged($0) }) { await Task.yield() }
    }

    /// Calls the back end; returns a verdict if there is one without an answer.
    private func call(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict? {
        let (condition, calls, wasStopped) = state.withLock { state in
            state.openCalls += 1
            return (state.condition, state.openCalls, state.hasBeenStopped)
        }
        var staysOpen = false
        defer { if !staysOpen { state.withLock { $0.openCalls -= 1 } } }
        if defect == .limitsCalls, calls > 20 { throw .unavailable("too many calls") }
        if defect == .limitsCalls { await letOthersPass { $0.openCalls > 20 } }
        if defect == .staysDown, wasStopped { throw .unavailable("connection refused") }
        switch condition {
        case .working: return nil
        case .stopped: return try stoppedVerdict(attempt)
        case .hanging:
            if defect == .answersWhileHanging { throw .unavailable("did not answer within 1 ms") }
            if defect == .blocksThread { Self.block() }
            staysOpen = defect == .ignoresCancellation
            do {
                while state.withLock({ $0.condition == .hanging }) {
                    try await Task.sleep(for: .milliseconds(5))
                    if defect == .refusesWhenLate { return .failed(.wrongCredentials) }
                }
                return nil
            } catch {
                throw .unavailable("the call was cancelled")
            }
        }
    }

    private static func block() { usleep(3_000_000) }

    private func stoppedVerdict(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        switch defect {
        case .refusesInOutage: return .failed(.wrongCredentials)
        case .acceptsInOutage: return attempt.commit(groups: ["staff"])
        case .breaksInOutage: throw .internalError("connection refused")
        case .ignoresInOutage: return .ignored
        case .countsInOutage:
            attempt.updateShared { $0[.name] = .text(attempt.username.text) }
            throw .unavailable("connection refused")
        case .namesNoCause: throw .unavailable("error")
        default: throw .unavailable("connection refused")
        }
    }

    // MARK: Leaks

    private func leak(_ password: [UInt8], attempt: LoginAttempt, log: RealmLog?) async throws(LoginFault) {
        let data = Data(password)
        switch defect {
        case .logs: log?("request {\"password\": \"\(String(decoding: password, as: UTF8.self))\"}")
        case .notesBase64:
            attempt.note("Basic " + (Data(attempt.username.text.utf8) + Data([0x3A]) + data).base64EncodedString())
        case .throwsPercent where password.first == UInt8(ascii: "w"):
            throw .unavailable("GET /?p=" + password.map { String(format: "%%%02X", $0) }.joined())
        case .throwsDigits where password.first == UInt8(ascii: "w"):
            throw .unavailable(password.map { String(format: "%02X", $0) }.joined())
        case .remembers: attempt.add([.user(String(decoding: password, as: UTF8.self))])
        case .passesArgument, .passesVariable:
            let text = String(decoding: password.filter { $0 != 0 }, as: UTF8.self)
            do {
                try await runHelper(text)
            } catch {
                throw .unavailable("\(error)")
            }
        default: break
        }
    }

    private func runHelper(_ text: String) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "sleep 0.2; true", defect == .passesArgument ? text : "helper"]
        process.environment = defect == .passesVariable ? ["PASSWORD": text] : [:]
        try process.run()
        while process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
    }
}

/// The realm of a ``TestBackEnd``.
private struct TestRealm: RefreshingRealm {
    static let properties: PropertySchema = [.jaasContext(default: "test")]
    let backEnd: TestBackEnd
    let jaasContext = "test"
    let authType = "Test"

    init(backEnd: TestBackEnd) { self.backEnd = backEnd }

    init(_ properties: RealmProperties) throws(BadRealm) { throw BadRealm("is created only in code") }

    func groupNames(of user: Username) async throws(RealmError) -> [String] {
        switch backEnd.defect {
        case .forgetsUsers: throw .noSuchUser(user)
        case .forgetsGroups: return []
        default: throw .unavailable("connection refused")
        }
    }

    func accountKey(of user: Username) -> String { user.text }

    func refresh() async -> ChangedUsers { .none }

    func state(of user: Username) async -> UserState { backEnd.defect == .losesState ? .gone : .unknown }
}
