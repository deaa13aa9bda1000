// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import HTTPTypes
import NIOCore
import NIOEmbedded
import SeededRandom
import Synchronization
import Testing

@testable import HTTPServer

/// Requests that are answered in tasks, with bodies and streamed responses.
@Suite struct HTTP1ExchangeTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let now = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"

    private static func post(_ body: String, _ fields: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
    }

    /// Answers `/now` at once, and other targets with `produce`.
    private static func deferring(
        _ produce: @escaping @Sendable (ByteBuffer) async -> TaskResponse
    ) -> @Sendable (String, String) -> ResponseMode {
        { method, target in target == "/now" ? .immediate(.text("now")) : .deferred(produce) }
    }

    private static let counting = deferring { .text("\($0.readableBytes)") }

    private static let head = HTTPResponse(status: .ok, headerFields: [.transferEncoding: "gzip"])

    /// A response of unknown length, whose first part is empty.
    private static func stream(_ parts: AsyncStream<ByteBuffer>) -> TaskResponse {
        .stream(head, first: ByteBuffer(), later: parts)
    }

    @Test(arguments: UInt64(0)..<20)
    func `the responses of all modes are sent in the order of the requests`(seed: UInt64) async throws {
        var numbers = Random(seed: seed)
        let connection = try await AsyncConnection { _, target in
            let parts = target.split(separator: "/")
            let wait = { @Sendable in
                for _ in 0..<(Int(parts[1]) ?? 0) % 4 { await Task.yield() }
            }
            switch parts[0] {
            case "now": return .immediate(.text(target))
            case "later":
                return .deferred { _ in
                    await wait()
                    return .text(target)
                }
            case let mode:
                return .prepared(beginsOnEventLoop: mode == "here") {
                    await wait()
                    return .text(target)
                }
            }
        }
        let targets = (0..<30).map { "/\(["now", "later", "here", "elsewhere"].randomElement(using: &numbers)!)/\($0)" }
        let text = targets.map { "POST \($0) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" }.joined()
        for piece in numbers.pieces(Array(text.utf8), atMost: 300) {
            try await connection.receive(String(decoding: piece, as: UTF8.self))
        }
        #expect(try await connection.responses(30).map(\.body) == targets)
        try await connection.end()
    }

    @Test func `HEAD and 204 have no body, and 204 has no length`() async throws {
        let connection = try await AsyncConnection(
            HTTPLimits(),
            { method, target in
                target == "/now"
                    ? .immediate(.text("now"))
                    : .deferred { _ in method == "HEAD" ? .text("hello") : .text("", .noContent) }
            }
        )
        try await connection.receive("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get + Self.now)
        let responses = try await connection.responses(3, methods: ["HEAD"])
        #expect(responses.map(\.body) == ["", "", "now"])
        #expect(responses.map(\.fields["content-length"]) == ["5", nil, "3"])
        try await connection.end()
    }

    @Test(arguments: ["1.0", "1.1"])
    func `a response of unknown length is chunked, or ended by closing the connection`(version: String) async throws {
        let connection = try await AsyncConnection(
            HTTPLimits(),
            Self.deferring { _ in
                Self.stream(.of(["a", "", "bc", String(repeating: "d", count: 20)].map { ByteBuffer(string: $0) }))
            }
        )
        try await connection.receive("GET / HTTP/\(version)\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
        if version == "1.0" { try await connection.wait(for: "the end") { $0.network.isOutputClosed } }
        let response = try #require(try await connection.responses(1).first)
        #expect(response.body == "abc" + String(repeating: "d", count: 20))
        #expect(response.fields["content-length"] == nil)
        #expect(response.fields["transfer-encoding"] == (version == "1.1" ? "chunked" : nil))
        #expect(response.fields["connection"] == (version == "1.1" ? nil : "close"))
        try await connection.end()
    }

    @Test func `a response of unknown length to HEAD has no body, and its parts are not read`() async throws {
        let connection = try await AsyncConnection(
            HTTPLimits(),
            Self.deferring { _ in
                Self.stream(
                    AsyncStream {
                        Issue.record("a part is read")
                        return nil
                    }
                )
            }
        )
        try await connection.receive("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + Self.now)
        let responses = try await connection.responses(2, methods: ["HEAD"])
        #expect(responses.map(\.body) == ["", "now"])
        #expect(responses[0].fields["content-length"] == nil && responses[0].fields["transfer-encoding"] == nil)
        try await connection.end()
    }

    // MARK: - Bodies of requests

    @Test func `a responder receives the whole body`() async throws {
        let connection = try await AsyncConnection(HTTPLimits(), Self.counting)
        try await connection.receive(
            Self.post("hello") + "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for _ in 0..<100 { try await connection.receive("5\r\nhello\r\n") }
        try await connection.receive("0\r\n\r\n" + Self.now)
        #expect(try await connection.responses(3).map(\.body) == ["5", "500", "now"])
        try await connection.end()
    }

    @Test func `a client that expects 100-continue gets one 100 response`() async throws {
        let connection = try await AsyncConnection(HTTPLimits(), Self.counting)
        try await connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        #expect(try await connection.text == "HTTP/1.1 100 Continue\r\n\r\n")
        try await connection.receive("hello" + Self.now)
        #expect(try await connection.responses(2).map(\.status) == [100, 200, 200])
        try await connection.receive("POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello")
        #expect(try await connection.responses(3).count == 4)
        try await connection.end()
    }

    @Test func `a task begins when the whole body of its request has arrived`() async throws {
        let connection = try await AsyncConnection(HTTPLimits(), Self.counting)
        try await connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
        for _ in 0..<59 { try await connection.receive(String(repeating: "x", count: 1000)) }
        #expect(try await connection.on { $0.handler?.exchange?.awaitsBody } == true)
        #expect(try await connection.on { $0.handler?.isIdle } == true)
        try await connection.receive(String(repeating: "x", count: 1000) + Self.now)
        #expect(try await connection.responses(2).map(\.body) == ["60000", "now"])
        try await connection.end()
    }

    @Test func `a body of more than 64 KiB is rejected before a task begins`() async throws {
        var limits = HTTPLimits()
        limits.body = 1_000_000
        let chunk = "1000\r\n" + String(repeating: "x", count: 4096) + "\r\n"
        for (fields, count) in [("Content-Length: 65537", 0), ("Transfer-Encoding: chunked", 17)] {
            let seen = Seen()
            let connection = try await AsyncConnection(
                limits,
                Self.deferring { _ in
                    seen.note()
                    return .text("late")
                }
            )
            try await connection.receive("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n")
            for _ in 0..<count { try await connection.receive(chunk) }
            #expect(try await connection.responses(1).map(\.status) == [413])
            #expect(!seen.hasHappened)
            try await connection.end()
        }
    }

    @Test func `a body that the responder does not read is dropped`() async throws {
        let connection = try await AsyncConnection(HTTPLimits(), Self.deferring { _ in .text("unread") })
        try await connection.receive(Self.post(String(repeating: "x", count: 60_000)) + Self.now)
        #expect(try await connection.responses(2).map(\.body) == ["unread", "now"])
        try await connection.end()
    }

    @Test func `a client that waits for a slow responder is not disconnected`() async throws {
        let latch = CancellableLatch()
        let connection = try await AsyncConnection(
            HTTPLimits(),
            Self.deferring { body in
                guard await latch.pass() else { return .text("cancelled") }
                return .text("\(body.readableBytes)")
            }
        )
        try await connection.receive(Self.post("hello"))
        var (sent, reads) = (0, 0)
        while sent < 400_000 {
            try await connection.receive(Self.now)
            sent += Self.now.utf8.count
            let count = try await connection.on(\.network.readCount)
            if count == reads { break }
            reads = count
        }
        #expect(sent < 100_000, "the server has read many requests that it cannot answer yet")
        await connection.advance(.seconds(600))
        #expect(try await connection.text.isEmpty)
        latch.open()
        try await connection.wait(for: "reading") { [reads] in $0.network.readCount > reads }
        #expect(try await connection.responses(2).map(\.body).prefix(2) == ["5", "now"])
        try await connection.end()
    }

    @Test(arguments: [("5\r\nhello\r\n40\r\n", 413), ("5\r\nhelloX", 400), ("0\r\nX\r\n", 400)])
    func `a malformed body is rejected before a task begins`(body: String, status: Int) async throws {
        let seen = Seen()
        let connection = try await AsyncConnection(
            .small,
            Self.deferring { _ in
                seen.note()
                return .text("late")
            }
        )
        try await connection.receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
        try await connection.receive("x")
        #expect(try await connection.responses(1).map(\.status) == [status])
        #expect(!seen.hasHappened)
        try await connection.end()
    }

    @Test func `a refused request gets its response, and the connection stays open`() async throws {
        let connection = try await AsyncConnection { _, target in
            target == "/now" ? .immediate(.text("now")) : .refused(.text("refused"))
        }
        try await connection.receive(Self.post("hello") + Self.now)
        #expect(try await connection.responses(2).map(\.body) == ["refused", "now"])
        try await connection.end()
    }

    @Test(arguments: [true, false])
    func `a body is skipped if its response is prepared in a task`(beginsOnEventLoop: Bool) async throws {
        let latch = CancellableLatch()
        let connection = try await AsyncConnection { method, target in
            guard target != "/now" else { return .immediate(.text("now")) }
            return .prepared(beginsOnEventLoop: beginsOnEventLoop) {
                if target == "/wait" { _ = await latch.pass() }
                return .text(target)
            }
        }
        try await connection.receive(Self.post(String(repeating: "x", count: 60_000)) + Self.now)
        #expect(try await connection.responses(2).map(\.body) == ["/", "now"])
        try await connection.receive("POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe")
        try await connection.on { $0.exchange = $0.handler?.exchange }
        latch.open()
        #expect(try await connection.responses(3).map(\.body) == ["/", "now", "/wait"])
        try await connection.receive("llo" + Self.now)
        #expect(try await connection.responses(4).map(\.body) == ["/", "now", "/wait", "now"])
        try await connection.wait(for: "release") { $0.exchange == nil }
        // A client that waits for 100 (Continue) gets the response instead.
        try await connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        let last = try #require(try await connection.responses(5).last)
        #expect(last.status == 200)
        #expect(last.fields["connection"] == "close")
        try await connection.end()
    }

    @Test func `a task that begins on the event loop and does not wait has answered before the read ends`() async throws
    {
        let connection = try await AsyncConnection { _, target in
            .prepared(beginsOnEventLoop: true) { .text(target) }
        }
        let text = "GET /0 HTTP/1.1\r\nHost: a\r\n\r\nGET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
        let begun = try await connection.on { connection in
            connection.receive(text)
            return connection.handler?.exchange == nil
        }
        #expect(begun)
        #expect(try await connection.responses(2).map(\.body) == ["/0", "/1"])
        try await connection.end()
    }

    @Test(arguments: [true, false])
    func `a task that prepares a response is cancelled when its client disconnects`(
        beginsOnEventLoop: Bool
    ) async throws {
        let seen = Seen()
        let connection = try await AsyncConnection { _, _ in
            .prepared(beginsOnEventLoop: beginsOnEventLoop) {
                if await !CancellableLatch().pass() { seen.note() }
                return .text("too late")
            }
        }
        try await connection.receive(Self.get)
        try await connection.on { $0.exchange = $0.handler?.exchange }
        try await connection.on { $0.disconnect() }
        try await connection.wait(for: "a cancellation") { _ in seen.hasHappened }
        #expect(try await connection.text.isEmpty)
        try await connection.end()
        try await connection.wait(for: "release") { $0.exchange == nil && $0.handler == nil }
    }

    // MARK: - Ends

    @Test(arguments: ["drop", "abort"])
    func `a task is cancelled when its client disconnects, and everything is released`(way: String) async throws {
        let seen = Seen()
        let connection = try await AsyncConnection(
            HTTPLimits(),
            Self.deferring { _ in
                if await !CancellableLatch().pass() { seen.note() }
                return .text("too late")
            }
        )
        try await connection.receive(Self.post("hello"))
        try await connection.on { $0.exchange = $0.handler?.exchange }
        // A connection with a running task is not evicted.
        try await connection.on { $0.channel.pipeline.fireUserInboundEventTriggered(ConnectionEviction()) }
        #expect(try await connection.on { !$0.network.isClosed && $0.exchange != nil })
        try await connection.on { way == "abort" ? $0.handler?.abort() : $0.disconnect() }
        try await connection.wait(for: "a cancellation") { _ in seen.hasHappened }
        #expect(try await connection.text.isEmpty)
        try await connection.end()
        try await connection.wait(for: "release") { $0.exchange == nil && $0.handler == nil }
        #expect(try await connection.on(\.endCount) == 1)
    }

    @Test(arguments: ["drop", "half-close", "malformed", "slow", "eviction"])
    func `a request whose body does not arrive has no task, and everything is released`(way: String) async throws {
        let seen = Seen()
        let connection = try await AsyncConnection(
            HTTPLimits(),
            Self.deferring { _ in
                seen.note()
                return .text("too late")
            }
        )
        try await connection.receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx")
        try await connection.on { $0.exchange = $0.handler?.exchange }
        #expect(try await connection.on { $0.exchange != nil })
        if way == "slow" { await connection.advance(.seconds(60)) }
        try await connection.on { connection in
            switch way {
            case "drop": connection.disconnect()
            case "half-close": connection.endInput()
            case "malformed": connection.receive("x")
            case "eviction": connection.channel.pipeline.fireUserInboundEventTriggered(ConnectionEviction())
            default: break
            }
        }
        let status = ["malformed": 400, "slow": 408][way]
        #expect(try await connection.responses(status == nil ? 0 : 1).map(\.status) == [status].compactMap(\.self))
        try await connection.end()
        try await connection.wait(for: "release") { $0.exchange == nil && $0.handler == nil }
        #expect(!seen.hasHappened)
    }

    @Test func `a finished exchange is released while its connection stays open`() async throws {
        let latch = CancellableLatch()
        let connection = try await AsyncConnection(
            HTTPLimits(),
            Self.deferring { _ in
                _ = await latch.pass()
                return .text("x")
            }
        )
        try await connection.receive(Self.post("hello"))
        try await connection.on { $0.exchange = $0.handler?.exchange }
        latch.open()
        _ = try await connection.responses(1)
        try await connection.wait(for: "release") { $0.exchange == nil }
        try await connection.end()
    }

    @Test func `a complete request is answered after its client has half-closed, and the connection then closes`()
        async throws
    {
        let latch = CancellableLatch()
        let connection = try await AsyncConnection(
            HTTPLimits(),
            Self.deferring { _ in
                _ = await latch.pass()
                return .text("x")
            }
        )
        try await connection.receive(Self.post("hello") + Self.now + "GET /cut")
        try await connection.on { $0.endInput() }
        #expect(try await connection.on(\.network.isClosed) == false)
        latch.open()
        #expect(try await connection.responses(2).map(\.body) == ["x", "now"])
        try await connection.wait(for: "the end") { $0.network.isClosed }
    }

    @Test func `a response that is in progress when the server stops is completed, and the connection then closes`()
        async throws
    {
        for begun in [Self.get, Self.post("hello")] {
            let latch = CancellableLatch()
            let connection = try await AsyncConnection(
                HTTPLimits(),
                Self.deferring { _ in
                    _ = await latch.pass()
                    return .text("x")
                }
            )
            try await connection.receive(begun)
            try await connection.on { $0.loopState.drain() }
            #expect(try await connection.on(\.network.isClosed) == false)
            latch.open()
            #expect(try await connection.responses(1).map(\.fields["connection"]) == ["close"])
            try await connection.wait(for: "the end") { $0.network.isOutputClosed }
            try await connection.end()
        }
    }

    @Test(arguments: [1000, 60_000, 70_000])
    func `a client that reads no part of a streamed response is disconnected`(size: Int) async throws {
        let connection = try await AsyncConnection(
            HTTPLimits(),
            Self.deferring { _ in Self.stream(AsyncStream { ByteBuffer(repeating: 1, count: size) }) }
        )
        try await connection.on { $0.network.isClientReading = false }
        try await connection.receive(Self.get)
        try await connection.wait(for: "a part") { $0.network.maximumWaitingCount > 0 }
        try await connection.on { $0.exchange = $0.handler?.exchange }
        #expect(try await connection.on(\.network.maximumWaitingCount) < 2 * 65_536)
        await connection.advance(.seconds(19))
        #expect(try await connection.on(\.network.isClosed) == false)
        await connection.advance(.seconds(2))
        #expect(try await connection.on(\.network.isClosed))
        // The task, which owns the exchange, has ended.
        try await connection.wait(for: "release") { $0.exchange == nil }
    }

    @Test func `a streamed response waits for a slow client and is complete`() async throws {
        let connection = try await AsyncConnection(
            HTTPLimits(),
            Self.deferring { _ in
                Self.stream(.of(Array(repeating: ByteBuffer(repeating: 97, count: 10_000), count: 100)))
            }
        )
        try await connection.on { $0.network.isClientReading = false }
        try await connection.receive(Self.get + Self.now)
        try await connection.wait(for: "everything") { connection in
            connection.network.clientReads(10_000)
            // The heads of both responses and the lengths of the chunks are counted, too.
            return connection.network.readByClient.readableBytes > 1_000_960
        }
        #expect(try await connection.on(\.network.maximumWaitingCount) < 3 * 65_536)
        #expect(try await connection.responses(2).map(\.body.utf8.count) == [1_000_000, 3])
        try await connection.end()
    }
}

/// Records that something has happened.
final class Seen: Sendable {
    private let state = Mutex(false)

    var hasHappened: Bool { state.withLock { $0 } }

    func note() { state.withLock { $0 = true } }
}
