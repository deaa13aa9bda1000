// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore

/// Passes a response from its task to the event loop of its connection.
struct ResponseSender: Sendable {
    private let sink: NIOLoopBound<any ResponseSink>
    private let eventLoop: any EventLoop

    init(_ sink: any ResponseSink, on eventLoop: any EventLoop) {
        self.sink = NIOLoopBound(sink, eventLoop: eventLoop)
        self.eventLoop = eventLoop
    }

    /// Starts a task that produces and sends a response; with `onEventLoop` it begins there, at once.
    ///
    /// The sink cancels the task when its client disconnects.
    func start(
        onEventLoop: Bool = false,
        _ produce: @escaping @Sendable () async -> TaskResponse
    ) -> Task<Void, Never> {
        let work = { @Sendable in
            switch await produce() {
            case .whole(let response): send(response)
            case .stream(let head, let first, let later): await send(head, first, later)
            }
        }
        return onEventLoop ? Task.immediate(operation: work) : Task(operation: work)
    }

    /// Sends a whole response, at once if the task still runs on the event loop.
    private func send(_ response: PreparedResponse) {
        guard !eventLoop.inEventLoop else { return sink.value.send(response) }
        eventLoop.execute { sink.value.send(response) }
    }

    private func send(
        _ head: HTTPResponse,
        _ first: ByteBuffer,
        _ later: any AsyncSequence<ByteBuffer, Never> & Sendable
    ) async {
        do {
            guard try await eventLoop.submit({ sink.value.begin(head) }).get() else { return }
            try await write(first)
            for await part in later { try await write(part) }
            eventLoop.execute { sink.value.finish() }
        } catch {
            // The client has disconnected.
        }
    }

    private func write(_ part: ByteBuffer) async throws {
        guard part.readableBytes > 0 else { return }
        try await eventLoop.flatSubmit {
            let promise = eventLoop.makePromise(of: Void.self)
            sink.value.write(part, promise: promise)
            return promise.futureResult
        }.get()
    }
}

/// A receiver of a response, on the event loop of its connection.
protocol ResponseSink: AnyObject {
    func send(_ response: PreparedResponse)

    /// Begins a response whose length is not known; false if no part of its body is sent.
    func begin(_ head: HTTPResponse) -> Bool

    /// Writes a part of the body, which is not empty; the promise is fulfilled when it is sent.
    func write(_ part: ByteBuffer, promise: EventLoopPromise<Void>)

    func finish()
}
