// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

/// A named pipe that is read only when a test calls ``lines(near:until:)``.
final class UnreadPipe {
    let url: URL
    private let descriptor: Int32

    init(in folder: TemporaryFolder) throws {
        url = folder.url.appendingPathComponent("pipe-\(UUID().uuidString)")
        guard unsafe mkfifo(url.path, 0o600) == 0 else { throw POSIXError(.EIO) }
        // A pipe that is opened for reading and writing does not wait for another process, and stays open without one.
        descriptor = unsafe open(url.path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
    }

    deinit { close(descriptor) }

    /// Fills the pipe completely.
    func fill() {
        var chunk = [UInt8](repeating: UInt8(ascii: "."), count: 4096)
        while unsafe write(descriptor, &chunk, chunk.count) > 0 {}
        while unsafe write(descriptor, &chunk, 1) > 0 {}
    }

    /// Reads lines until all expected lines have been read, or no byte arrives in time.
    ///
    /// - Parameters:
    ///   - mark: Returns true for a line near the end of the output.
    ///   - isComplete: Returns true if all expected lines have been read. It is called only if the last bytes contain a
    ///     line for which `mark` returns true.
    /// - Returns: The lines.
    func lines(near mark: (Substring) -> Bool, until isComplete: ([Substring]) -> Bool) -> [Substring] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var lines: [Substring] { String(decoding: bytes, as: UTF8.self).split(separator: "\n") }
        while true {
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&state, 1, 60_000) == 1 else { break }
            let count = unsafe read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
            let tail = String(decoding: bytes.suffix(chunk.count), as: UTF8.self)
            if tail.split(separator: "\n").contains(where: mark), isComplete(lines) { break }
        }
        return lines
    }
}

@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct UnreadOutputTests {
    private static let requests = 400

    private static func configuration(port: Int) -> String {
        """
        default-realm xtech;
        login xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; }
        realm xtech { class StartWithRealm; }
        server { listen 127.0.0.1:\(port); }
        protect / { open; }
        protect /welcome { require group User; }
        """
    }

    /// Starts a server with the given streams, and sends requests to it in sequence.
    ///
    /// - Parameters:
    ///   - folder: The folder of the server's configuration.
    ///   - output: The standard output of the server.
    ///   - errors: The standard error of the server.
    ///   - pathLength: The length of the requests' paths; longer paths give longer log lines.
    /// - Returns: The server, and the number of requests that it has answered with 404.
    /// - Throws: If a program cannot be started.
    private func serve(
        in folder: TemporaryFolder,
        output: URL,
        errors: URL,
        pathLength: Int = 10
    ) async throws -> (Child, answers: Int) {
        // The test cannot read the port from the output of the server.
        let port = try LoopbackPort.free()
        try folder.write(Self.configuration(port: port), to: "realms.conf")
        let child = try Child.serving(folder, output: output, errors: errors)
        let curl = try #require(Program.system("curl"))
        let certificate = folder.url.appendingPathComponent("var/development-certificate.pem").path
        // curl replaces the range at the end of the path by each of its numbers, and so sends all requests.
        let path = "/nowhere/\(String(repeating: "x", count: pathLength))/[1-\(Self.requests)]"
        let common = RunningServer.curlOptions + ["--cacert", certificate, "-o", "/dev/null"]
        let url = "https://localhost:\(port)"
        let isListening = try await Program.wait {
            try await Program.run(curl, common + [url + "/health"]).status == 0
        }
        #expect(isListening)
        let finished = try await Program.run(
            curl,
            common + ["--fail-early", "-w", "%{http_code}\n", url + path]
        )
        return (child, finished.output.split(separator: "\n").count { $0 == "404" })
    }

    @Test(.timeLimit(.minutes(10)))
    func `requests are answered although standard error is not read, and lost lines are counted`()
        async throws
    {
        let folder = try TemporaryFolder()
        let pipe = try UnreadPipe(in: folder)
        let output = try folder.write("", to: "output")
        // With paths of this length, the log lines of all requests have 1.6 MB. The pipe and the queue of lines together
        // hold less.
        let (child, answers) = try await serve(in: folder, output: output, errors: pipe.url, pathLength: 4000)
        #expect(answers == Self.requests)
        let isCount = { (line: Substring) in line.hasSuffix("lines were lost: this stream was not read") }
        func lost(_ lines: [Substring]) -> Int {
            lines.filter(isCount).compactMap { Int($0.split(separator: " ")[1]) }.reduce(0, +)
        }
        func written(_ lines: [Substring]) -> Int {
            lines.count { $0.contains("access: 127.0.0.1") && $0.contains("/nowhere/") }
        }
        // The log line of a request may be written after its answer, and so after the number of lost lines.
        let lines = pipe.lines(near: isCount) { lost($0) + written($0) >= Self.requests }
        #expect(lost(lines) > 0 && written(lines) > 0)
        #expect(lost(lines) + written(lines) == Self.requests)
        // The server also stops if its stream is not read.
        pipe.fill()
        child.signal(SIGTERM)
        #expect(await child.end() == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `requests are answered although standard output is not read`() async throws {
        let folder = try TemporaryFolder()
        let pipe = try UnreadPipe(in: folder)
        pipe.fill()
        let errors = try folder.write("", to: "errors")
        let (child, answers) = try await serve(in: folder, output: pipe.url, errors: errors)
        #expect(answers == Self.requests)
        child.signal(SIGTERM)
        #expect(await child.end() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a server that cannot start exits with the right status although standard error is not read`() async throws {
        let folder = try TemporaryFolder()
        let pipe = try UnreadPipe(in: folder)
        pipe.fill()
        try folder.write("realm {", to: "realms.conf")
        let output = try folder.write("", to: "output")
        let child = try Child.serving(folder, output: output, errors: pipe.url)
        #expect(await child.end() == 3)
    }
}
