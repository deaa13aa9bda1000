// SPDX-License-Identifier: Apache-2.0

import HTTPSTesting
import OpenSSLKit
import TLSTesting
import TestTools
import Testing

@testable import HTTPSClient

@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct ConnectionTests {
    @Test func `a connection that the server has closed is replaced, and nothing is sent twice`() async throws {
        try await Fixture.withService(respond: { _ in [Fixture.response("x")] }) { service in
            let client = try Fixture.client()
            for count in 1...5 {
                _ = try await client.get(service.url())
                #expect(service.requests.count == count)
                service.closeConnections()
                try await Waiting.until { client.pool.openConnections == 0 }
            }
            #expect(service.connections == 5)
        }
    }

    @Test func `a request on a connection that the server closes at that moment is not sent again`() async throws {
        let respond: @Sendable (TestService.Received) -> [TestService.Step] = { request in
            request.number == 0 ? [Fixture.response("x")] : [.abort]
        }
        try await Fixture.withService(respond: respond) { service in
            let client = try Fixture.client()
            _ = try await client.get(service.url())
            let error = try await #require(throws: HTTPSClientError.self) { try await client.get(service.url()) }
            #expect(error.code == .connectionClosed)
            #expect(error.mayHaveReachedServer)
            #expect(service.requests.count == 2)
            #expect(service.connections == 1)
        }
    }

    /// A caller that gets the response before the pool has the connection back opens a second connection for its next
    /// request.
    @Test func `a complete response cannot fail, and is not delivered before its connection is free`() async throws {
        let request = try HTTPSRequest("GET", HTTPSURL("https://localhost/"))
        let exchange = HTTPSExchange(request, timeout: .seconds(60))
        exchange.complete()
        exchange.fail(.cancelled, "a complete response cannot fail")
        #expect(!exchange.hasFailed)
        exchange.deliver(HTTPSResponse(status: 200, fields: [], body: [1]))
        #expect(try await exchange.answer().get().body == [1])
    }

    @Test func `an unused connection is closed after the idle time, or the shorter time of the server`() async throws {
        for fields in ["", "Keep-Alive: max=5, timeout=1\r\n"] {
            try await Fixture.withService(respond: { _ in [Fixture.response("x", fields: fields)] }) { service in
                let client = try Fixture.client { $0.idleTime = fields.isEmpty ? .milliseconds(50) : .seconds(3600) }
                _ = try await client.get(service.url())
                try await Waiting.until { service.closedConnections == 1 && client.pool.openConnections == 0 }
            }
        }
    }

    @Test func `more requests than connections wait, and more than may wait are refused`() async throws {
        let latch = Latch()
        try await Fixture.withService(respond: { _ in [.wait(latch), Fixture.response("x")] }) { service in
            let client = try Fixture.client { configuration in
                configuration.connections = 2
                configuration.waitingRequests = 3
            }
            let url = try service.url()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { _ = try await client.get(url) } }
                try await Waiting.until { service.requests.count == 2 }
                for _ in 0..<3 { group.addTask { _ = try await client.get(url) } }
                try await Waiting.until { client.pool.waitingRequests == 3 }
                let error = try await #require(throws: HTTPSClientError.self) { try await client.get(url) }
                #expect(error.code == .tooManyRequests)
                #expect(!error.mayHaveReachedServer)
                latch.open()
                try await group.waitForAll()
            }
            #expect(service.requests.count == 5)
            #expect(service.connections == 2)
        }
    }

    @Test func `cancellation closes the connection at once`() async throws {
        try await Fixture.withService(respond: { _ in [] }) { service in
            let client = try Fixture.client()
            let url = try service.url()
            let task = Task { () -> HTTPSClientError? in
                do throws(HTTPSClientError) {
                    _ = try await client.get(url)
                    return nil
                } catch {
                    return error
                }
            }
            try await Waiting.until { service.requests.count == 1 }
            task.cancel()
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveReachedServer == true)
            try await Waiting.until { service.closedConnections == 1 }
        }
    }

    @Test func `cancelled requests do not fail the requests that wait for their connection`() async throws {
        try await Fixture.withService(respond: { _ in [Fixture.response("x")] }) { service in
            let client = try Fixture.client { $0.connections = 1 }
            let url = try service.url()
            // The first request opens the connection.
            _ = try await client.get(url)
            for round in 0..<300 {
                let count = service.requests.count
                let first = Task { try? await client.get(url) }
                let second = Task { try await client.get(url) }
                // The response arrives at about the time of the cancellation.
                try await Waiting.until { service.requests.count > count }
                for _ in 0..<round % 50 { await Task.yield() }
                first.cancel()
                let response = try await second.value
                #expect(response.body == Array("x".utf8))
                _ = await first.value
            }
        }
    }

    @Test func `a cancelled task sends nothing`() async throws {
        try await Fixture.withService(respond: { _ in [Fixture.response("x")] }) { service in
            let client = try Fixture.client()
            let url = try service.url()
            let latch = Latch()
            let task = Task { () -> HTTPSClientError? in
                await latch.pass()
                do throws(HTTPSClientError) {
                    _ = try await client.get(url)
                    return nil
                } catch {
                    return error
                }
            }
            task.cancel()
            latch.open()
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveReachedServer == false)
            #expect(service.requests.isEmpty)
        }
    }

    @Test func `a response that does not come in time`() async throws {
        try await Fixture.withService(respond: { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nx")] }) {
            service in
            let client = try Fixture.client { $0.timeout = .milliseconds(500) }
            let error = try await #require(throws: HTTPSClientError.self) { try await client.get(service.url()) }
            #expect(error.code == .timedOut)
            try await Waiting.until { client.pool.openConnections == 0 }
        }
    }

    @Test func `a handshake that does not continue`() async throws {
        let service = try await TestService(tls: nil, respond: { _ in [] })
        let client = try Fixture.client { $0.connectTimeout = .milliseconds(200) }
        let error = try await #require(throws: HTTPSClientError.self) { try await client.get(service.url()) }
        #expect(error.code == .connectTimedOut)
        #expect(!error.mayHaveReachedServer)
        try await service.stop()
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "garbage", ""])
    func `a server that does not speak TLS`(text: String) async throws {
        let service = try await TestService(tls: nil, onAccept: [.send(text), .close], respond: { _ in [] })
        let error = try await #require(throws: HTTPSClientError.self) {
            try await Fixture.client().get(service.url())
        }
        #expect(error.code == .connectFailed)
        #expect(!error.mayHaveReachedServer)
        try await service.stop()
    }

    @Test func `a server that is down, and one that is back`() async throws {
        let service = try await TestService(tls: Fixture.server(), respond: { _ in [Fixture.response("x")] })
        let (port, url) = (service.port, try service.url())
        let client = try Fixture.client()
        _ = try await client.get(url)
        try await service.stop()
        try await Waiting.until { client.pool.openConnections == 0 }
        let error = try await #require(throws: HTTPSClientError.self) { try await client.get(url) }
        #expect(error.code == .connectFailed)
        #expect(!error.mayHaveReachedServer)
        let other = try await TestService(tls: Fixture.server(), port: port, respond: { _ in [Fixture.response("y")] })
        #expect(try await client.get(url).body == Array("y".utf8))
        try await other.stop()
    }

    @Test func `a name without an address`() async throws {
        let client = try Fixture.client { $0.connectTimeout = .seconds(10) }
        let error = try await #require(throws: HTTPSClientError.self) {
            try await client.get(HTTPSURL("https://no-such-host.invalid/"))
        }
        // Without a network the resolver may wait longer than the client.
        #expect([.nameNotResolved, .connectTimedOut].contains(error.code), "\(error)")
        #expect(!error.mayHaveReachedServer)
    }

    @Test func `a closed client`() async throws {
        try await Fixture.withService(respond: { _ in [Fixture.response("x")] }) { service in
            let client = try Fixture.client()
            _ = try await client.get(service.url())
            client.close()
            try await Waiting.until { service.closedConnections == 1 }
            let error = try await #require(throws: HTTPSClientError.self) { try await client.get(service.url()) }
            #expect(error.code == .clientClosed)
        }
    }

    @Test func `a released client closes its connections`() async throws {
        try await Fixture.withService(respond: { _ in [Fixture.response("x")] }) { service in
            _ = try await Fixture.client().get(service.url())
            try await Waiting.until { service.closedConnections == 1 }
        }
    }

    @Test func `many requests at once`() async throws {
        try await Fixture.withService(respond: { request in [Fixture.response(request.line)] }) { service in
            let client = try Fixture.client { $0.connections = 8 }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    let url = try service.url("/\(number)")
                    group.addTask {
                        let body = try await client.get(url).body
                        #expect(body == Array("GET /\(number) HTTP/1.1".utf8))
                    }
                }
                try await group.waitForAll()
            }
            #expect(service.requests.count == 500)
            #expect(service.connections <= 8)
        }
    }
}
