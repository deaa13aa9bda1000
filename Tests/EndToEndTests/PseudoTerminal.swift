// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program on a pseudo-terminal, with functions that type input and read the output.
final class PseudoTerminal {
    struct DidNotStart: Error {}
    struct ShowedNoPrompt: Error { let screen: String }

    /// The value of POSIX_SPAWN_SETSID, which the Swift module of the C library does not have.
    private static let newSession: Int16 = 0x80

    private let descriptor: Int32
    private let other: Int32
    private let identifier: pid_t
    private var screen: [UInt8] = []
    private let files: TemporaryFolder

    /// The output on the terminal so far.
    var shown: String { String(decoding: screen, as: UTF8.self).replacing("\r\n", with: "\n") }
    /// The output of the program on standard output and standard error, which are files.
    var output: String {
        ["output", "errors"].map { name in
            let contents = FileManager.default.contents(atPath: files.url.appendingPathComponent(name).path)
            return String(decoding: contents ?? Data(), as: UTF8.self)
        }.joined()
    }

    init(_ program: URL, _ arguments: [String], in folder: URL) throws {
        files = try TemporaryFolder()
        var (ours, theirs) = (Int32(-1), Int32(-1))
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe openpty(&ours, &theirs, &name, nil, nil) == 0 else { throw DidNotStart() }
        // This process keeps both ends open. If the program's end were closed, its last output could not be read.
        (descriptor, other) = (ours, theirs)
        for descriptor in [ours, theirs] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ours, F_SETFL, O_NONBLOCK)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a session opens becomes its controlling terminal.
        unsafe posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        let flags = O_WRONLY | O_CREAT | O_APPEND
        unsafe posix_spawn_file_actions_addopen(&actions, 1, files.url.path + "/output", flags, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, files.url.path + "/errors", flags, 0o600)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Programs of a terminal get its signals, also if these tests run in the background, where SIGINT is ignored.
        var signals = sigset_t()
        for signal in [SIGINT, SIGQUIT, SIGTSTP] { unsafe sigaddset(&signals, signal) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Self.newSession | Int16(POSIX_SPAWN_SETSIGDEF))
        let change = ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder.path]
        let words = change + [program.path] + arguments
        var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        var identifier: pid_t = 0
        guard unsafe posix_spawn(&identifier, change[0], &actions, &attributes, &pointers, environ) == 0 else {
            throw DidNotStart()
        }
        self.identifier = identifier
    }

    deinit {
        close(descriptor)
        close(other)
    }

    /// Waits for a prompt, then types a line.
    func answer(_ prompt: String, _ line: String) async throws {
        let seen = screen.count
        let isShown = try await Program.wait {
            read()
            return String(decoding: screen[min(seen, screen.count)...], as: UTF8.self).contains(prompt)
                || shown.hasSuffix(prompt)
        }
        guard isShown else { throw ShowedNoPrompt(screen: shown) }
        let bytes = Array(line.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Waits for the end of the program.
    ///
    /// - Returns: The exit status. If a signal ended the program, it is 128 plus the number of the signal. If the program
    ///   did not end in time, it is -1.
    func end() async throws -> Int32 {
        let status = try await Program.first { () -> Int32? in
            // The output on the terminal is read while the program runs, so that a full terminal does not block it.
            read()
            var status: Int32 = 0
            guard unsafe waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
            read()
            return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
        }
        if let status { return status }
        kill(identifier, SIGKILL)
        waitpid(identifier, nil, 0)
        return -1
    }

    /// True if the terminal echoes input.
    var echoes: Bool {
        var settings = termios()
        return unsafe tcgetattr(descriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            screen += bytes[..<count]
        }
    }
}
