// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A process of `gatehouse serve` on a free port.
///
/// It is killed at the end of the test.
final class RunningServer: Sendable {
    struct DidNotListen: Error {
        let output: String
    }

    /// The error for a log line that did not appear in time.
    struct DidNotLog: Error {
        let text: String
        let log: String
    }

    let folder: TemporaryFolder
    let port: Int
    private let child: Child
    private let hasEnded = Mutex(false)

    var url: String { "https://localhost:\(port)" }
    var certificate: String { folder.url.appendingPathComponent("var/development-certificate.pem").path }
    var log: String { Self.text(folder) }

    convenience init(_ configuration: String, environment: [String: String] = [:]) async throws {
        let folder = try TemporaryFolder()
        try folder.write(configuration, to: "realms.conf")
        try await self.init(in: folder, environment: environment)
    }

    /// Starts a server with the configuration in a folder, and with further variables of the environment.
    init(in folder: TemporaryFolder, environment: [String: String] = [:]) async throws {
        let log = try folder.write("", to: "log")
        let child = try Child.serving(folder, output: log, errors: log, environment: environment)
        self.folder = folder
        self.child = child
        let port = try await Program.first {
            // The last line is ignored, because the server may not have written all of it yet.
            let lines = Self.text(folder).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return lines.first { $0.hasPrefix("listening on ") }?.split(separator: ":").last.flatMap { Int($0) }
        }
        guard let port else {
            child.signal(SIGKILL)
            _ = await child.end()
            throw DidNotListen(output: Self.text(folder))
        }
        self.port = port
    }

    deinit {
        guard !hasEnded.withLock({ $0 }) else { return }
        child.signal(SIGKILL)
        Thread.detachNewThread { [identifier = child.identifier] in
            var status: Int32 = 0
            unsafe waitpid(identifier, &status, 0)
        }
    }

    /// Sends SIGHUP, and waits until the server logs the result.
    func hangUp() async throws {
        let before = log.utf8.count
        child.signal(SIGHUP)
        try await untilLogged("the configuration was reloaded", "the configuration was not reloaded", after: before)
    }

    /// Waits until the log contains at least one of the texts.
    ///
    /// - Parameters:
    ///   - texts: The texts.
    ///   - bytes: The number of bytes at the beginning of the log that are ignored.
    /// - Throws: ``DidNotLog`` if the log contains none of the texts in time.
    func untilLogged(_ texts: String..., after bytes: Int = 0) async throws {
        let isLogged = try await Program.wait {
            let news = String(decoding: log.utf8.dropFirst(bytes), as: UTF8.self)
            return texts.contains { news.contains($0) }
        }
        guard isLogged else { throw DidNotLog(text: texts.joined(separator: " or "), log: log) }
    }

    func signal(_ number: Int32) { child.signal(number) }

    /// Stops the server and waits for the end of its process.
    ///
    /// - Returns: The exit status.
    func end() async -> Int32 {
        child.signal(SIGTERM)
        let status = await child.end()
        hasEnded.withLock { $0 = true }
        return status
    }

    /// Kills the server and waits for the end of its process.
    ///
    /// For the server, this is like a crash.
    func kill() async {
        child.signal(SIGKILL)
        _ = await child.end()
        hasEnded.withLock { $0 = true }
    }

    /// Repeats a request until the status of the answer is `status`.
    ///
    /// - Returns: True if an answer had this status; false after ``Program/patience``.
    func wait(for status: Int, at path: String, _ arguments: String...) async throws -> Bool {
        try await Program.wait { try await request(path, arguments).status == status }
    }

    /// The options for every call of curl: no settings of the user, no proxy, and a time limit.
    static let curlOptions = ["-q", "-sS", "--noproxy", "*", "--max-time", "120"]

    /// Sends a request with curl, and returns the status and the body.
    func request(_ path: String, _ arguments: String...) async throws -> (status: Int, body: String) {
        try await request(path, arguments)
    }

    private func request(_ path: String, _ arguments: [String]) async throws -> (status: Int, body: String) {
        guard let curl = Program.system("curl") else { return (0, "") }
        let options = Self.curlOptions + ["--path-as-is", "--cacert", certificate, "-w", "\n%{http_code}"]
        let finished = try await Program.run(curl, options + arguments + [url + path])
        guard let newline = finished.output.lastIndex(of: "\n") else { return (0, finished.errors) }
        let status = Int(finished.output[finished.output.index(after: newline)...]) ?? 0
        return (status, String(finished.output[..<newline]) + finished.errors)
    }

    private static func text(_ folder: TemporaryFolder) -> String {
        String(
            decoding: FileManager.default.contents(atPath: folder.url.appendingPathComponent("log").path) ?? Data(),
            as: UTF8.self
        )
    }
}

extension Child {
    /// Starts a server with the configuration in a folder.
    ///
    /// It returns before the server listens.
    static func serving(
        _ folder: TemporaryFolder,
        output: URL,
        errors: URL,
        environment: [String: String] = [:]
    ) throws -> Child {
        // `env` sets the variables, and then replaces itself by the server.
        try Child(
            URL(fileURLWithPath: "/usr/bin/env"),
            environment.map { "\($0)=\($1)" } + [Program.built("gatehouse").path, "serve"],
            in: folder.url,
            input: nil,
            output: output,
            errors: errors
        )
    }
}
