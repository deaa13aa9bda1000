// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Synchronization

/// Searches the reports of logins for secrets, and collects the durations.
final class SecretWatch: Sendable {
    private struct State {
        var violations: [String] = []
        var loginCount = 0
        var times: [LoginTrial.Kind: (count: Int, total: Duration)] = [:]
    }

    let search: SecretSearch
    private let state = Mutex(State())

    init(_ search: SecretSearch) { self.search = search }

    /// The violations so far, each once.
    var violations: [String] { state.withLock { $0.violations } }
    /// The number of reports so far.
    var loginCount: Int { state.withLock { $0.loginCount } }

    /// The mean duration of the logins of each kind, as text.
    var durations: [String] {
        state.withLock { state in
            LoginTrial.Kind.allCases.compactMap { kind in
                state.times[kind].map { "\(kind.rawValue) logins: mean \($0.total / $0.count) of \($0.count)" }
            }
        }
    }

    /// Examines the notes, the faults and the texts of a report.
    func examine(_ result: LoginTrial.Result) {
        let report = result.report
        let count = state.withLock { state in
            state.loginCount += 1
            let time = state.times[result.kind] ?? (0, .zero)
            state.times[result.kind] = (time.count + 1, time.total + result.duration)
            return state.loginCount
        }
        for note in report.notes { examine(note.text, as: "a note") }
        for step in report.steps {
            if let fault = step.fault { examine("\(fault) \(fault.log)", as: "a fault") }
        }
        examine(String(describing: report), as: "the text of a report")
        if let identity = report.identity {
            examine("\(identity) \(identity.subject) \(identity.attributes)", as: "the text of an identity")
        }
        // A dump is slow, and all reports have the same types.
        guard count <= 50 else { return }
        var text = ""
        dump(report, to: &text, maxDepth: 8, maxItems: 1000)
        examine(text, as: "the dump of a report")
    }

    /// Examines a text; `source` names it in violations.
    func examine(_ text: String, as source: String) {
        for find in search.finds(in: Array(text.utf8)) {
            let violation = "\(source) contains \(find)"
            state.withLock { state in
                if !state.violations.contains(violation) { state.violations.append(violation) }
            }
        }
    }
}
