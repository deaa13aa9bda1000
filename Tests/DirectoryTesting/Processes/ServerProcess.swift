// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TestTools

/// The process of a server, which can be started several times, and its log.
///
/// The process is killed when this object is deinitialized.
package final class ServerProcess: Sendable {
    private let command: [String]
    private let host: String
    private let ports: [Int]
    private let folder: PrivateFolder
    private let environment: [String: String]
    private let child = Mutex(ChildProcess?.none)

    /// A process that has not been started yet.
    ///
    /// - Parameters:
    ///   - command: The path of the program and its arguments.
    ///   - host: The IPv4 address at which it accepts connections.
    ///   - ports: The ports at which it accepts connections.
    ///   - folder: The folder in which its log is kept.
    ///   - environment: The variables of its environment.
    init(
        _ command: [String],
        host: String,
        ports: [Int],
        folder: PrivateFolder,
        environment: [String: String] = [:]
    ) {
        self.command = command
        self.host = host
        self.ports = ports
        self.folder = folder
        self.environment = environment
    }

    fileprivate var log: String { folder.text("log") }

    fileprivate func start() async throws {
        let surroundings = ChildProcess.Surroundings(
            output: folder.file("log"),
            errors: folder.file("log"),
            environment: environment
        )
        let child = try await ChildProcess.start(command, in: surroundings)
        self.child.withLock { $0 = child }
        try await Polling.until("\(command[0]) did not start: \(log)") {
            if let status = child.status { throw NotReached("\(command[0]) ended with \(status): \(log)") }
            return ports.allSatisfy { LoopbackPort.accepts($0, at: host) }
        }
    }

    fileprivate func suspend() { child.withLock { $0?.suspend() } }

    fileprivate func signal(_ number: Int32) { child.withLock { $0?.signal(number) } }

    fileprivate func end() async { await child.withLock { $0 }?.end() }
}

/// A directory server of a test, which can fail in several ways.
package protocol DirectoryServer: Sendable {
    /// The user who adds and modifies entries.
    static var admin: Person { get }

    /// The process of the server.
    var process: ServerProcess { get }

    /// The URL at which entries are added and modified.
    var adminURL: String { get }
}

extension DirectoryServer {
    /// Starts the server again, on the same ports and with its data.
    ///
    /// - Throws: ``NotReached`` if the server does not start.
    package func start() async throws { try await process.start() }

    /// Stops the server with SIGTERM, and waits for its end.
    package func stop() async {
        process.signal(SIGTERM)
        // A suspended process acts on SIGTERM only after this.
        process.signal(SIGCONT)
        await process.end()
    }

    /// Kills the server, as in a crash, and waits for its end.
    package func kill() async {
        process.signal(SIGKILL)
        await process.end()
    }

    /// Suspends the server: the kernel still accepts connections, but the server does not answer.
    package func suspend() { process.suspend() }

    /// Continues a suspended server.
    package func resume() { process.signal(SIGCONT) }

    /// The log of the server.
    package var received: String { process.log }

    /// Waits until the log contains a text.
    ///
    /// - Throws: ``NotReached``.
    package func untilReceived(_ text: String) async throws {
        try await Polling.until("the log does not contain \(text): \(received)") { received.contains(text) }
    }

    /// Adds entries as the administrator.
    ///
    /// - Throws: ``NotReached`` if the server rejects them.
    package func add(ldif: String) async throws { try await change("ldapadd", ldif) }

    /// Applies changes of LDIF (`changetype: ...`) as the administrator.
    ///
    /// - Throws: ``NotReached`` if the server rejects them.
    package func modify(ldif: String) async throws { try await change("ldapmodify", ldif) }

    private func change(_ tool: String, _ ldif: String) async throws {
        let credentials = ["-D", Self.admin.name, "-w", Self.admin.password]
        let finished = try await DirectoryTool.run(tool, ["-x", "-H", adminURL] + credentials, input: ldif)
        guard finished.status == 0 else { throw NotReached("\(tool): \(finished.errors)") }
    }
}
