// SPDX-License-Identifier: Apache-2.0

internal import Glibc
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
    func stop() async {
        examine()
        state.withLock { $0.isStopped = true }
    }

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

/// The files of processes in `/proc`, as in proc(5).
enum ProcessFiles {
    static var own: Int { Int(getpid()) }

    static func numbers() -> [Int] {
        guard let folder = unsafe opendir("/proc") else { return [] }
        defer { unsafe closedir(folder) }
        var numbers: [Int] = []
        // The entry is valid until the next call of readdir, and its name ends with a zero byte.
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                unsafe Array(name.prefix { $0 != 0 })
            }
            if let number = Int(String(decoding: name, as: UTF8.self)) { numbers.append(number) }
        }
        return numbers
    }

    /// Returns the number of the parent of a process; nil if the process has ended.
    static func parent(of number: Int) -> Int? {
        // The name of the program is in parentheses and may contain any characters. The state and the parent follow.
        guard let bytes = bytes(of: number, file: "stat") else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[end...].split(separator: " ")
        return fields.count > 2 ? Int(fields[2]) : nil
    }

    /// Returns the first 256 KiB of a file of a process; nil if it cannot be opened.
    static func bytes(of number: Int, file: String) -> [UInt8]? {
        let descriptor = unsafe open("/proc/\(number)/\(file)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16384)
        while bytes.count < 262_144 {
            // The buffer is valid during the call and has this size.
            let count = unsafe part.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        return bytes
    }
}
