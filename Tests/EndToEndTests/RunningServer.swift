// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import Synchronization

/// A `gatehouse serve` on a port of the system's choice, stopped when nobody holds it any more.
final class RunningServer: Sendable {
    struct DidNotListen: Error {
        let output: String
    }

    let folder: TemporaryFolder
    let port: Int
    private let child: Child
    private let hasEnded = Mutex(false)

    var url: String { "https://localhost:\(port)" }
    var certificate: String { folder.url.appendingPathComponent("var/development-certificate.pem").path }
    var log: String { Self.text(folder) }

    convenience init(_ configuration: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write(configuration, to: "realms.conf")
        try await self.init(in: folder)
    }

    /// Serves what stands in a folder.
    init(in folder: TemporaryFolder) async throws {
        let log = try folder.write("", to: "log")
        let child = try Child(
            Program.built("gatehouse"),
            ["serve"],
            in: folder.url,
            input: nil,
            output: log,
            errors: log
        )
        self.folder = folder
        self.child = child
        for _ in 0..<1000 {
            let line = Self.text(folder).split(separator: "\n").first { $0.hasPrefix("listening on ") }
            if let port = line?.split(separator: ":").last.flatMap({ Int($0) }) {
                self.port = port
                return
            }
            // The line comes from another process: there is nothing here to wait for but its file.
            try await Task.sleep(for: .milliseconds(20))
        }
        child.signal(SIGKILL)
        _ = await child.end()
        throw DidNotListen(output: Self.text(folder))
    }

    deinit {
        guard !hasEnded.withLock({ $0 }) else { return }
        child.signal(SIGKILL)
        Thread.detachNewThread { [identifier = child.identifier] in
            var status: Int32 = 0
            unsafe waitpid(identifier, &status, 0)
        }
    }

    /// Has it read its configuration again, and waits until it says what came of that.
    func hangUp() async throws {
        let before = log.count
        child.signal(SIGHUP)
        for _ in 0..<1000 {
            let news = log.dropFirst(before)
            if news.contains("the configuration was read again") || news.contains("the configuration stays") { return }
            // The line comes from another process: there is nothing here to wait for but its file.
            try await Task.sleep(for: .milliseconds(20))
        }
        throw DidNotListen(output: log)
    }

    /// Tells it to stop and waits for its end.
    ///
    /// - Returns: Its exit status.
    func end() async -> Int32 {
        child.signal(SIGTERM)
        let status = await child.end()
        hasEnded.withLock { $0 = true }
        return status
    }

    /// Ends it as a crash does, and waits for its end.
    func kill() async {
        child.signal(SIGKILL)
        _ = await child.end()
        hasEnded.withLock { $0 = true }
    }

    /// Asks until an answer has that status, for as long as it would take were nobody told of a change.
    ///
    /// - Returns: How long that took; nil if no answer had it within ten seconds.
    func wait(for status: Int, at path: String, _ credentials: String) async throws -> Duration? {
        let clock = ContinuousClock()
        let begin = clock.now
        while clock.now - begin < .seconds(10) {
            if try await ask(path, "-u", credentials).status == status { return clock.now - begin }
            // The change comes from another process: there is nothing here to wait for but its answers.
            try await Task.sleep(for: .milliseconds(50))
        }
        return nil
    }

    /// Asks with curl; the status and the body.
    func ask(_ path: String, _ arguments: String...) async throws -> (status: Int, body: String) {
        guard let curl = Program.system("curl") else { return (0, "") }
        let options = [
            "-sS", "--noproxy", "*", "--path-as-is", "--max-time", "20", "--cacert", certificate, "-w",
            "\n%{http_code}",
        ]
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
