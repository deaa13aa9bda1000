// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Signals to the server that was built with these tests.
@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct SignalTests {
    static let configuration = """
        default-realm xtech;
        login xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; }
        realm xtech { class StartWithRealm; }
        server { listen 127.0.0.1:0; }
        protect /welcome { require group User; }
        """

    @Test(
        arguments: [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPIPE, SIGIO, SIGPWR]
    )
    func `a signal that the server does not use does not end it`(number: Int32) async throws {
        let server = try await RunningServer(Self.configuration)
        server.signal(number)
        #expect(try await server.request("/health").status == 200)
        #expect(await server.end() == 0)
    }

    @Test(
        .enabled(if: getuid() == 0, "only root can start a program as another user"),
        .enabled(if: Program.system("setpriv") != nil, "setpriv is not installed"),
        arguments: [["gatehouse", "hash", "--password-stdin"], ["authcheck", "--password-stdin", "xtech", "zed"]]
    )
    func `another process of the user cannot read the memory of a program that has passwords`(
        words: [String]
    ) async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
        let code = "ScriptedLoginModule required code=\"123456\";"
        try folder.write(
            Self.configuration.replacing("MyLoginModule required;", with: "MyLoginModule required; \(code)"),
            to: "realms.conf"
        )
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644],
            ofItemAtPath: folder.url.appending(path: "realms.conf").path
        )
        // The program waits for its input. The shell, of the same user, reads the environment until it is denied.
        let script = """
            sleep 30 | "$@" & program=$!
            for try in $(seq 600); do
                [ "$(cat /proc/$program/comm)" = sh ] || cat /proc/$program/environ >/dev/null || break
                sleep 0.1
            done
            cat /proc/$program/environ >/dev/null && echo read || echo denied
            (: </proc/$program/mem) || echo denied
            grep ^Uid: /proc/$program/status
            kill $program
            """
        let read = try await Program.run(
            try #require(Program.system("setpriv")),
            ["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", script, "sh"]
                + [Program.built(words[0]).path] + words.dropFirst(),
            in: folder.url
        )
        #expect(read.output.hasPrefix("denied\ndenied\nUid:\t65534"), "\(read)")
    }

    @Test func `after a SIGHUP during its start the server reloads the configuration when it listens`() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.configuration, to: "realms.conf")
        let log = try folder.write("", to: "log")
        let child = try Child.serving(folder, output: log, errors: log)
        // The server installs its handler for SIGHUP before it ignores SIGUSR1. The test sees when SIGUSR1 is ignored.
        let text = { String(decoding: FileManager.default.contents(atPath: log.path) ?? Data(), as: UTF8.self) }
        let end = ContinuousClock.now + Program.patience
        while try !ignores(SIGUSR1, child.identifier), ContinuousClock.now < end { await Task.yield() }
        #expect(try ignores(SIGUSR1, child.identifier))
        child.signal(SIGHUP)
        #expect(try await Program.wait { text().contains("the configuration was reloaded") }, "\(text())")
        child.signal(SIGTERM)
        #expect(await child.end() == 0)
    }

    @Test func `a SIGTERM is handled before the SIGHUPs that are queued`() async throws {
        let server = try await RunningServer(Self.configuration)
        try await server.hangUp()
        let sent = 2000
        for _ in 0..<sent {
            server.signal(SIGHUP)
            // Without the pause, most signals would be lost: a process has at most one pending SIGHUP.
            usleep(50)
        }
        server.signal(SIGTERM)
        #expect(await server.end() == 0)
        let reloads = server.log.components(separatedBy: "the configuration was reloaded").count - 1
        #expect(reloads < sent / 4, "\(reloads) of \(sent)")
    }

    private struct HasEnded: Error {}

    private func ignores(_ number: Int32, _ identifier: pid_t) throws -> Bool {
        let status = try String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
        let lines = status.split(separator: "\n")
        guard !lines.contains(where: { $0.hasPrefix("State:\tZ") }) else { throw HasEnded() }
        let mask = lines.first { $0.hasPrefix("SigIgn:") }?.split(separator: "\t").last
        return UInt64(mask ?? "", radix: 16).map { $0 >> UInt64(number - 1) & 1 == 1 } ?? false
    }
}
