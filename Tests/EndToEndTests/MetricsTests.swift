// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The metrics and the state of the server that was built with these tests.
@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct MetricsTests {
    private static let configuration = """
        realm people { class StoreRealm; }
        realm letters { class StartWithRealm; }
        login storeRealm { StoreLoginModule required; }
        login xtechMyRealm { StartWithLoginModule required; }
        server {
            listen 127.0.0.1:0;
            throttle { failures 3; }
            metrics { listen 127.0.0.1:0; }
        }
        protect /welcome { realm letters people; auth form basic; require any; }
        """

    private struct NoAddress: Error {}

    private func metricsURL(_ server: RunningServer) throws -> String {
        guard let begin = server.log.range(of: "http://127.0.0.1:"),
            let end = server.log.range(of: "/metrics", range: begin.upperBound..<server.log.endIndex)
        else { throw NoAddress() }
        return String(server.log[begin.lowerBound..<end.lowerBound])
    }

    private func get(_ url: String, _ arguments: String...) async throws -> (status: Int, body: String) {
        let curl = try #require(Program.system("curl"))
        let finished = try await Program.run(
            curl,
            RunningServer.curlOptions + ["-w", "\n%{http_code}"] + arguments + [url]
        )
        let lines = finished.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
    }

    /// The value of a line of the metrics; nil if there is no such line.
    private func value(_ series: String, in text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix(series + " ") }.flatMap {
            Double($0.dropFirst(series.count + 1))
        }
    }

    @Test func `logins, requests, handshakes and the process are counted, without names of users`() async throws {
        let server = try await RunningServer(Self.configuration)
        let url = try metricsURL(server)
        for realm in ["letters", "people"] {
            let series = #"gatehouse_logins_total{realm="\#(realm)",outcome="unavailable"}"#
            #expect(value(series, in: try await get("\(url)/metrics").body) == 0)
        }
        #expect(try await server.request("/welcome", "--user", "zed:secret").status == 200)
        #expect(try await server.request("/welcome", "--user", "nobody-known:secret").status == 401)
        #expect(try await server.request("/nothing").status == 404)
        let gaugesAreSet = try await Program.wait {
            value("gatehouse_hashing_workers", in: try await get("\(url)/metrics").body) ?? 0 > 0
        }
        #expect(gaugesAreSet)
        let (status, text) = try await get("\(url)/metrics")
        #expect(status == 200)
        for (series, count) in [
            (#"{realm="letters",outcome="accepted"}"#, 1.0), (#"{realm="letters",outcome="wrong-credentials"}"#, 1),
            (#"{realm="people",outcome="unknown-user"}"#, 1),
        ] { #expect(value("gatehouse_logins_total" + series, in: text) == count, "\(text)") }
        #expect(value(#"gatehouse_login_duration_seconds_count{realm="people"}"#, in: text) == 1)
        #expect(
            value(
                #"gatehouse_module_duration_seconds_count{realm="letters",module="StartWithLoginModule"}"#,
                in: text
            ) == 2
        )
        #expect(value(#"gatehouse_requests_total{lane="loop",status="4xx"}"#, in: text) == 1)
        #expect(value(#"gatehouse_requests_total{lane="task",status="4xx"}"#, in: text) == 1)
        #expect(value(#"gatehouse_requests_total{lane="task",status="2xx"}"#, in: text) == 1)
        #expect(value(#"gatehouse_tls_handshakes_total{version="1.3",result="full"}"#, in: text) == 3)
        let expiry = try #require(value("gatehouse_certificate_expiry_timestamp_seconds", in: text))
        #expect(expiry > Date().timeIntervalSince1970 + 86_400)
        let series = "gatehouse_certificate_file_expiry_timestamp_seconds{"
        let authority = try #require(text.split(separator: "\n").first { $0.hasPrefix(series) })
        #expect(authority.contains("/development-authority.pem\"}"), "\(authority)")
        #expect(try #require(value("process_resident_memory_bytes", in: text)) > 1_000_000)
        #expect(try #require(value("process_open_fds", in: text)) > 3)
        for text in [text, try await get("\(url)/metrics").body] {
            for name in ["zed", "nobody-known", "secret", "127.0.0.1"] { #expect(!text.contains(name)) }
        }
        // Prometheus reads the numbers of each line, and every metric has a type and a sentence.
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(line.split(separator: " ").last.flatMap { Double($0) } != nil, "\(line)")
            #expect(line.hasPrefix("gatehouse_") || line.hasPrefix("process_"), "\(line)")
        }
        #expect(text.components(separatedBy: "# HELP ").count == text.components(separatedBy: "# TYPE ").count)
        #expect(await server.end() == 0)
    }

    @Test func `at a loopback address, a request for the host of a page is not answered`() async throws {
        let server = try await RunningServer(Self.configuration)
        let url = try metricsURL(server)
        for host in ["page.example", "page.example:80", "127.0.0.1.page.example", "localhost.page.example", "", "a b"] {
            for path in ["/metrics", "/health/live"] {
                let (status, body) = try await get(url + path, "-H", host.isEmpty ? "Host;" : "Host: \(host)")
                #expect(status == 421 && !body.contains("gatehouse_"), "\(host): \(body)")
            }
        }
        for host in ["localhost", "LOCALHOST:9090", "127.0.0.1", "192.0.2.1:80", "[::1]:9000"] {
            #expect(try await get("\(url)/metrics", "-H", "Host: \(host)").status == 200, "\(host)")
        }
        #expect(try await get("\(url)/health/live", "--http1.0", "-H", "Host:").status == 200)
        #expect(await server.end() == 0)
    }

    @Test func `a target in absolute form is answered, if its host and the Host are local`() async throws {
        let server = try await RunningServer(Self.configuration)
        let url = try metricsURL(server)
        for (target, host, expected) in [
            ("http://localhost/metrics", "localhost", 200), ("HTTP://127.0.0.1:9464/health/live?x", "localhost", 200),
            ("http://localhost/other", "localhost", 404), ("http://localhost", "localhost", 404),
            ("http://page.example/metrics", "localhost", 421), ("http://localhost/metrics", "page.example", 421),
            ("http:///metrics", "localhost", 421), ("http://localhost@page.example/metrics", "localhost", 421),
            ("https://localhost/metrics", "localhost", 404),
        ] {
            let (status, body) = try await get(url, "--request-target", target, "-H", "Host: \(host)")
            #expect(status == expected, "\(target) \(host): \(body)")
        }
        // After a reload, a new realm has the series too.
        try server.folder.write(
            Self.configuration + "realm third { class StoreRealm; jaas-context storeRealm; }",
            to: "realms.conf"
        )
        try await server.hangUp()
        let text = try await get("\(url)/metrics").body
        #expect(value(#"gatehouse_logins_total{realm="third",outcome="unavailable"}"#, in: text) == 0)
        #expect(await server.end() == 0)
    }

    @Test func `a connection to 127.0.0.1 of a listener for all addresses is one to a loopback address`() async throws {
        let server = try await RunningServer(
            Self.configuration.replacing("metrics { listen 127.0.0.1:0", with: "metrics { listen [::]:0")
        )
        let begin = try #require(server.log.range(of: "http://[::]:"))
        let port = server.log[begin.upperBound...].prefix { $0.isNumber }
        let url = "http://127.0.0.1:\(port)/metrics"
        #expect(try await get(url, "-H", "Host: page.example").status == 421)
        #expect(try await get(url).status == 200)
        #expect(await server.end() == 0)
    }

    @Test func `failed and resumed handshakes, locks and reloads are counted`() async throws {
        let server = try await RunningServer(Self.configuration)
        let url = try metricsURL(server)
        // A client that trusts no certificate ends the handshake.
        let curl = try #require(Program.system("curl"))
        _ = try await Program.run(curl, RunningServer.curlOptions + [server.url])
        for _ in 0..<6 { _ = try await server.request("/welcome", "--user", "ann:wrong") }
        try await server.hangUp()
        try server.folder.write("server {", to: "realms.conf")
        try await server.hangUp()
        let isCounted = try await Program.wait {
            let text = try await get("\(url)/metrics").body
            return value(#"gatehouse_locked{kind="account"}"#, in: text) ?? 0 > 0
        }
        let text = try await get("\(url)/metrics").body
        #expect(isCounted, "\(text)")
        #expect(value(#"gatehouse_lockouts_total{kind="account"}"#, in: text) ?? 0 > 0)
        let failed = value(#"gatehouse_tls_handshakes_total{version="none",result="failed"}"#, in: text)
        #expect(failed ?? 0 > 0, "\(text)")
        #expect(value(#"gatehouse_configuration_reloads_total{result="success"}"#, in: text) == 1)
        #expect(value(#"gatehouse_configuration_reloads_total{result="failure"}"#, in: text) == 1)
        #expect(await server.end() == 0)
    }

    @Test func `each metric of the server is described in docs, and docs describe no other`() async throws {
        let server = try await RunningServer(Self.configuration)
        let url = try metricsURL(server)
        _ = try await server.request("/welcome", "--user", "zed:secret")
        _ = try await Program.wait { try await get("\(url)/metrics").body.contains("gatehouse_hashing_refused_total") }
        let text = try await get("\(url)/metrics").body
        let served = Set(
            text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        )
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../docs/metrics.md")
        let described = Set(
            try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `") }
                .compactMap { $0.split(separator: "`").dropFirst().first }
                .filter { $0.hasPrefix("gatehouse_") || $0.hasPrefix("process_") }
        )
        #expect(served.symmetricDifference(described).isEmpty)
        #expect(await server.end() == 0)
    }

    @Test func `the server is ready while it listens, and not while it waits for open requests`() async throws {
        let server = try await RunningServer(Self.configuration)
        let url = try metricsURL(server)
        #expect(try await get("\(url)/health/live") == (200, "live\n"))
        #expect(try await get("\(url)/health/ready") == (200, "ready\n"))
        #expect(try await get("\(url)/health/ready?x=1").status == 200)
        #expect(try await get("\(url)/health").status == 404)
        #expect(try await get("\(url)/metrics", "-X", "POST").status == 405)
        #expect(try await get("\(url)/metrics", "--head").status == 200)
        // A request without an end is open for some seconds. The request before it shows that its beginning has arrived:
        // both are sent in one piece.
        let shell = try #require(Program.system("sh"))
        let whole = #"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"#
        let request = #"(printf '\#(whole)GET / HTTP/1.1\r\n'; sleep 8)"#
        let client = "openssl s_client -quiet -connect 127.0.0.1:\(server.port) >/dev/null 2>&1"
        async let isSent = Program.run(shell, ["-c", "\(request) | \(client)"])
        let isOpen = try await Program.wait {
            let text = try await get("\(url)/metrics").body
            return value(#"gatehouse_requests_total{lane="loop",status="2xx"}"#, in: text) == 1
                && value("gatehouse_connections", in: text) == 1
        }
        #expect(isOpen)
        server.signal(SIGTERM)
        let isStopping = try await Program.wait { try await get("\(url)/health/ready") == (503, "stopping\n") }
        #expect(isStopping)
        #expect(await server.end() == 0)
        _ = try await isSent
    }

    @Test func `without a metrics block none are served, and an address in use is an error`() async throws {
        let server = try await RunningServer(Self.configuration)
        let port = try #require(URL(string: try metricsURL(server))?.port)
        let folder = try TemporaryFolder()
        try folder.write(
            """
            realm letters { class StartWithRealm; }
            login xtechMyRealm { StartWithLoginModule required; }
            server {
                listen 127.0.0.1:0;
                metrics { listen 127.0.0.1:\(port); }
            }
            protect /welcome { realm letters; require any; }
            """,
            to: "realms.conf"
        )
        let refused = try await Program.run(Program.built("gatehouse"), ["serve"], in: folder.url)
        #expect(refused.status == 3, "\(refused)")
        let message = "realms.conf:5:22: error: cannot listen on 127.0.0.1:\(port): the address is in use"
        #expect(refused.errors.contains(message), "\(refused.errors)")
        #expect(await server.end() == 0)
        let silent = try await RunningServer(
            Self.configuration.replacingOccurrences(of: "metrics { listen 127.0.0.1:0; }", with: "")
        )
        #expect(throws: NoAddress.self) { try metricsURL(silent) }
        #expect(await silent.end() == 0)
    }

    @Test(.enabled(if: Program.system("python3") != nil, "python3 is not installed"))
    func `a connection has one answer, also if its client sends more or never ends its body`() async throws {
        let server = try await RunningServer(Self.configuration)
        let script = """
            socket, sys = map(__import__, ("socket", "sys"))
            def answers(data):
                client = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
                client.settimeout(30)
                try:
                    client.sendall(data)
                except OSError:
                    pass
                received = b""
                try:
                    while part := client.recv(65536):
                        received += part
                except OSError:
                    pass
                return received.count(b"HTTP/1.1 ")
            get = b"GET /health/live HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"
            post = b"POST /metrics HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 1000000\\r\\n\\r\\nbody"
            print(answers(get), answers(get * 50), answers(post), answers(get[:20]))
            """
        let port = try #require(URL(string: try metricsURL(server))?.port)
        let python = try #require(Program.system("python3"))
        let finished = try await Program.run(python, ["-c", script, "\(port)"])
        #expect(finished.output == "1 1 1 0\n", "\(finished)")
        #expect(await server.end() == 0)
    }

    @Test(.enabled(if: Program.system("python3") != nil, "python3 is not installed"))
    func `idle connections do not keep a probe from its answer`() async throws {
        let server = try await RunningServer(Self.configuration)
        let script = """
            socket, sys = map(__import__, ("socket", "sys"))
            def connect():
                return socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
            def probe():
                with connect() as client:
                    client.sendall(b"GET /health/live HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                    return b" 200 " in client.recv(100)
            idle, answered = [], 0
            for _ in range(10):
                idle += [connect() for _ in range(20)]
                answered += probe()
            print(answered)
            """
        let port = try #require(URL(string: try metricsURL(server))?.port)
        let python = try #require(Program.system("python3"))
        let finished = try await Program.run(python, ["-c", script, "\(port)"])
        #expect(finished.output == "10\n", "\(finished)")
        #expect(await server.end() == 0)
    }

    @Test func `metrics that other machines can read get a warning`() async throws {
        let folder = try TemporaryFolder()
        for (words, warns) in [
            ("", false), ("listen 127.0.0.1:9464;", false), ("listen 127.9.9.9:1;", false),
            ("listen [::1]:9464;", false), ("listen localhost:9464;", false), ("listen 0.0.0.0:9464;", true),
            ("listen *:9464;", true),
            ("listen [::]:9464;", true), ("listen 10.0.0.1:9464;", true), ("listen [::ffff:10.0.0.1]:9464;", true),
            ("listen metrics.internal:9464;", true),
        ] {
            try folder.write(
                """
                realm letters { class StartWithRealm; }
                login xtechMyRealm { StartWithLoginModule required; }
                server { metrics { \(words) } }
                protect /welcome { realm letters; require any; }
                """,
                to: "realms.conf"
            )
            let check = try await Program.run(Program.built("gatehouse"), ["check"], in: folder.url)
            #expect(check.status == 0, "\(words): \(check)")
            let isWarning = check.errors.contains("can read the metrics, because they need no login")
            #expect(isWarning == warns, "\(words): \(check)")
        }
    }
}
