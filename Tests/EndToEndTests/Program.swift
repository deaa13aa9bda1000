// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The exit status and the output of a process.
struct Finished: Sendable {
    let status: Int32
    let output: String
    let errors: String
}

/// The programs built with these tests, and programs of the operating system.
enum Program {
    /// The folder of the built tests and programs.
    static let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()

    static func built(_ name: String) -> URL { folder.appendingPathComponent(name) }

    static func system(_ name: String) -> URL? {
        ["/usr/bin", "/bin", "/usr/local/bin"].map { URL(fileURLWithPath: $0).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    static var hasCurl: Bool { system("curl") != nil }

    /// The maximum time to wait for another process.
    ///
    /// Only a defect makes a test wait this long, even on a busy machine.
    static let patience = Duration.seconds(60)

    /// Calls a closure repeatedly until it returns a value.
    ///
    /// Use it for a value that depends on another process.
    ///
    /// - Returns: The value; nil after ``patience``.
    static func first<Value>(_ body: () async throws -> Value?) async throws -> Value? {
        let begin = ContinuousClock.now
        while true {
            if let value = try await body() { return value }
            let waited = ContinuousClock.now - begin
            guard waited < patience else { return nil }
            // The test polls, because the other process does not notify it of a change. A body may start programs, so it
            // is called seldom where the wait is long.
            try await Task.sleep(for: waited < .seconds(2) ? .milliseconds(20) : .milliseconds(250))
        }
    }

    /// Waits until a condition is true.
    ///
    /// Use it for a condition that depends on another process.
    ///
    /// - Returns: True if the condition became true; false after ``patience``.
    static func wait(until condition: () async throws -> Bool) async throws -> Bool {
        try await first { try await condition() ? true : nil } ?? false
    }

    static func run(
        _ program: URL,
        _ arguments: [String],
        input: String = "",
        in folder: URL? = nil
    ) async throws -> Finished {
        try await run(program, arguments, input: Array(input.utf8), in: folder)
    }

    static func run(
        _ program: URL,
        _ arguments: [String],
        input: [UInt8],
        in folder: URL? = nil
    ) async throws -> Finished {
        let files = try TemporaryFolder()
        let inputFile = files.url.appendingPathComponent("input")
        try Data(input).write(to: inputFile)
        let output = files.url.appendingPathComponent("output")
        let errors = files.url.appendingPathComponent("errors")
        let child = try Child(program, arguments, in: folder, input: inputFile, output: output, errors: errors)
        let status = await child.end()
        return Finished(
            status: status,
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        )
    }
}

/// A child process whose streams are files.
///
/// Foundation's `Process` is not used, because it sometimes misses the end of a process if many processes are started at
/// the same time.
final class Child: Sendable {
    struct DidNotStart: Error {
        let program: String
        let number: Int32
    }

    let identifier: pid_t

    init(_ program: URL, _ arguments: [String], in folder: URL?, input: URL?, output: URL, errors: URL) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_APPEND
        unsafe posix_spawn_file_actions_addopen(&actions, 0, input?.path ?? "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output.path, flags, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errors.path, flags, 0o600)
        // The shell changes to the folder, and then replaces itself by the program.
        let change = ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder?.path ?? "."]
        let words = change + [program.path] + arguments
        var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        var identifier: pid_t = 0
        let result = unsafe posix_spawn(&identifier, change[0], &actions, nil, &pointers, environ)
        guard result == 0 else { throw DidNotStart(program: program.path, number: result) }
        self.identifier = identifier
    }

    func signal(_ number: Int32) { kill(identifier, number) }

    /// Waits for the end of the process.
    ///
    /// Call it only once.
    ///
    /// - Returns: The exit status. If a signal ended the process, it is 128 plus the number of the signal.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [identifier] in
                var status: Int32 = 0
                while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
            }
        }
    }
}

/// A folder that is removed when this object is deinitialized.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            // The test does not fail if the folder cannot be removed.
        }
    }

    @discardableResult
    func write(_ text: String, to name: String) throws -> URL {
        let file = url.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        // A configuration with secrets that all users can read gives a warning.
        if name == "realms.conf" { unsafe chmod(file.path, 0o600) }
        return file
    }
}
