// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import HTTPLimits
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// Deadlines, with a clock that the test controls.
///
/// The server checks deadlines four times a second.
@Suite struct DeadlineTests {
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
        let line = try EmbeddedLine(Self.limits, isHandshaken: false)
        defer { line.end() }
        line.advance(.seconds(3))
        #expect(line.isOpen)
        line.advance(.milliseconds(300))
        #expect(line.wire.isClosed)
        #expect(line.text.isEmpty)
    }

    @Test func `the header time limits silence before the first request, and the idle time limits it afterwards`() throws {
        let silent = try EmbeddedLine(Self.limits)
        defer { silent.end() }
        silent.advance(.seconds(5))
        #expect(silent.isOpen)
        silent.advance(.milliseconds(300))
        #expect(!silent.isOpen)
        #expect(silent.text.isEmpty)

        let idle = try EmbeddedLine(Self.limits)
        defer { idle.end() }
        idle.advance(.seconds(4))
        idle.bring(Self.get)
        idle.advance(.seconds(30))
        #expect(idle.isOpen)
        idle.advance(.milliseconds(300))
        #expect(!idle.isOpen)
        #expect(try idle.statuses == [200])
    }

    @Test(arguments: [Duration.milliseconds(100), .seconds(1), .seconds(4)])
    func `a slow header does not extend the header time`(pause: Duration) throws {
        let line = try EmbeddedLine(Self.limits)
        defer { line.end() }
        line.bring(Self.get)
        line.advance(.seconds(20))
        var elapsed = Duration.zero
        for byte in "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 200))".utf8 where line.isOpen {
            line.bring([byte])
            line.advance(pause)
            elapsed += pause
        }
        #expect(elapsed >= .seconds(5))
        #expect(elapsed <= .seconds(5.5) + pause)
        #expect(try line.statuses == [200, 408])
    }

    @Test func `a header that arrives in several pieces within the header time is accepted`() throws {
        let line = try EmbeddedLine(Self.limits)
        defer { line.end() }
        for _ in 0..<5 {
            for piece in ["GET / HT", "TP/1.1\r\nHo", "st: a\r\n\r", "\n"] {
                line.bring(piece)
                line.advance(.seconds(1))
            }
        }
        #expect(try line.statuses == [200, 200, 200, 200, 200])
    }

    @Test func `empty lines do not extend the header time`() throws {
        let line = try EmbeddedLine(Self.limits)
        defer { line.end() }
        line.advance(.seconds(4))
        line.bring("\r\n")
        line.advance(.milliseconds(1300))
        #expect(!line.isOpen)
    }

    @Test func `after the body time a body must arrive at a minimum rate`() throws {
        for (rate, isTaken) in [(120, true), (80, false)] {
            let line = try EmbeddedLine(Self.limits)
            defer { line.end() }
            line.bring("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
            var isRefused = false
            for _ in 0..<600 where !isRefused {
                line.bring(String(repeating: "x", count: rate / 4 - (isTaken ? 0 : 10)))
                line.advance(.milliseconds(250))
                isRefused = !line.isOpen
            }
            #expect(isRefused == !isTaken)
            // The request was answered before its body arrived, so there is no second response.
            #expect(try line.statuses == [200])
        }
    }

    @Test func `slow chunk extensions and tiny chunks do not count towards the body's rate`() throws {
        for piece in ["1;a", "a", "\r\nx\r\n"] {
            let line = try EmbeddedLine(Self.limits)
            defer { line.end() }
            line.bring("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;")
            for _ in 0..<32 {
                if piece.hasPrefix("\r") { line.bring(line.isOpen ? "\r\nx\r\n1;" : "") } else { line.bring("a") }
                line.advance(.milliseconds(250))
            }
            #expect(!line.isOpen)
        }
    }

    @Test func `a client that reads nothing is disconnected`() throws {
        let line = try EmbeddedLine(
            Self.limits,
            Scripted { _, _ in .immediate(.text(String(repeating: "x", count: 70_000))) }
        )
        defer { line.end() }
        line.wire.isTaking = false
        line.bring(Self.get + Self.get)
        line.advance(.seconds(11))
        #expect(!line.wire.isClosed)
        line.advance(.milliseconds(300))
        #expect(line.wire.isClosed)
        #expect(line.text.isEmpty, "no 408 for a client whose requests wait for its reads")
    }

    @Test func `a client that continues to read is not disconnected`() throws {
        let line = try EmbeddedLine(
            Self.limits,
            Scripted { _, _ in .immediate(.text(String(repeating: "x", count: 70_000))) }
        )
        defer { line.end() }
        line.wire.isTaking = false
        line.bring(Self.get + Self.get)
        for _ in 0..<4 {
            line.advance(.seconds(9))
            line.wire.take(70_000)
            line.eventLoop.run()
        }
        #expect(!line.wire.isClosed)
    }

    @Test func `a client that does not close after the last response is disconnected`() throws {
        let line = try EmbeddedLine(Self.limits)
        defer { line.end() }
        line.bring("GET / HTTP/1.0\r\n\r\n")
        #expect(line.wire.isOutputClosed)
        for _ in 0..<5 {
            line.bring("bytes after the last request")
            line.advance(.milliseconds(900))
        }
        #expect(!line.wire.isClosed)
        line.advance(.seconds(1))
        #expect(line.wire.isClosed)
        #expect(line.line.ends == 1)
    }

    @Test func `the time to close begins when the last response has been written`() throws {
        let line = try EmbeddedLine(
            Self.limits,
            Scripted { _, _ in .immediate(.text(String(repeating: "x", count: 9000))) }
        )
        defer { line.end() }
        line.wire.isTaking = false
        line.bring("GET / HTTP/1.0\r\n\r\n")
        line.advance(.seconds(8))
        line.wire.isTaking = true
        line.wire.take()
        line.eventLoop.run()
        #expect(try line.answers.first?.body.count == 9000)
        #expect(line.wire.isOutputClosed)

        let stuck = try EmbeddedLine(
            Self.limits,
            Scripted { _, _ in .immediate(.text(String(repeating: "x", count: 9000))) }
        )
        defer { stuck.end() }
        stuck.wire.isTaking = false
        stuck.bring("GET / HTTP/1.0\r\n\r\n")
        stuck.advance(.seconds(17))
        #expect(stuck.wire.isClosed)
    }

    @Test func `time is measured by the event loop`() throws {
        let line = try EmbeddedLine(Self.limits)
        defer { line.end() }
        #expect(line.line.connections.now == 0)
        line.advance(.seconds(2))
        #expect(line.line.connections.now == 2_000_000_000)
    }
}
