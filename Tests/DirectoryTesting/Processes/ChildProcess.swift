// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// A child process that ends no later than this process.
///
/// The kernel kills the child when the thread that started it ends. Therefore one thread starts the child, waits for its
/// end, and does nothing else.
final class ChildProcess: Sendable {
    /// The error for a process that could not be started.
    struct DidNotStart: Error {
        let command: [String]
        let number: Int32
    }

    /// The streams and the environment of a process.
    struct Surroundings: Sendable {
        var input = "/dev/null"
        /// The file to which the output is appended.
        var output = "/dev/null"
        /// The file to which the errors are appended.
        var errors = "/dev/null"
        var environment: [String: String] = [:]
    }

    /// True if the program that makes the kernel kill the child is installed.
    static let isPossible = FileManager.default.isExecutableFile(atPath: setpriv)

    private static let setpriv = "/usr/bin/setpriv"

    private let life: Life

    private init(_ life: Life) { self.life = life }

    deinit { life.signal(SIGKILL) }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - command: The path of the program and its arguments.
    ///   - surroundings: The streams and the environment.
    /// - Returns: The running process.
    /// - Throws: ``DidNotStart``.
    static func start(_ command: [String], in surroundings: Surroundings) async throws -> ChildProcess {
        let life = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let started = Result { try Life(spawn(command, in: surroundings)) }
                continuation.resume(with: started)
                if case .success(let life) = started { life.wait() }
            }
        }
        return ChildProcess(life)
    }

    /// The exit status, or 128 plus the number of the signal that ended the process; nil while it runs.
    var status: Int32? { life.status }

    /// Sends a signal, if the process has not ended.
    func signal(_ number: Int32) { life.signal(number) }

    /// Suspends the process, and waits until all its threads have stopped.
    func suspend() { life.suspend() }

    /// Waits for the end of the process, and returns its status.
    @discardableResult
    func end() async -> Int32 { await life.end() }

    private static func spawn(_ command: [String], in surroundings: Surroundings) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_APPEND
        unsafe posix_spawn_file_actions_addopen(&actions, 0, surroundings.input, O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, surroundings.output, flags, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, surroundings.errors, flags, 0o600)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // A thread of this process may block SIGTERM, and the child would inherit that.
        var none = sigset_t(), all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = [setpriv, "--pdeathsig", "KILL", "--"] + command
        let variables = surroundings.environment.map { "\($0)=\($1)" }
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var environment = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var identifier: pid_t = 0
        let result = unsafe posix_spawn(&identifier, setpriv, &actions, &attributes, &arguments, &environment)
        guard result == 0 else { throw DidNotStart(command: command, number: result) }
        return identifier
    }
}

/// The state of a process, from its start to its end.
private final class Life: Sendable {
    private struct State {
        var status: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
    }

    private let identifier: pid_t
    private let state = Mutex(State())

    init(_ identifier: pid_t) {
        self.identifier = identifier
        AtExit.kill(identifier)
    }

    var status: Int32? { state.withLock { $0.status } }

    // The process is reaped under the same lock, so the identifier cannot belong to another process.
    func signal(_ number: Int32) {
        state.withLock { state in
            if state.status == nil { kill(identifier, number) }
        }
    }

    /// Suspends the process, and waits until all its threads have stopped.
    func suspend() {
        signal(SIGSTOP)
        let tasks = "/proc/\(identifier)/task"
        for _ in 0..<10_000 {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
            let states = threads.map { thread in
                let text = (try? String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8)) ?? ""
                // The name of the program, in parentheses, may contain blanks.
                return text.split(separator: ")").last?.split(separator: " ").first
            }
            if states.allSatisfy({ $0 == "T" || $0 == nil }) { return }
            usleep(1000)
        }
    }

    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            let status = state.withLock { state in
                if state.status == nil { state.waiting.append(continuation) }
                return state.status
            }
            if let status { continuation.resume(returning: status) }
        }
    }

    func wait() {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        let waiting = state.withLock { state in
            AtExit.forget(identifier)
            var word: Int32 = 0
            while unsafe waitpid(identifier, &word, 0) < 0, errno == EINTR {}
            let status = word & 0x7F == 0 ? word >> 8 & 0xFF : 128 + word & 0x7F
            defer { state.waiting = [] }
            state.status = status
            return state.waiting.map { ($0, status) }
        }
        for (continuation, status) in waiting { continuation.resume(returning: status) }
    }
}
