// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The run of a ``RealmBackEndConformance``: the realm, and everything that is observed while users log in.
struct ConformanceRun: Sendable {
    let test: RealmBackEndConformance
    let realm: BoundRealm
    let log: RecordingLog
    let throttle = RecordingThrottle()
    let secrets: SecretWatch
    private let authenticator: Authenticator
    /// A text that is part of every wrong password.
    let marker: String

    init(_ test: RealmBackEndConformance, realm: BoundRealm, log: RecordingLog) {
        self.test = test
        self.realm = realm
        self.log = log
        marker = RealmBackEndConformance.randomPassword()
        var search = SecretSearch()
        search.add("a wrong password", Array(marker.utf8))
        for user in test.users + test.rejectedUsers {
            guard let password = user.password, user.isSearchable else { continue }
            search.add("the password of \(user.username)", password)
        }
        secrets = SecretWatch(search)
        authenticator = Authenticator([realm], throttle: throttle)
    }

    func makeChecks(_ report: inout ConformanceReport) async {
        let isWatching = test.skipped[.processes] == nil
        let processes = ChildProcessWatch(secrets.search)
        let watch = isWatching ? Task { await processes.run() } : nil

        let baseline = await normalLogins()
        report.violations += baseline.prefix(10)
        if baseline.isEmpty {
            await make(.concurrency, into: &report) { await concurrency() }
            await make(.hostileInput, into: &report) { await hostileInput() }
            await make(.randomInput, into: &report) { await randomInput() }
            if test.users.contains(where: { $0.password != nil }) {
                await make(.locks, into: &report) { await locks() }
            }
            if await computesHashes() { await make(.equalWork, into: &report) { await equalWork() } }
            if test.skipped[.outages] == nil {
                await make(.outages, into: &report) { await outages() }
            }
            await makeHangChecks(&report)
        } else {
            report.violations.append("no further check is made, because the back end does not work without a fault")
        }
        processes.stop()
        await watch?.value
        if test.skipped[.secrets] == nil {
            for line in log.lines { secrets.examine(line, as: "a log line") }
            report.add(.secrets, logins: secrets.loginCount, violations: secrets.violations)
        }
        if isWatching {
            report.add(.processes, logins: secrets.loginCount, violations: processes.violations)
            report.measurements.append(processes.summary)
        }
    }

    private func make(
        _ check: RealmBackEndConformance.Check,
        into report: inout ConformanceReport,
        _ body: () async -> [String]
    ) async {
        guard test.skipped[check] == nil else { return }
        let before = secrets.loginCount
        let violations = await body()
        report.add(check, logins: secrets.loginCount - before, violations: violations)
    }

    // MARK: Logging in

    /// Logs in with all credentials at once; a report is nil if the login did not end within the deadline and the
    /// slack.
    func reports(of trials: [LoginTrial]) async -> [LoginReport?] {
        let journal = Journal<(index: Int, report: LoginReport)>()
        let tasks = trials.indices.map { index in
            Task { journal.add((index, await report(of: trials[index]))) }
        }
        let limit = RealTimeLimit(test.deadline + test.slack)
        if await !limit.wait(until: { journal.count >= trials.count }) { tasks.forEach { $0.cancel() } }
        var reports = [LoginReport?](repeating: nil, count: trials.count)
        for (index, report) in journal.entries {
            secrets.examine(report)
            reports[index] = report
        }
        return reports
    }

    /// Logs in with credentials, a few at a time, and returns the violations.
    func violations(of trials: [LoginTrial], atOnce: Int = 8) async -> [String] {
        var violations: [String] = []
        var rest = trials[...]
        while !rest.isEmpty, violations.count <= 20 {
            let some = Array(rest.prefix(atOnce))
            rest = rest.dropFirst(atOnce)
            violations += self.violations(of: some, reports: await reports(of: some))
        }
        return violations
    }

    func violations(of trials: [LoginTrial], reports: [LoginReport?]) -> [String] {
        zip(trials, reports).compactMap { trial, report in
            guard let report else {
                return "the login \(trial.label) does not end within \(test.deadline + test.slack)"
            }
            return trial.violation(report, realm: realm.realm)
        }
    }

    func report(of trial: LoginTrial) async -> LoginReport {
        let request = LoginRequest(realm: realm.name, username: trial.username, service: "conformance")
        do throws(RealmError) {
            return try await authenticator.login(request, asking: trial.conversation)
        } catch {
            preconditionFailure("the authenticator has a realm of this name")
        }
    }

    // MARK: Trials

    func username(_ text: String) -> Username? { try? Username(text) }

    func wrongPassword() -> [UInt8] { Array("wrong-\(marker)!".utf8) }

    func right(_ user: RealmBackEndConformance.User) -> LoginTrial? {
        let label = "of \(user.username) with the right credentials"
        return trial(label, of: user, certificate: user.certificate, expected: .accepted(user))
    }

    /// Returns a trial of a user who must be refused although the credentials are right.
    func rejected(_ user: RealmBackEndConformance.User) -> LoginTrial? {
        let label = "of the rejected user \(user.username) with the right credentials"
        return trial(label, of: user, certificate: user.certificate, expected: .refused)
    }

    /// Returns a trial with a wrong password; without the certificate if the user has no password.
    func wrong(
        _ user: RealmBackEndConformance.User,
        password: [UInt8]? = nil,
        what: String = "a wrong password"
    ) -> LoginTrial? {
        trial(
            "of \(user.username) with \(what)",
            of: user,
            password: password ?? wrongPassword(),
            certificate: user.password == nil ? nil : user.certificate,
            expected: test.isPasswordless ? .accepted(user) : .refused
        )
    }

    func unknown(_ text: String, password: [UInt8]? = nil) -> LoginTrial? {
        username(text).map { name in
            LoginTrial(label: "of the unknown user \(text)", username: name, password: password ?? wrongPassword())
        }
    }

    private func trial(
        _ label: String,
        of user: RealmBackEndConformance.User,
        password: [UInt8]? = nil,
        certificate: [UInt8]?,
        expected: LoginTrial.Expectation
    ) -> LoginTrial? {
        username(user.username).map { name in
            LoginTrial(
                label: label,
                username: name,
                password: password ?? user.password,
                certificate: certificate,
                expected: expected
            )
        }
    }

    /// One trial of each kind for every user.
    func everyKind() -> [LoginTrial] {
        let right = test.users.compactMap { self.right($0) }
        let wrong = test.users.compactMap { self.wrong($0) }
        let rejected = test.rejectedUsers.compactMap { self.rejected($0) }
        let unknown = test.unknownUsers.compactMap { self.unknown($0) }
        return right + wrong + rejected + unknown
    }

    /// One trial of each kind for every user, for a time when no login can be decided.
    ///
    /// Logins without a certificate are left out if users have nothing else: a realm may refuse them without its back
    /// end.
    func everyKindDuringOutage() -> [LoginTrial] {
        let needsCertificate = !test.isPasswordless && test.users.allSatisfy { $0.password == nil }
        return everyKind().filter { !needsCertificate || $0.certificate != nil }.map { trial in
            var trial = trial
            trial.expected = .unavailable
            return trial
        }
    }

    /// Logs in with credentials of every kind while the back end works.
    func normalLogins(_ when: String = "") async -> [String] {
        let before = throttle.countedFailures.count
        let trials = everyKind()
        // One at a time, so that a defect of concurrent logins is found by the check of concurrency.
        var violations = await violations(of: trials, atOnce: 1).map { when.isEmpty ? $0 : "\(when): \($0)" }
        // Otherwise the check that an outage counts no attempt could not fail.
        let isCounted = throttle.countedFailures.count > before
        let mustCount = trials.contains { $0.expected.isRefused && $0.password != nil }
        if violations.isEmpty, mustCount, !isCounted {
            violations.append("a wrong password does not count as an attempt")
        }
        return violations
    }
}
