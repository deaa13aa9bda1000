// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

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
            let failures = await during(fault) {
                if wanted.contains(.deadline) {
                    found[.deadline, default: []] += await deadline().map { "while \(fault.name): \($0)" }
                }
                if wanted.contains(.release) {
                    found[.release, default: []] += await release("a deadline").map { "while \(fault.name): \($0)" }
                }
                if wanted.contains(.cancellation) {
                    found[.cancellation, default: []] += await cancellation().map { "while \(fault.name): \($0)" }
                }
                if wanted.contains(.release) {
                    found[.release, default: []] += await release("a cancellation").map { "while \(fault.name): \($0)" }
                }
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
        let results = await results(of: trials)
        let took = begin.duration(to: .now)
        var violations = violations(of: trials, results: results)
        if took > test.deadline + test.slack {
            violations.append("logins take \(took), and the deadline is \(test.deadline)")
        }
        return violations
    }

    /// Cancels logins that wait for the back end.
    private func cancellation() async -> [String] {
        let trials = everyKindDuringOutage()
        let ended = Journal<(index: Int, result: LoginTrial.Result)>()
        let calls = await test.openCalls?() ?? 0
        let tasks = trials.indices.map { index in
            Task { ended.add((index, await result(of: trials[index]))) }
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
        for (index, result) in ended.entries {
            secrets.examine(result)
            if result.report.identity != nil {
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
