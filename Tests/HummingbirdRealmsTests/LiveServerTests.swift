// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import HummingbirdRealms
import Logging
import LoginConf
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@Suite struct LiveServerTests {
    private static func signIn(_ name: String, _ server: LiveServer.Running) async throws -> String {
        let connection = try await server.connect()
        let body = #"{"username": "\#(name)", "password": "\#(RealmsFixture.password)"}"#
        let head = try await connection.request("POST /session", ["content-type: application/json"], body: body)
        try await connection.close()
        let cookie = try #require(head.split(separator: "\r\n").first { $0.contains("__Host-gatehouse=") })
        return String(try #require(cookie.split(separator: " ").dropFirst().first).dropLast())
    }

    /// Returns a router with a stream that ends with its session, and with other routes.
    private static func router(_ fixture: RealmsFixture) throws -> Router<RealmsFixture.Context> {
        let router = try fixture.router()
        let realms = fixture.realms
        router.get("/stream") { _, context in
            guard let session = context.session else { return Response(status: .unauthorized) }
            let watch = try realms.watch(session)
            let (lines, line) = AsyncStream.makeStream(of: String.self)
            line.yield("begun\n")
            let body = ResponseBody { writer in
                async let _ = watch.onEnd { line.finish() }
                for await text in lines { try await writer.write(ByteBuffer(string: text)) }
                try await writer.write(ByteBuffer(string: "ended\n"))
                try await writer.finish(nil)
            }
            return Response(status: .ok, body: body)
        }
        return router
    }

    @Test func `a port that another program uses is named with its line`() async throws {
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        let other = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(other.localAddress?.port)
        let fixture = try await RealmsFixture(port: port)
        let application = Application(
            router: try Self.router(fixture),
            server: try .openSSL(fixture.realms),
            configuration: .init(address: fixture.realms.address),
            services: [fixture.realms],
            logger: Logger(label: "live") { _ in SwiftLogNoOpLogHandler() }
        )
        let errors = try await #require(throws: ConfigurationErrors.self) {
            try await fixture.realms.serve(application)
        }
        let message = "realms.conf:9:12: error: cannot listen on 127.0.0.1:\(port): the address is in use"
        #expect("\(errors)".contains(message), "\(errors)")
        try await other.close()
    }

    @Test func `an application listens on all addresses, and its services and preparations run once`() async throws {
        let fixture = try await RealmsFixture(server: "listen 127.0.0.2:0; listen 127.0.0.3:0;")
        let log = Lines()
        let (events, event) = AsyncStream.makeStream(of: String.self)
        var application = Application(
            router: try Self.router(fixture),
            server: try .openSSL(fixture.realms),
            configuration: .init(address: fixture.realms.address),
            services: [fixture.realms, CountedService { event.yield("service") }],
            onServerRunning: { channel in event.yield(channel.localAddress?.ipAddress ?? "") },
            logger: log.logger(.trace)
        )
        application.beforeServerStarts { event.yield("preparation") }
        let served = application
        let serving = Task { try await fixture.realms.serve(served) }
        var seen: [String] = []
        for await name in events {
            seen.append(name)
            if seen.count == 5 { break }
        }
        serving.cancel()
        _ = await serving.result
        event.finish()
        for await name in events { seen.append(name) }
        #expect(seen.filter { $0 != "service" } == ["preparation", "127.0.0.1", "127.0.0.2", "127.0.0.3"])
        #expect(seen.count { $0 == "service" } == 1)
        // ServiceLifecycle logs its services, which must not have the text of realms.conf.
        #expect(log.text.contains("Application on 127.0.0.2:0"), "\(log.text)")
        #expect(!log.text.contains("bytes: ["))
    }

    @Test func `an application that cannot listen on an address ends on all of them`() async throws {
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        let other = try await bootstrap.bind(host: "127.0.0.2", port: 0).get()
        let port = try #require(other.localAddress?.port)
        let fixture = try await RealmsFixture(server: "listen 127.0.0.2:\(port);")
        let (addresses, address) = AsyncStream.makeStream(of: SocketAddress?.self)
        let application = Application(
            router: try Self.router(fixture),
            server: try .openSSL(fixture.realms),
            configuration: .init(address: fixture.realms.address),
            services: [fixture.realms],
            onServerRunning: { address.yield($0.localAddress) },
            logger: Logger(label: "live") { _ in SwiftLogNoOpLogHandler() }
        )
        let errors = try await #require(throws: ConfigurationErrors.self) {
            try await fixture.realms.serve(application)
        }
        #expect("\(errors)".contains("cannot listen on 127.0.0.2:\(port): the address is in use"), "\(errors)")
        try await other.close()
        address.finish()
        var listened: [SocketAddress] = []
        for await case let address? in addresses { listened.append(address) }
        #expect(listened.map(\.ipAddress) == ["127.0.0.1"])
        for address in listened {
            await #expect(throws: (any Error).self) {
                try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(to: address).get()
            }
        }
    }

    @Test func `a session can be begun, used and ended over TLS`() async throws {
        let fixture = try await RealmsFixture()
        try await LiveServer.run(fixture, try Self.router(fixture)) { server in
            let cookie = try await Self.signIn("ann", server)
            let connection = try await server.connect()
            #expect(try await connection.request("GET /staff", ["cookie: \(cookie)"]).hasPrefix("HTTP/1.1 200"))
            #expect(await connection.read(until: "staff") == "staff")
            #expect(try await connection.request("DELETE /session", ["cookie: \(cookie)"]).hasPrefix("HTTP/1.1 204"))
            #expect(try await connection.request("GET /staff", ["cookie: \(cookie)"]).hasPrefix("HTTP/1.1 401"))
            try await connection.close()
        }
    }

    @Test func `the sign-in form redirects to the return target`() async throws {
        let fixture = try await RealmsFixture()
        try await LiveServer.run(fixture, try Self.router(fixture)) { server in
            let page = try await server.connect()
            let head = try await page.request("GET /sign-in?return=/user", ["accept: text/html"])
            let browser = try #require(head.split(separator: "\r\n").first { $0.contains("__Host-gatehouse-sign-in=") })
            let cookie = try #require(browser.split(separator: " ").dropFirst().first)
            let html = await page.read(until: "</html>")
            let ticket = try #require(
                html.split(separator: "name=\"ticket\" value=\"").dropFirst().first?.prefix { $0 != "\"" }
            )
            let form = try await server.connect()
            let fields = ["accept: text/html", "content-type: application/x-www-form-urlencoded", "cookie: \(cookie)"]
            let body = "ticket=\(ticket)&username=ann&password=correct+horse"
            let answer = try await form.request("POST /sign-in", fields, body: body)
            #expect(answer.hasPrefix("HTTP/1.1 303"))
            #expect(answer.lowercased().contains("location: /user\r\n"))
            try await page.close()
            try await form.close()
        }
    }

    @Test func `a stream that watches a session ends with the session`() async throws {
        let fixture = try await RealmsFixture()
        try await LiveServer.run(fixture, try Self.router(fixture)) { server in
            let cookie = try await Self.signIn("ann", server)
            let stream = try await server.connect()
            _ = try await stream.request("GET /stream", ["cookie: \(cookie)"])
            #expect(await stream.read(until: "begun\n").hasSuffix("begun\n"))
            let other = try await server.connect()
            #expect(try await other.request("DELETE /session", ["cookie: \(cookie)"]).hasPrefix("HTTP/1.1 204"))
            #expect(await stream.read(until: "ended\n").hasSuffix("ended\n"))
            try await stream.close()
            try await other.close()
        }
    }

    @Test func `the server ends its streams when it shuts down`() async throws {
        let fixture = try await RealmsFixture()
        try await LiveServer.run(fixture, try Self.router(fixture)) { server in
            let cookie = try await Self.signIn("ann", server)
            let stream = try await server.connect()
            _ = try await stream.request("GET /stream", ["cookie: \(cookie)"])
            #expect(await stream.read(until: "begun\n").hasSuffix("begun\n"))
            let events = try await server.connect()
            #expect(try await events.request("GET /session/events", ["cookie: \(cookie)"]).hasPrefix("HTTP/1.1 200"))
            #expect(await events.read(until: "retry: 3000").hasSuffix("retry: 3000"))
            await server.stop()
            #expect(await stream.read(until: "ended\n").hasSuffix("ended\n"))
            #expect(await events.read(until: "the stream ends").hasSuffix("the stream ends"))
        }
    }
}

/// A service that reports its start, and runs until the shutdown.
private struct CountedService: Service {
    let onStart: @Sendable () -> Void

    func run() async throws {
        onStart()
        try await gracefulShutdown()
    }
}
