// SPDX-License-Identifier: Apache-2.0

internal import Foundation
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

    /// Looks at the processes until ``stop()``.
    func run() async {
        while !state.withLock({ $0.isStopped }) {
            examine()
            guard (try? await Task.sleep(for: .milliseconds(1))) != nil else { return }
        }
    }

    /// Ends ``run()``, after a last look.
    func stop() {
        examine()
        state.withLock { $0.isStopped = true }
    }

    private func examine() {
        let here = Int(ProcessInfo.processInfo.processIdentifier)
        let others = state.withLock { $0.others }
        var parents: [Int: Int] = [:]
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else {
            return add("child processes cannot be examined without proc(5), so skip this check with that reason")
        }
        for name in names {
            guard let number = Int(name), number != here, !others.contains(number) else { continue }
            parents[number] = Self.parent(of: number)
        }
        for number in parents.keys {
            var ancestor = number
            while ancestor != here, let next = parents[ancestor] { ancestor = next }
            if ancestor == here {
                // The command line changes when a new process starts its program, so it is read at each look.
                examine(number)
            } else {
                state.withLock { _ = $0.others.insert(number) }
            }
        }
    }

    private func examine(_ number: Int) {
        let environment = Self.contents(of: number, file: "environ")
        let texts = [
            ("the command line", Self.contents(of: number, file: "cmdline")), ("the environment", environment),
        ]
        let found = texts.flatMap { source, bytes in
            search.finds(in: bytes ?? Data()).map { "\(source) of a child process contains \($0)" }
        }
        state.withLock { state in
            _ = environment == nil ? state.unreadable.insert(number) : state.examined.insert(number)
        }
        found.forEach(add)
    }

    private func add(_ violation: String) {
        state.withLock { state in
            guard !state.violations.contains(violation) else { return }
            state.violations.append(violation)
        }
    }

    /// Returns the number of the parent of a process, as in proc(5); nil if the process has ended.
    private static func parent(of number: Int) -> Int? {
        // The name of the program is in parentheses and may contain any characters. The state and the parent follow.
        guard let bytes = contents(of: number, file: "stat") else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[end...].split(separator: " ")
        return fields.count > 2 ? Int(fields[2]) : nil
    }

    private static func contents(of number: Int, file: String) -> Data? {
        FileManager.default.contents(atPath: "/proc/\(number)/\(file)")
    }
}
