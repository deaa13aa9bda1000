// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import HTTPLimits
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// A connection whose requests may be answered in tasks.
final class AsyncLine: Sendable {
    let eventLoop: NIOAsyncTestingEventLoop
    private let line: NIOLoopBoundBox<Line>

    init(
        _ limits: HTTPLimits = HTTPLimits(),
        _ reply: @escaping @Sendable (_ method: String, _ target: String) -> ResponseMode
    ) async throws {
        let eventLoop = NIOAsyncTestingEventLoop()
        let channel = NIOAsyncTestingChannel(loop: eventLoop)
        self.eventLoop = eventLoop
        line = try await eventLoop.executeInContext {
            let connections = EventLoopState(eventLoop, limits: limits, responder: Scripted(reply: reply)) { 0 }
            connections.start()
            return NIOLoopBoundBox(
                try Line(channel, connections) { channel.isWritable = $0 },
                eventLoop: eventLoop
            )
        }
    }

    /// Runs `body` on the event loop, and then the tasks that it has scheduled.
    @discardableResult
    func on<Result: Sendable>(_ body: @escaping @Sendable (Line) throws -> Result) async throws -> Result {
        let line = line
        let result = try await eventLoop.executeInContext { try body(line.value) }
        await eventLoop.run()
        return result
    }

    func bring(_ text: String) async throws { try await on { $0.bring(text) } }

    func advance(_ time: TimeAmount) async { await eventLoop.advanceTime(by: time) }

    /// Waits until a condition becomes true.
    func wait(
        for event: String,
        _ condition: @escaping @Sendable (Line) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let begin = ContinuousClock.now
        while try await !on(condition) {
            // The time limit is exceeded only if there is a defect.
            guard ContinuousClock.now - begin < .seconds(60) else {
                Issue.record(
                    "\(event) did not happen: \(try await text.debugDescription)",
                    sourceLocation: sourceLocation
                )
                throw CancellationError()
            }
            await Task.yield()
        }
    }

    var text: String {
        get async throws { try await on(\.text) }
    }

    /// Waits for a number of complete final responses, and returns all responses.
    func answers(_ count: Int, methods: [String] = []) async throws -> [Answer] {
        try await wait(for: "\(count) answers") { line in
            let answers = (try? Answer.all(in: line.wire.taken, methods: methods, isCut: true)) ?? []
            return answers.count { $0.status >= 200 } >= count
        }
        return try await on { try Answer.all(in: $0.wire.taken, methods: methods) }
    }

    func end() async throws {
        try await on { line in
            line.drop()
            line.connections.stop()
        }
    }
}

/// Suspends tasks until it is opened or the task is cancelled.
final class CancellableLatch: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    /// Waits until the latch is opened.
    ///
    /// - Returns: True if the latch was opened; false if the task was cancelled.
    func pass() async -> Bool {
        for await _ in stream {}
        return !Task.isCancelled
    }
}

extension Response {
    static func text(_ text: String, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
