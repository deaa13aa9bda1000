// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import HTTPTypes
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// A connection whose requests may be answered in tasks.
final class AsyncConnection: Sendable {
    let eventLoop: NIOAsyncTestingEventLoop
    private let connection: NIOLoopBoundBox<TestConnection>

    init(
        _ limits: HTTPLimits = HTTPLimits(),
        _ reply: @escaping @Sendable (_ method: String, _ target: String) -> ResponseMode
    ) async throws {
        let eventLoop = NIOAsyncTestingEventLoop()
        let channel = NIOAsyncTestingChannel(loop: eventLoop)
        self.eventLoop = eventLoop
        connection = try await eventLoop.executeInContext {
            let loopState = EventLoopState(eventLoop, limits: limits, responder: ScriptedResponder(reply: reply)) { 0 }
            loopState.start()
            return NIOLoopBoundBox(
                try TestConnection(channel, loopState) { channel.isWritable = $0 },
                eventLoop: eventLoop
            )
        }
    }

    /// Runs `body` on the event loop, and then the tasks that it has scheduled.
    @discardableResult
    func on<Result: Sendable>(_ body: @escaping @Sendable (TestConnection) throws -> Result) async throws -> Result {
        let connection = connection
        let result = try await eventLoop.executeInContext { try body(connection.value) }
        await eventLoop.run()
        return result
    }

    func receive(_ text: String) async throws { try await on { $0.receive(text) } }

    func advance(_ time: TimeAmount) async { await eventLoop.advanceTime(by: time) }

    /// Waits until a condition becomes true.
    func wait(
        for event: String,
        _ condition: @escaping @Sendable (TestConnection) -> Bool,
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
    func responses(_ count: Int, methods: [String] = []) async throws -> [ParsedResponse] {
        try await wait(for: "\(count) responses") { connection in
            let responses =
                (try? ParsedResponse.all(in: connection.network.readByClient, methods: methods, mayBeIncomplete: true))
                ?? []
            return responses.count { $0.status >= 200 } >= count
        }
        return try await on { try ParsedResponse.all(in: $0.network.readByClient, methods: methods) }
    }

    func end() async throws {
        try await on { connection in
            connection.disconnect()
            connection.loopState.stop()
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

extension AsyncStream<ByteBuffer> {
    static func of(_ parts: [ByteBuffer]) -> AsyncStream {
        AsyncStream { continuation in
            for part in parts { continuation.yield(part) }
            continuation.finish()
        }
    }
}

extension TaskResponse {
    static func text(_ text: String, _ status: HTTPResponse.Status = .ok) -> TaskResponse {
        .whole(PreparedResponse(HTTPResponse(status: status), body: ByteBuffer(string: text)))
    }
}
