// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import HummingbirdRealms
import Logging
import LoginConf
import NIOCore
import NIOPosix
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
