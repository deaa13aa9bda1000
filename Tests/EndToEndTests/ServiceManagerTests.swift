// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

/// The built server as a service of systemd, for which `Tests/Packaging/service_manager.py` stands in.
@Suite(
    .enabled(if: Program.hasCurl, "curl is not installed"),
    .enabled(if: Program.system("python3") != nil, "python3 is not installed")
)
struct ServiceManagerTests {
    private static let configuration = SignalTests.configuration

    /// The server, and the program that has started it.
    private final class Service: Sendable {
        let folder: TemporaryFolder
        let child: Child
        private let hasEnded = Mutex(false)

        init(_ arguments: String..., configuration: String = ServiceManagerTests.configuration) throws {
            folder = try TemporaryFolder()
            try folder.write(configuration, to: "realms.conf")
            let log = try folder.write("", to: "log")
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../Packaging/service_manager.py").path
            let notifications = folder.url.appendingPathComponent("notifications").path
            child = try Child(
                try #require(Program.system("python3")),
                [script, "--notifications", notifications] + arguments
                    + ["--", Program.built("gatehouse").path, "serve"],
                in: folder.url,
                input: nil,
                output: log,
                errors: log
            )
        }

        func text(_ name: String) -> String {
            let path = folder.url.appendingPathComponent(name).path
            return String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        }

        /// The notifications, without their times.
        var notifications: [String] {
            text("notifications").split(separator: "\n").compactMap { line in
                line.firstIndex(of: " ").map { String(line[line.index(after: $0)...]) }
            }
        }

        /// Waits for a number of notifications of a kind.
        func wait(for line: String, count: Int = 1) async throws -> Bool {
            try await Program.wait { notifications.filter { $0 == line }.count >= count }
        }

        /// The URLs of the status that the server has reported.
        var urls: [String] {
            let prefix = "STATUS=listening on "
            let status = notifications.last { $0.hasPrefix(prefix) }?.dropFirst(prefix.count)
            return status?.split(separator: ", ").map(String.init) ?? []
        }

        func status(of url: String) async throws -> String {
            let certificate = folder.url.appendingPathComponent("var/development-certificate.pem").path
            let curl = try #require(Program.system("curl"))
            let options = RunningServer.curlOptions + ["--cacert", certificate, "-o", "/dev/null"]
            return try await Program.run(curl, options + ["-w", "%{http_code}", url]).output
        }

        /// Waits for the end of the server, and returns its status.
        func ended() async -> Int32 {
            let status = await child.end()
            hasEnded.withLock { $0 = true }
            return status
        }

        func end() async -> Int32 {
            child.signal(SIGTERM)
            return await ended()
        }

        // A test that has failed leaves no server behind: the script forwards the signal.
        deinit { if !hasEnded.withLock({ $0 }) { child.signal(SIGTERM) } }
    }

    @Test func `a service manager that cannot be reached, and a watchdog time of 0, are one line of the log each`()
        async throws
    {
        let server = try await RunningServer(
            Self.configuration,
            environment: ["NOTIFY_SOCKET": "/nonexistent/notify", "WATCHDOG_USEC": "0"]
        )
        try await server.hangUp()
        #expect(await server.end() == 0)
        #expect(server.log.components(separatedBy: "NOTIFY_SOCKET /nonexistent/notify cannot be reached: ").count == 2)
        #expect(server.log.components(separatedBy: "WATCHDOG_USEC is 0").count == 2)
    }

    @Test(arguments: [[], ["--abstract"]])
    func `the server reports that it is ready, each reload, and its stop`(arguments: [String]) async throws {
        let service = try arguments.isEmpty ? Service() : Service("--abstract")
        #expect(try await service.wait(for: "READY=1"), "\(service.text("log"))")
        let url = try #require(service.urls.first)
        #expect(url.contains(/^https:\/\/127\.0\.0\.1:\d+$/))
        #expect(
            service.notifications == [
                "STATUS=reading the configuration and the sessions", "READY=1", "STATUS=listening on \(url)",
            ]
        )
        // A server that is ready accepts connections.
        #expect(try await service.status(of: "\(url)/health") == "200")

        service.child.signal(SIGHUP)
        #expect(try await service.wait(for: "READY=1", count: 2))
        let reload = service.notifications.dropFirst(3)
        #expect(reload.first == "RELOADING=1")
        let time = try #require(reload.dropFirst().first)
        #expect(time.hasPrefix("MONOTONIC_USEC="))
        #expect(try #require(UInt64(time.dropFirst(15))) > 0)
        #expect(
            reload.dropFirst(2) == ["STATUS=reloading the configuration", "READY=1", "STATUS=listening on \(url)"]
        )

        #expect(await service.end() == 0)
        #expect(service.notifications.suffix(2) == ["STOPPING=1", "STATUS=waiting for open requests"])
    }

    @Test func `after a reload with an error the server is ready, and its status says so`() async throws {
        let service = try Service()
        #expect(try await service.wait(for: "READY=1"), "\(service.text("log"))")
        try service.folder.write("nonsense", to: "realms.conf")
        service.child.signal(SIGHUP)
        #expect(try await service.wait(for: "READY=1", count: 2))
        #expect(
            service.notifications.last
                == """
                STATUS=the new configuration has errors, which are in the log; the server runs with the configuration \
                before it
                """
        )
        #expect(await service.end() == 0)
    }

    @Test func `a server that cannot start is not ready, and its status has the first error`() async throws {
        let service = try Service(configuration: "realm people { class StoreRaelm; }")
        #expect(await service.ended() == 3)
        #expect(!service.notifications.contains("READY=1"))
        #expect(service.notifications.last?.hasPrefix("STATUS=realms.conf:1:22: error: ") == true)
    }

    @Test func `the server reports that it is alive at half of the time of the watchdog`() async throws {
        let service = try Service("--watchdog", "400000")
        #expect(try await service.wait(for: "WATCHDOG=1", count: 6), "\(service.notifications)")
        let times = service.text("notifications").split(separator: "\n").filter { $0.hasSuffix("WATCHDOG=1") }
            .compactMap { Double($0.prefix { $0 != " " }) }
        // Five intervals of 200 ms, and no shorter ones; a busy machine makes them longer.
        #expect(try #require(times.dropFirst(5).first) - times[0] >= 0.9)
        #expect(await service.end() == 0)
    }

    @Test func `a stopped process does not report that it is alive`() async throws {
        let service = try Service("--watchdog", "40000")
        #expect(try await service.wait(for: "WATCHDOG=1", count: 2), "\(service.notifications)")
        let parent = service.child.identifier
        let text = try String(contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
        let server = try #require(pid_t(text.trimmingCharacters(in: .whitespaces)))
        kill(server, SIGSTOP)
        try await Task.sleep(for: .milliseconds(100))
        let before = service.notifications.count
        try await Task.sleep(for: .milliseconds(400))
        #expect(service.notifications.count == before)
        kill(server, SIGCONT)
        #expect(try await Program.wait { service.notifications.count > before })
        #expect(await service.end() == 0)
    }

    @Test func `the server listens on the sockets that it is given, and not on the configured address`() async throws {
        let service = try Service("--socket", "tcp", "--socket", "tcp6", "--names", "web:web6")
        #expect(try await service.wait(for: "READY=1"), "\(service.text("log"))")
        let urls = service.urls
        #expect(urls.count == 2)
        #expect(try #require(urls.first).hasPrefix("https://127.0.0.1:"))
        #expect(try #require(urls.last).hasPrefix("https://[::1]:"))
        for url in urls { #expect(try await service.status(of: "\(url)/health") == "200", "\(url)") }
        let notice = "the service manager has passed sockets; `listen` in the configuration is not used"
        #expect(service.text("log").contains(notice))
        #expect(await service.end() == 0)
    }

    @Test(arguments: [
        ("udp", "is a datagram socket; write ListenStream= instead of ListenDatagram= in the socket unit"),
        ("unix", "is not a TCP socket; write ListenStream=PORT or ListenStream=ADDRESS:PORT in the socket unit"),
        ("connected", "is a socket that does not listen; write Accept=no in the socket unit"),
        ("bound", "is a socket that does not listen; write Accept=no in the socket unit"),
        ("file", "is not a socket"), ("none", "cannot be used: Bad file descriptor"),
    ])
    func `a descriptor that is no listening TCP socket is an error`(kind: String, message: String) async throws {
        let service = try Service("--socket", "tcp", "--socket", kind, "--names", "web:other")
        #expect(await service.ended() == 3)
        let expected = "descriptor 4 (other), which the service manager has passed, \(message)"
        #expect(service.text("log").contains(expected), "\(service.text("log"))")
        #expect(!service.notifications.contains("READY=1"))
    }

    @Test func `a program that a realm starts has no socket of the service manager`() async throws {
        // A passed socket that a child inherits would stay open after the server has ended.
        let folder = try TemporaryFolder()
        let list = folder.url.appendingPathComponent("descriptors").path
        try folder.write(
            "#!/bin/sh\nls -l /proc/self/fd > \(list).new; env >> \(list).new; mv \(list).new \(list)\nexit 1\n",
            to: "program"
        )
        let program = folder.url.appendingPathComponent("program").path
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
        let service = try Service(
            "--socket",
            "tcp",
            configuration: """
                login execRealm { ExecLoginModule required; }
                realm program { class ExecRealm; program "\(program)"; }
                server { listen 127.0.0.1:0; }
                protect /welcome { realm program; require any; }
                """
        )
        #expect(try await service.wait(for: "READY=1"), "\(service.text("log"))")
        let url = try #require(service.urls.first)
        let certificate = service.folder.url.appendingPathComponent("var/development-certificate.pem").path
        let curl = try #require(Program.system("curl"))
        _ = try await Program.run(
            curl,
            RunningServer.curlOptions + ["--cacert", certificate, "-u", "ann:secret", "\(url)/welcome"]
        )
        #expect(try await Program.wait { FileManager.default.fileExists(atPath: list) }, "\(service.text("log"))")
        let text = try String(contentsOfFile: list, encoding: .utf8)
        // The server's standard streams are files and pipes; a socket could be the channel of the realm only.
        let descriptors = text.split(separator: "\n").filter { $0.contains(" -> socket:") }
        let sockets = try await Self.listeningInodes(of: service)
        #expect(!sockets.isEmpty)
        for inode in sockets { #expect(!descriptors.contains { $0.hasSuffix("socket:[\(inode)]") }, "\(text)") }
        for name in ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID"] { #expect(!text.contains("\(name)="), "\(text)") }
        #expect(await service.end() == 0)
    }

    /// Returns the inodes of the listening TCP sockets of a server.
    private static func listeningInodes(of service: Service) async throws -> [String] {
        let port = try #require(service.urls.first?.split(separator: ":").last.flatMap { Int($0) })
        let suffix = ":" + String(format: "%04X", port)
        return try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[1].hasSuffix(suffix), fields[3] == "0A" else { return nil }
            return String(fields[9])
        }
    }
}
