// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// Deadlines, with a clock that the test controls.
///
/// The server checks deadlines four times a second.
@Suite struct HTTP1DeadlineTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let limits: HTTPLimits = {
        var limits = HTTPLimits()
        limits.handshakeTime = .seconds(3)
        limits.headerTime = .seconds(5)
        limits.bodyTime = .seconds(7)
        limits.bodyRate = 100
        limits.idleTime = .seconds(30)
        limits.writeTime = .seconds(11)
        return limits
    }()

    @Test func `a handshake that takes too long is closed without a response`() throws {
        let connection = try EmbeddedConnection(Self.limits, isHandshaken: false)
        defer { connection.end() }
        connection.advance(.seconds(3))
        #expect(connection.isOpen)
        connection.advance(.milliseconds(300))
        #expect(connection.network.isClosed)
        #expect(connection.text.isEmpty)
    }

    @Test func `after the header time, or the idle time after a request, a silent client is disconnected`()
        throws
    {
        let silent = try EmbeddedConnection(Self.limits)
        defer { silent.end() }
        silent.advance(.seconds(5))
        #expect(silent.isOpen)
        silent.advance(.milliseconds(300))
        #expect(!silent.isOpen)
        #expect(silent.text.isEmpty)

        let idle = try EmbeddedConnection(Self.limits)
        defer { idle.end() }
        idle.advance(.seconds(4))
        idle.receive(Self.get)
        idle.advance(.seconds(30))
        #expect(idle.isOpen)
        idle.advance(.milliseconds(300))
        #expect(!idle.isOpen)
        #expect(try idle.statuses == [200])
    }

    @Test(arguments: [Duration.milliseconds(100), .seconds(1), .seconds(4)])
    func `a header that arrives slowly does not extend the header time`(pause: Duration) throws {
        let connection = try EmbeddedConnection(Self.limits)
        defer { connection.end() }
        connection.receive(Self.get)
        connection.advance(.seconds(20))
        var elapsed = Duration.zero
        for byte in "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 200))".utf8 where connection.isOpen {
            connection.receive([byte])
            connection.advance(pause)
            elapsed += pause
        }
        #expect(elapsed >= .seconds(5))
        #expect(elapsed <= .seconds(5.5) + pause)
        #expect(try connection.statuses == [200, 408])
    }

    @Test func `a header that arrives in several pieces within the header time is accepted`() throws {
        let connection = try EmbeddedConnection(Self.limits)
        defer { connection.end() }
        for _ in 0..<5 {
            for piece in ["GET / HT", "TP/1.1\r\nHo", "st: a\r\n\r", "\n"] {
                connection.receive(piece)
                connection.advance(.seconds(1))
            }
        }
        #expect(try connection.statuses == [200, 200, 200, 200, 200])
    }

    @Test func `empty lines do not extend the header time`() throws {
        let connection = try EmbeddedConnection(Self.limits)
        defer { connection.end() }
        connection.advance(.seconds(4))
        connection.receive("\r\n")
        connection.advance(.milliseconds(1300))
        #expect(!connection.isOpen)
    }

    @Test func `after the body time a body must arrive at a minimum rate`() throws {
        for (rate, isFastEnough) in [(120, true), (80, false)] {
            let connection = try EmbeddedConnection(Self.limits)
            defer { connection.end() }
            connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
            var isRefused = false
            for _ in 0..<600 where !isRefused {
                connection.receive(String(repeating: "x", count: rate / 4 - (isFastEnough ? 0 : 10)))
                connection.advance(.milliseconds(250))
                isRefused = !connection.isOpen
            }
            #expect(isRefused == !isFastEnough)
            // The request was answered before its body arrived, so there is no second response.
            #expect(try connection.statuses == [200])
        }
    }

    @Test func `slow chunk extensions and tiny chunks do not count towards the body's rate`() throws {
        for piece in ["1;a", "a", "\r\nx\r\n"] {
            let connection = try EmbeddedConnection(Self.limits)
            defer { connection.end() }
            connection.receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;")
            for _ in 0..<32 {
                if piece.hasPrefix("\r") {
                    connection.receive(connection.isOpen ? "\r\nx\r\n1;" : "")
                } else {
                    connection.receive("a")
                }
                connection.advance(.milliseconds(250))
            }
            #expect(!connection.isOpen)
        }
    }

    @Test func `a client that reads nothing is disconnected`() throws {
        let connection = try EmbeddedConnection(
            Self.limits,
            ScriptedResponder { _, _ in .immediate(.text(String(repeating: "x", count: 70_000))) }
        )
        defer { connection.end() }
        connection.network.isClientReading = false
        connection.receive(Self.get + Self.get)
        connection.advance(.seconds(11))
        #expect(!connection.network.isClosed)
        connection.advance(.milliseconds(300))
        #expect(connection.network.isClosed)
        #expect(connection.text.isEmpty, "a client that reads nothing gets no 408")
    }

    @Test func `a client that continues to read is not disconnected`() throws {
        let connection = try EmbeddedConnection(
            Self.limits,
            ScriptedResponder { _, _ in .immediate(.text(String(repeating: "x", count: 70_000))) }
        )
        defer { connection.end() }
        connection.network.isClientReading = false
        connection.receive(Self.get + Self.get)
        for _ in 0..<4 {
            connection.advance(.seconds(9))
            connection.network.clientReads(70_000)
            connection.eventLoop.run()
        }
        #expect(!connection.network.isClosed)
    }

    @Test func `a client that does not close after the last response is disconnected`() throws {
        let connection = try EmbeddedConnection(Self.limits)
        defer { connection.end() }
        connection.receive("GET / HTTP/1.0\r\n\r\n")
        #expect(connection.network.isOutputClosed)
        for _ in 0..<5 {
            connection.receive("bytes after the last request")
            connection.advance(.milliseconds(900))
        }
        #expect(!connection.network.isClosed)
        connection.advance(.seconds(1))
        #expect(connection.network.isClosed)
        #expect(connection.base.endCount == 1)
    }

    @Test func `the time to close begins when the last response has been written`() throws {
        let connection = try EmbeddedConnection(
            Self.limits,
            ScriptedResponder { _, _ in .immediate(.text(String(repeating: "x", count: 9000))) }
        )
        defer { connection.end() }
        connection.network.isClientReading = false
        connection.receive("GET / HTTP/1.0\r\n\r\n")
        connection.advance(.seconds(8))
        connection.network.isClientReading = true
        connection.network.clientReads()
        connection.eventLoop.run()
        #expect(try connection.responses.first?.body.count == 9000)
        #expect(connection.network.isOutputClosed)

        let stuck = try EmbeddedConnection(
            Self.limits,
            ScriptedResponder { _, _ in .immediate(.text(String(repeating: "x", count: 9000))) }
        )
        defer { stuck.end() }
        stuck.network.isClientReading = false
        stuck.receive("GET / HTTP/1.0\r\n\r\n")
        stuck.advance(.seconds(17))
        #expect(stuck.network.isClosed)
    }

    @Test func `the server's time is the time of the event loop`() throws {
        let connection = try EmbeddedConnection(Self.limits)
        defer { connection.end() }
        #expect(connection.base.loopState.now == 0)
        connection.advance(.seconds(2))
        #expect(connection.base.loopState.now == 2_000_000_000)
    }

    @Test(arguments: [true, false])
    func `a client that waits for 100 has as much time as the task that prepares its response`(
        expectsContinue: Bool
    ) async throws {
        let latch = CancellableLatch()
        let connection = try await AsyncConnection { _, target in
            .prepared(beginsOnEventLoop: true) {
                _ = await latch.pass()
                return .text(target)
            }
        }
        let expect = expectsContinue ? "Expect: 100-continue\r\n" : ""
        try await connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\(expect)\r\n")
        for _ in 0..<100 { await connection.advance(.seconds(1)) }
        latch.open()
        // A client that was not asked to wait has sent nothing of its body in time.
        #expect(try await connection.responses(1).map(\.status) == [expectsContinue ? 200 : 408])
        try await connection.end()
    }
}
