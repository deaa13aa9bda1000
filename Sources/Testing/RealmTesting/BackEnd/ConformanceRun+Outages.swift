// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

extension ConformanceRun {
    func outages() async -> [String] {
        var violations: [String] = []
        for fault in test.faults {
            let lines = log.lines.count
            let begun = await during(fault) {
                let (found, faults) = await logins(during: fault)
                var all = found
                let seen = log.lines.dropFirst(lines) + faults
                if !seen.contains(where: { line in fault.causes.contains { line.utf8.firstRange(of: $0.utf8) != nil } })
                {
                    all.append(
                        "no log line and no fault names the cause, with one of \(fault.causes); they are: "
                            + "\(seen.prefix(5).map { String($0.prefix(200)) })"
                    )
                }
                return all
            }
            violations += begun.map { "while \(fault.name): \($0)" }
            violations += await recovery(after: fault)
        }
        return violations
    }

    func during(_ fault: BackEndFault, _ check: () async -> [String]) async -> [String] {
        do {
            try await fault.begin()
        } catch {
            return ["the fault cannot be caused: \(error)"]
        }
        var violations = await check()
        do {
            try await fault.end()
        } catch {
            violations.append("the back end cannot be restored: \(error)")
        }
        return violations
    }

    private func logins(during fault: BackEndFault) async -> (violations: [String], faults: [String]) {
        let counted = throttle.countedFailures.count
        let trials = fault.effect == .unavailable ? everyKindDuringOutage() : everyKind()
        // All at once, so that a fault that hangs takes one deadline. For other faults then one more, because a realm may
        // treat the first logins after a fault in another way.
        let reports = await reports(of: trials)
        var violations = violations(of: trials, reports: reports)
        let more = Array(trials.prefix(fault.hangs ? 0 : 1))
        let again = await self.reports(of: more)
        violations += self.violations(of: more, reports: again)
        if fault.effect == .unavailable, throttle.countedFailures.count != counted {
            let names = throttle.countedFailures.dropFirst(counted).map(\.report.username.text)
            violations.append("logins count as failed attempts: \(Set(names).sorted())")
        }
        violations += await queries()
        let faults = (reports + again).flatMap { $0?.steps.compactMap { $0.fault?.description } ?? [] }
        return (violations, faults)
    }

    /// Calls the functions of the realm that need no login.
    private func queries() async -> [String] {
        guard let user = test.users.first, let name = username(user.acceptedName) else { return [] }
        let realm = realm.realm
        let answers = Journal<[String]>()
        let task = Task {
            var violations: [String] = []
            do throws(RealmError) {
                let groups = try await realm.groupNames(of: name)
                if groups.sorted() != user.groups.sorted() {
                    violations.append("groupNames(of: \(name)) returns \(groups), and not \(user.groups)")
                }
            } catch {
                if ![.unavailable, .overloaded, .invalidOperation].contains(error.code) {
                    violations.append("groupNames(of: \(name)) throws \(error.code): \(error)")
                }
            }
            if let refreshing = realm as? any RefreshingRealm, await refreshing.state(of: name) == .gone {
                violations.append("state(of: \(name)) is gone")
            }
            answers.add(violations)
        }
        guard await RealTimeLimit(test.deadline + test.slack).wait(until: { answers.count > 0 }) else {
            task.cancel()
            return ["groupNames(of: \(name)) or state(of: \(name)) does not return"]
        }
        return answers.entries.flatMap(\.self)
    }

    /// Waits until the same realm accepts users again.
    private func recovery(after fault: BackEndFault) async -> [String] {
        guard let user = test.users.first, let trial = right(user) else { return [] }
        let begin = ContinuousClock.now
        while true {
            guard let report = await reports(of: [trial])[0] else {
                return ["after \(fault.name): the login \(trial.label) does not end"]
            }
            if report.identity != nil { break }
            guard begin.duration(to: .now) < test.slack else {
                return [
                    "after \(fault.name): users are still refused after \(test.slack): "
                        + LoginModuleConformance.reason(report)
                ]
            }
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return ["the test is cancelled"] }
        }
        return await normalLogins("after \(fault.name)")
    }
}

extension ConformanceRun {
    /// Checks deadlines, cancellations and open calls during each fault that hangs.
    func makeHangChecks(_ report: inout ConformanceReport) async {
        let checks: Set<RealmBackEndConformance.Check> = [.deadline, .cancellation, .release]
        let wanted = checks.filter { test.skipped[$0] == nil }
        let hanging = test.faults.filter(\.hangs)
        guard !wanted.isEmpty, !hanging.isEmpty else { return }
        var found: [RealmBackEndConformance.Check: [String]] = [:]
        let before = secrets.loginCount
        for fault in hanging {
            func make(_ check: RealmBackEndConformance.Check, _ body: () async -> [String]) async {
                guard wanted.contains(check) else { return }
                found[check, default: []] += await body().map { "while \(fault.name): \($0)" }
            }
            let failures = await during(fault) {
                await make(.deadline) { await deadline() }
                await make(.release) { await release("a deadline") }
                await make(.cancellation) { await cancellation() }
                await make(.release) { await release("a cancellation") }
                return []
            }
            report.violations += failures.map { "\(fault.name): \($0)" }
        }
        for check in RealmBackEndConformance.Check.allCases where wanted.contains(check) {
            report.add(check, logins: secrets.loginCount - before, violations: found[check] ?? [])
        }
    }

    private func deadline() async -> [String] {
        let trials = everyKindDuringOutage()
        let begin = ContinuousClock.now
        let reports = await reports(of: trials)
        let took = begin.duration(to: .now)
        var violations = violations(of: trials, reports: reports)
        if took > test.deadline + test.slack {
            violations.append("logins take \(took), and the deadline is \(test.deadline)")
        }
        return violations
    }

    /// Cancels logins that wait for the back end.
    private func cancellation() async -> [String] {
        let trials = everyKindDuringOutage()
        let ended = Journal<(index: Int, report: LoginReport)>()
        let calls = await test.openCalls?() ?? 0
        let tasks = trials.indices.map { index in
            Task { ended.add((index, await report(of: trials[index]))) }
        }
        if let openCalls = test.openCalls {
            let limit = RealTimeLimit(min(test.deadline / 2, .seconds(5)))
            _ = await limit.wait { await openCalls() > calls || ended.count == trials.count }
        }
        // The logins get a moment to reach the back end, and a back end that answers gets one to end them all.
        let limit = RealTimeLimit(min(test.deadline / 4, .milliseconds(200)))
        _ = await limit.wait { ended.count == trials.count }
        let early = ended.count
        tasks.forEach { $0.cancel() }
        guard await RealTimeLimit(test.slack).wait(until: { ended.count >= trials.count }) else {
            return ["\(trials.count - ended.count) of \(trials.count) logins do not end when they are cancelled"]
        }
        var violations: [String] = []
        for (index, report) in ended.entries {
            secrets.examine(report)
            if report.identity != nil {
                violations.append("the cancelled login \(trials[index].label) is accepted")
            }
        }
        if early == trials.count {
            violations.append("all logins end before they can be cancelled, so the back end does not hang")
        }
        return violations
    }

    private func release(_ cause: String) async -> [String] {
        guard let openCalls = test.openCalls else { return [] }
        if await RealTimeLimit(test.slack).wait(until: { await openCalls() == 0 }) { return [] }
        return ["\(await openCalls()) calls of the back end stay open after \(cause)"]
    }
}
