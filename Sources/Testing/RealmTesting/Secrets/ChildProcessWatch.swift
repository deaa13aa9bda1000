// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Searches the command lines and environments of the child processes of this process for secrets.
///
/// The children of children are examined too. A process that ends between two looks is missed, so a helper program that
/// runs for a moment only is found with many logins only.
final class ChildProcessWatch: Sendable {
    private struct State {
        var isStopped = false
        var violations: [String] = []
        var examined: Set<Int> = []
        // Processes of other users, whose environment only root may read.
        var unreadable: Set<Int> = []
        // Processes of others, which are not looked at again.
        var others: Set<Int> = []
    }

    private let search: SecretSearch
    private let state = Mutex(State())

    init(_ search: SecretSearch) { self.search = search }

    /// The violations so far, each once.
    var violations: [String] { state.withLock { $0.violations } }
    /// The numbers of processes that were examined and that could not be read, as text.
    var summary: String {
        state.withLock { state in
            let unreadable = state.unreadable.subtracting(state.examined)
            return "\(state.examined.count) child processes were examined"
                + (unreadable.isEmpty ? "" : ", and \(unreadable.count) of other users could not be read")
        }
    }

    /// Looks at the processes again and again until ``stop()``.
    func run() async {
        while !state.withLock({ $0.isStopped }) {
            examine()
            do {
                try await Task.sleep(for: .milliseconds(1))
            } catch {
                return
            }
        }
    }

    /// Ends ``run()``, after a last look.
    func stop() async {
        examine()
        state.withLock { $0.isStopped = true }
    }

    /// Looks at all processes once.
    func examine() {
        let here = ProcessFiles.own
        let others = state.withLock { $0.others }
        let numbers = ProcessFiles.numbers().filter { $0 != here && !others.contains($0) }
        var parents: [Int: Int] = [:]
        for number in numbers { parents[number] = ProcessFiles.parent(of: number) }
        for number in numbers {
            guard let parent = parents[number] else { continue }
            var ancestor = parent
            while ancestor != here, let next = parents[ancestor] { ancestor = next }
            guard ancestor == here else {
                state.withLock { _ = $0.others.insert(number) }
                continue
            }
            // The command line changes when a new process starts its program, so it is read at each look.
            examine(number)
        }
    }

    private func examine(_ number: Int) {
        let environment = ProcessFiles.bytes(of: number, file: "environ")
        let texts = [
            ("the command line", ProcessFiles.bytes(of: number, file: "cmdline") ?? []),
            ("the environment", environment ?? []),
        ]
        var found: [String] = []
        for (source, bytes) in texts {
            found += search.finds(in: bytes).map { "\(source) of a child process contains \($0)" }
        }
        state.withLock { state in
            if environment == nil { state.unreadable.insert(number) } else { state.examined.insert(number) }
            for violation in found where !state.violations.contains(violation) { state.violations.append(violation) }
        }
    }
}
