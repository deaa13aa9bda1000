// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import RealmVerifier
import SeededRandom
import Testing

@testable import NIORealms

@Suite struct PipeliningTests {
    @Test(arguments: [true, false])
    func `requests wait for the check of the first, and are answered in order`(hasPipelining: Bool) async throws {
        let connection = try await Connection(hasPipelining: hasPipelining, answers: false)
        // The second one could be answered at once.
        try await connection.receive(get("/1", "ann") + get("/2") + get("/3", "ben"))
        let first = try await connection.nextCheck()
        #expect(try await connection.output() == "" && connection.waiting == 0)
        try first.accept()
        try await connection.wait { connection.application.all.count == 2 }
        #expect(try await connection.output() == "" && connection.waiting == 0)
        try await connection.inApplication { application, context in application.answer(context) }
        #expect(try await connection.statuses(2) == ["200", "401"])
        try await connection.nextCheck().accept()
        try await connection.wait { connection.application.all.count == 4 }
        #expect(connection.application.all == ["ann /1", "end", "ben /3", "end"])
    }

    @Test(arguments: [true, false])
    func `nothing is read and no part is lost while a check runs`(hasPipelining: Bool) async throws {
        let connection = try await Connection(hasPipelining: hasPipelining)
        try await connection.receive(get("/", "ann", "Content-Length: 9\r\n", method: "POST") + "abc")
        let check = try await connection.nextCheck()
        let before = connection.reads
        connection.channel.read()
        await connection.channel.testingEventLoop.run()
        #expect(connection.reads == before)
        try await connection.receive("def")
        try check.accept()
        try await connection.wait { connection.application.all.count == 3 }
        #expect(connection.application.all == ["ann /", "3 bytes", "3 bytes"])
        #expect(connection.reads == before + 1)
        try await connection.receive("ghi")
        #expect(try await connection.statuses(1) == ["200"])
    }

    @Test func `the end of the input comes after the request whose check runs`() async throws {
        let connection = try await Connection()
        try await connection.receive(get("/", "ann"))
        let check = try await connection.nextCheck()
        try await connection.channel.testingEventLoop.executeInContext {
            connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        #expect(connection.application.all.isEmpty)
        try check.accept()
        #expect(try await connection.statuses(1) == ["200"])
        #expect(connection.application.all == ["ann /", "end", "event inputClosed"])
    }

    @Test(arguments: [true, false])
    func `a client that sends too much while a check runs is disconnected`(hasPipelining: Bool) async throws {
        let connection = try await Connection(hasPipelining: hasPipelining)
        let size = 4 * HTTPServerAuthenticationHandler.maximumHeldBytes
        try await connection.receive(get("/", "ann", "Content-Length: \(size)\r\n", method: "POST"))
        let check = try await connection.nextCheck()
        var sent = 0
        while connection.channel.isActive, sent < size {
            try await connection.receive(String(repeating: "x", count: 65_536))
            sent += 65_536
        }
        #expect(sent < HTTPServerAuthenticationHandler.maximumHeldBytes + 65_536 && !connection.channel.isActive)
        check.finish(.refused)
    }

    @Test func `small parts count for more than their bytes`() async throws {
        let connection = try await Connection()
        try await connection.receive(get("/", "ann", "Transfer-Encoding: chunked\r\n", method: "POST"))
        let check = try await connection.nextCheck()
        var count = 0
        while connection.channel.isActive, count < 1 << 20 {
            try await connection.receive(String(repeating: "1\r\nx\r\n", count: 1000))
            count += 1000
        }
        #expect(count <= HTTPServerAuthenticationHandler.maximumHeldBytes / 32 + 1000)
        check.finish(.refused)
    }

    @Test(arguments: [true, false])
    func `a client that does not read has one response in memory`(hasPipelining: Bool) async throws {
        let connection = try await Connection(hasPipelining: hasPipelining, clientReads: false)
        try await connection.receive(get("/1") + get("/2", "ann") + get("/3"))
        #expect(try await connection.statuses() == ["401"] && connection.waiting == 0)
        let before = connection.reads
        connection.channel.read()
        await connection.channel.testingEventLoop.run()
        #expect(connection.reads == before)
        try await connection.channel.close()
        #expect(try await connection.statuses() == ["401"] && connection.waiting == 0)
    }

    // MARK: Bodies of refused requests

    @Test func `the body of a refused request is no request`() async throws {
        let connection = try await Connection()
        let smuggled = get("/smuggled", "ann")
        let fields = "Content-Length: \(smuggled.utf8.count)\r\n"
        try await connection.receive(get("/1", nil, fields, method: "POST") + smuggled + get("/2", "ben"))
        let check = try await connection.nextCheck()
        #expect(check.name == "ben" && connection.waiting == 0)
        try check.accept()
        #expect(try await connection.statuses(2) == ["401", "200"])
        #expect(connection.application.all == ["ben /2", "end"])
    }

    @Test func `a refused client that sends a large body is disconnected`() async throws {
        let connection = try await Connection()
        try await connection.receive(get("/", nil, "Content-Length: 1000000\r\n", method: "POST"))
        #expect(try await connection.statuses() == ["401"] && connection.channel.isActive)
        try await connection.receive(String(repeating: "x", count: 65_537))
        #expect(!connection.channel.isActive)
    }

    // MARK: Writes and errors

    @Test func `a write outside of a request fails and does not reach the client`() async throws {
        let connection = try await Connection()
        let results = Lines()
        let write: @Sendable (Application, ChannelHandlerContext) -> Void = { application, context in
            let promise = context.eventLoop.makePromise(of: Void.self)
            promise.futureResult.whenComplete { result in
                if case .failure(let error) = result { results.append("\(error)") }
            }
            application.answer(context, promise: promise)
        }
        try await connection.inApplication(write)
        try await connection.receive(get("/", "ann"))
        let check = try await connection.nextCheck()
        try await connection.inApplication(write)
        #expect(results.all.count == 2)
        try check.accept()
        #expect(try await connection.statuses(1) == ["200"])
        try await connection.inApplication(write)
        #expect(results.all.count == 3)
        #expect(try await connection.statuses() == ["200"])
    }

    @Test func `after a response that cannot be sent, no other response is taken for it`() async throws {
        let connection = try await Connection(answers: false)
        try await connection.receive(get("/1", "ann") + get("/2"))
        try await connection.nextCheck().accept()
        try await connection.wait { connection.application.all.count == 2 }
        try await connection.inApplication { application, context in application.answer(context, ["X": "a\r\nb"]) }
        #expect(!connection.channel.isActive)
        #expect(try await connection.statuses() == [])
    }

    @Test func `after a malformed request nothing more is answered`() async throws {
        let connection = try await Connection()
        try await connection.receive(get("/", "ann", "Transfer-Encoding: chunked\r\n", method: "POST"))
        let check = try await connection.nextCheck()
        try? await connection.receive("no length\r\n")
        #expect(!connection.channel.isActive)
        try check.accept()
        await connection.channel.testingEventLoop.run()
        #expect(try await connection.statuses().filter { $0 != "400" } == [])
        #expect(connection.application.all.filter { $0 != "error" } == [])
    }

    @Test func `a connection that ends during a check ends the check and keeps nothing`() async throws {
        var connection: Connection? = try await Connection()
        weak let channel = connection?.channel
        try await connection?.receive(get("/", "ann", "Content-Length: 9\r\n", method: "POST") + "abc")
        let check = try await connection?.nextCheck()
        let eventLoop = connection?.channel.testingEventLoop
        try await connection?.channel.close()
        #expect(connection?.channel.isActive == false && connection?.application.all.filter { $0 != "error" } == [])
        #expect(connection?.cancellations == 1)
        connection = nil
        check?.finish(.refused)
        let begin = ContinuousClock.now
        while channel != nil {
            // Only a defect takes so long.
            try #require(ContinuousClock.now - begin < .seconds(60))
            await eventLoop?.run()
            await Task.yield()
        }
    }

    // MARK: Random requests

    @Test(arguments: [true, false], 0..<40)
    func `random requests in random pieces are answered in order, each for its user`(
        hasPipelining: Bool,
        seed: UInt64
    ) async throws {
        var random = Random(seed: seed)
        let connection = try await Connection(hasPipelining: hasPipelining)
        var (text, statuses, lines) = ("", [String](), [String]())
        for number in 0..<12 {
            let name: String? = random.pick(["ann", "ben", nil])
            let body = String(repeating: "GET /smuggled HTTP/1.1\r\n\r\n", count: random.below(3))
            let isChunked = random.below(2) == 0
            let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.utf8.count)"
            text += get("/\(number)", name, framing + "\r\n", method: "POST")
            if isChunked {
                text += body.isEmpty ? "0\r\n\r\n" : "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
            } else {
                text += body
            }
            // ben is refused for odd numbers.
            let isAccepted = name == "ann" || name == "ben" && number % 2 == 0
            statuses.append(isAccepted ? "200" : "401")
            if isAccepted, let name { lines += ["\(name) /\(number)", "\(body.utf8.count) bytes", "end"] }
        }
        var rest = Array(text.utf8)[...]
        let begin = ContinuousClock.now
        while try await connection.statuses().count < statuses.count {
            // Only a defect takes so long.
            try #require(ContinuousClock.now - begin < .seconds(60))
            if !rest.isEmpty, random.below(3) > 0 {
                let piece = rest.prefix(1 + random.below(120))
                rest = rest.dropFirst(piece.count)
                try await connection.channel.writeInbound(ByteBuffer(bytes: piece))
            } else if connection.waiting > 0 {
                let check = try await connection.nextCheck()
                // One request at a time, so that this is the first one without a response.
                let isAccepted = statuses[try await connection.statuses().count] == "200"
                if isAccepted { try check.accept() } else { check.finish(.refused) }
            }
            await connection.channel.testingEventLoop.run()
            await Task.yield()
        }
        #expect(try await connection.statuses() == statuses)
        #expect(summed(connection.application.all) == lines.filter { $0 != "0 bytes" })
    }

    /// Adds up the parts of a body.
    private func summed(_ lines: [String]) -> [String] {
        lines.reduce(into: []) { result, line in
            if line.hasSuffix(" bytes"), let last = result.last, last.hasSuffix(" bytes") {
                result[result.count - 1] = "\(number(last) + number(line)) bytes"
            } else {
                result.append(line)
            }
        }
    }

    private func number(_ line: String) -> Int { Int(line.dropLast(6)) ?? 0 }
}
