// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import Foundation
internal import Glibc
internal import Synchronization
internal import TestTools

/// A server of PostgreSQL in a private folder, on a port of its own of 127.0.0.1, with TLS.
///
/// It ends with the test process, also if that is killed. Connections on the Unix socket in ``folder`` are trusted; those
/// of TCP need a password. The superuser is `postgres`, without a password.
public final class PostgreSQLServer: Sendable {
    /// The reason why no server can be started; nil if there is none.
    public static let problem: String? = {
        guard FileManager.default.isExecutableFile(atPath: "\(programs)/initdb") else {
            return "PostgreSQL is not installed (apt-get install postgresql)"
        }
        guard geteuid() == 0 else { return nil }
        return account == nil ? "initdb refuses to run as root, and there is no user postgres" : nil
    }()

    /// True if servers can be started.
    public static var isPossible: Bool { problem == nil }

    /// The failure of a command.
    public struct CommandFailed: Error, CustomStringConvertible {
        /// The command with its output.
        public let description: String
    }

    /// The folder of the data, the socket and the certificates.
    public let folder: URL
    /// The port.
    public let port: Int
    private let process = Mutex<Process?>(nil)

    private static let programs: String = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let newest = versions.compactMap { Int($0) }.max() ?? 0
        return "/usr/lib/postgresql/\(newest)/bin"
    }()

    private static let account: (user: uid_t, group: gid_t)? = {
        guard let entry = unsafe getpwnam("postgres") else { return nil }
        return unsafe (entry.pointee.pw_uid, entry.pointee.pw_gid)
    }()

    /// Creates and starts a primary server.
    ///
    /// - Parameters:
    ///   - certificate: The path of the server's certificate chain.
    ///   - key: The path of its key.
    ///   - authority: The path of the authority of client certificates.
    ///   - encoding: The encoding of the databases.
    /// - Returns: The server.
    /// - Throws: ``CommandFailed`` if it does not start.
    public static func primary(
        certificate: String,
        key: String,
        authority: String,
        encoding: String = "UTF8"
    ) throws -> PostgreSQLServer {
        let server = try PostgreSQLServer()
        try server.command(
            "initdb",
            "-D",
            server.data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            encoding,
            "--locale=C",
            "--no-sync"
        )
        try server.install(certificate, as: "server.pem")
        try server.install(key, as: "server.key")
        try server.install(authority, as: "root.pem")
        try server.configure()
        try server.start()
        return server
    }

    /// Creates and starts a standby server, which follows this server.
    public func standby() throws -> PostgreSQLServer {
        let standby = try PostgreSQLServer()
        try standby.command(
            "pg_basebackup",
            "-D",
            standby.data,
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            "-h",
            folder.path,
            "-p",
            "\(port)",
            "-U",
            "postgres",
            "--no-sync"
        )
        for name in ["server.pem", "server.key", "root.pem"] {
            try standby.install(folder.appending(path: name).path, as: name)
        }
        try standby.configure()
        try standby.start()
        return standby
    }

    private init() throws {
        folder = URL(filePath: "/tmp/gatehouse-pg-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        port = try LoopbackPort.free()
        Self.removeAtExit(folder.path)
        try own(folder.path, mode: 0o755)
    }

    deinit {
        signal(SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }

    private var data: String { folder.appending(path: "data").path }

    private func install(_ path: String, as name: String) throws {
        let target = folder.appending(path: name).path
        try FileManager.default.copyItem(atPath: path, toPath: target)
        try own(target, mode: 0o600)
    }

    private func own(_ path: String, mode: mode_t) throws {
        if geteuid() == 0, let account = Self.account, unsafe chown(path, account.user, account.group) != 0 {
            throw CommandFailed(description: "chown \(path)")
        }
        guard unsafe chmod(path, mode) == 0 else { throw CommandFailed(description: "chmod \(path)") }
    }

    private func configure() throws {
        let settings = """
            listen_addresses = '127.0.0.1'
            port = \(port)
            unix_socket_directories = '\(folder.path)'
            fsync = off
            full_page_writes = off
            shared_buffers = 16MB
            max_connections = 60
            ssl = on
            ssl_cert_file = '\(folder.path)/server.pem'
            ssl_key_file = '\(folder.path)/server.key'
            ssl_ca_file = '\(folder.path)/root.pem'
            wal_level = replica
            hot_standby = on
            max_standby_streaming_delay = 1s
            logging_collector = off
            log_min_messages = warning
            """
        try write(settings, to: "postgresql.conf")
        let access = """
            local all all trust
            local replication all trust
            host replication all 127.0.0.1/32 trust
            hostssl all cert_user 127.0.0.1/32 cert
            hostnossl all tls_user 127.0.0.1/32 reject
            host all all 127.0.0.1/32 scram-sha-256
            """
        try write(access, to: "pg_hba.conf")
    }

    private func write(_ text: String, to name: String) throws {
        let path = "\(data)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        try own(path, mode: 0o600)
    }

    // MARK: Running

    /// Starts the server, and waits until it answers.
    public func start() throws {
        let log = folder.appending(path: "log").path
        if !FileManager.default.fileExists(atPath: log) { try Data().write(to: URL(filePath: log)) }
        let output = try FileHandle(forWritingTo: URL(filePath: log))
        try output.seekToEnd()
        let process = try Spawner.shared.run { process in
            // The kernel ends the server when the thread that has started it ends, which is at the end of this process.
            process.executableURL = URL(filePath: "/usr/bin/setpriv")
            process.arguments =
                ["--pdeathsig", "KILL"] + Self.identity + ["\(Self.programs)/postgres", "-D", self.data]
            process.standardOutput = output
            process.standardError = output
            process.standardInput = FileHandle.nullDevice
        }
        self.process.withLock { $0 = process }
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                _ = try sql("SELECT 1", database: "postgres")
                return
            } catch {
                guard process.isRunning, ContinuousClock.now < end else {
                    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
                    throw CommandFailed(description: "postgres: \(text.suffix(2000))")
                }
                usleep(50_000)
            }
        }
    }

    /// Stops the server, which ends its connections, and waits for its end.
    public func stop() {
        signal(SIGINT)
        process.withLock { $0 }?.waitUntilExit()
        process.withLock { $0 = nil }
    }

    /// Kills the server without a word to its clients, and waits for its end.
    public func kill() {
        for child in children { Glibc.kill(child, SIGKILL) }
        signal(SIGKILL)
        process.withLock { $0 }?.waitUntilExit()
        process.withLock { $0 = nil }
        // The next start would refuse to use the lock file of a process that may still run.
        try? FileManager.default.removeItem(atPath: "\(data)/postmaster.pid")
    }

    /// Stops all processes of the server, so that it accepts connections and never answers.
    public func suspend() {
        signal(SIGSTOP)
        for child in children { Glibc.kill(child, SIGSTOP) }
    }

    /// Continues after ``suspend()``.
    public func resume() {
        for child in children { Glibc.kill(child, SIGCONT) }
        signal(SIGCONT)
    }

    /// Makes a standby server the primary one, and waits until it is.
    public func promote() throws {
        _ = try sql("SELECT pg_promote(true, 60)", database: "postgres")
    }

    private var pid: Int32? { process.withLock { $0 }.map(\.processIdentifier) }

    private func signal(_ number: Int32) {
        if let pid { Glibc.kill(pid, number) }
    }

    private var children: [Int32] {
        guard let pid else { return [] }
        let text = try? String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
        return (text ?? "").split(separator: " ").compactMap { Int32($0) }
    }

    // MARK: Commands

    /// Runs SQL as the superuser, and returns the rows without headers, with `|` between the columns.
    @discardableResult
    public func sql(_ text: String, database: String = "app") throws -> String {
        let file = folder.appending(path: "command-\(UUID().uuidString).sql")
        try Data(text.utf8).write(to: file)
        try own(file.path, mode: 0o644)
        defer { try? FileManager.default.removeItem(at: file) }
        return try command(
            "psql",
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            folder.path,
            "-p",
            "\(port)",
            "-U",
            "postgres",
            "-d",
            database,
            "-f",
            file.path
        )
    }

    @discardableResult
    private func command(_ name: String, _ arguments: String...) throws -> String {
        let output = Pipe()
        let list = arguments
        let process = try Spawner.shared.run { process in
            process.executableURL = URL(filePath: "/usr/bin/setpriv")
            process.arguments = Self.identity + ["\(Self.programs)/\(name)"] + list
            process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "PGCONNECT_TIMEOUT": "5"]
            process.currentDirectoryURL = self.folder
            process.standardOutput = output
            process.standardError = output
            process.standardInput = FileHandle.nullDevice
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CommandFailed(description: "\(name): \(text)") }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static var identity: [String] {
        guard geteuid() == 0, let account else { return ["--no-new-privs"] }
        return ["--reuid", "\(account.user)", "--regid", "\(account.group)", "--clear-groups"]
    }

    private static let folders = Mutex<[String]>([])

    /// Removes a folder when the process exits.
    private static func removeAtExit(_ folder: String) {
        let isFirst = folders.withLock { folders in
            folders.append(folder)
            return folders.count == 1
        }
        guard isFirst else { return }
        // Threads of libpq may still connect when the process exits: OpenSSL must not free its memory then.
        _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        atexit {
            for folder in PostgreSQLServer.folders.withLock({ $0 }) {
                try? FileManager.default.removeItem(atPath: folder)
            }
        }
    }
}

/// A thread that starts processes, and lives as long as this process.
private final class Spawner: Sendable {
    static let shared = Spawner()

    private struct Job: Sendable {
        let prepare: @Sendable (Process) -> Void
        let done: DispatchSemaphore
        let result: Box
    }

    private final class Box: Sendable {
        let value = Mutex<Result<Process, any Error>?>(nil)
    }

    private let jobs = Mutex<[Job]>([])
    private let isDue = DispatchSemaphore(value: 0)

    private init() {
        let thread = Thread { [self] in
            while true {
                isDue.wait()
                guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { continue }
                let process = Process()
                job.prepare(process)
                let result = Result<Process, any Error> {
                    try process.run()
                    return process
                }
                job.result.value.withLock { $0 = result }
                job.done.signal()
            }
        }
        thread.start()
    }

    func run(_ prepare: @escaping @Sendable (Process) -> Void) throws -> Process {
        let job = Job(prepare: prepare, done: DispatchSemaphore(value: 0), result: Box())
        jobs.withLock { $0.append(job) }
        isDue.signal()
        job.done.wait()
        guard let result = job.result.value.withLock({ $0 }) else {
            throw PostgreSQLServer.CommandFailed(description: "no process")
        }
        return try result.get()
    }
}
