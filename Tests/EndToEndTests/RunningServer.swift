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
    private let process: Process
    private let lines: Lines

    var url: String { "https://localhost:\(port)" }
    var certificate: String { folder.url.appendingPathComponent("var/development-certificate.pem").path }
    var log: String { lines.text }

    init(_ configuration: String, files: [String: String] = [:]) async throws {
        folder = try TemporaryFolder()
        for (name, text) in files { try folder.write(text, to: name) }
        try folder.write(configuration, to: "realms.conf")
        let process = Process()
        let pipe = Pipe()
        process.executableURL = Program.built("gatehouse")
        process.arguments = ["serve"]
        process.currentDirectoryURL = folder.url
        process.standardOutput = pipe
        process.standardError = pipe
        let lines = Lines(pipe.fileHandleForReading)
        try process.run()
        self.process = process
        self.lines = lines
        guard let line = await lines.first(where: { $0.hasPrefix("listening on ") }),
            let port = line.split(separator: ":").last.flatMap({ Int($0) })
        else { throw DidNotListen(output: lines.text) }
        self.port = port
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    /// Sends SIGTERM without waiting.
    func terminate() { process.terminate() }

    /// Waits for its end.
    func end() async -> Int32 {
        process.terminate()
        _ = await lines.first { _ in false }
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Asks with curl; the status and the body.
    func ask(_ path: String, _ arguments: String...) async throws -> (status: Int, body: String) {
        guard let curl = Program.system("curl") else { return (0, "") }
        let all =
            ["-sS", "--path-as-is", "--max-time", "20", "--cacert", certificate, "-w", "\n%{http_code}"] + arguments
        let finished = try await Program.run(curl, all + [url + path])
        guard let newline = finished.output.lastIndex(of: "\n") else { return (0, finished.errors) }
        let status = Int(finished.output[finished.output.index(after: newline)...]) ?? 0
        return (status, String(finished.output[..<newline]) + finished.errors)
    }
}

/// The lines of a pipe as they come.
final class Lines: Sendable {
    private struct State {
        var text = ""
        var hasEnded = false
        var waiting: [(@Sendable (String) -> Bool, CheckedContinuation<String?, Never>)] = []
    }

    private let state = Mutex(State())

    init(_ handle: FileHandle) {
        handle.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self?.take(String(decoding: data, as: UTF8.self), isEnd: data.isEmpty)
        }
    }

    var text: String { state.withLock { $0.text } }

    /// The first line of all that meets a condition; nil when the pipe ends without one.
    func first(where condition: @escaping @Sendable (String) -> Bool) async -> String? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiting.append((condition, continuation)) }
            take("", isEnd: false)
        }
    }

    private func take(_ text: String, isEnd: Bool) {
        let ready = state.withLock { state -> [(CheckedContinuation<String?, Never>, String?)] in
            state.text += text
            if isEnd { state.hasEnded = true }
            let complete = state.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
                String.init
            )
            var ready: [(CheckedContinuation<String?, Never>, String?)] = []
            state.waiting.removeAll { condition, continuation in
                let line = complete.first(where: condition)
                guard line != nil || state.hasEnded else { return false }
                ready.append((continuation, line))
                return true
            }
            return ready
        }
        for (continuation, line) in ready { continuation.resume(returning: line) }
    }
}
