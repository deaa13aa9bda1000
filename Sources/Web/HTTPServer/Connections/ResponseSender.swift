// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// Passes a response from its task to the event loop of its connection.
struct ResponseSender: Sendable {
    private let sink: NIOLoopBound<any ResponseSink>
    private let eventLoop: any EventLoop

    init(_ sink: any ResponseSink, on eventLoop: any EventLoop) {
        self.sink = NIOLoopBound(sink, eventLoop: eventLoop)
        self.eventLoop = eventLoop
    }

    /// Sends a response; an error ends the connection or the HTTP/2 stream.
    func send(_ response: Response) async {
        let part = ResponsePart(head: response.head, length: response.body.contentLength)
        let state = Writer.State(part)
        do {
            try await response.body.write(Writer(sender: self, state: state))
            guard state.isFinished else { return fail() }
        } catch {
            fail()
        }
    }

    /// Starts a task that prepares and sends a whole response; with `onEventLoop` it begins there, at once.
    ///
    /// The sink cancels the task when its client disconnects.
    func start(onEventLoop: Bool, _ prepare: @escaping @Sendable () async -> PreparedResponse) -> Task<Void, Never> {
        let work = { @Sendable in send(await prepare()) }
        return onEventLoop ? Task.immediate(operation: work) : Task(operation: work)
    }

    /// Sends a whole response, at once if the task still runs on the event loop.
    func send(_ response: PreparedResponse) {
        guard !eventLoop.inEventLoop else { return sink.value.send(response) }
        eventLoop.execute { sink.value.send(response) }
    }

    private func fail() {
        eventLoop.execute { sink.value.fail() }
    }

    private func write(_ part: ResponsePart) async throws {
        try await eventLoop.flatSubmit {
            let promise = eventLoop.makePromise(of: Void.self)
            sink.value.write(part, promise: promise)
            return promise.futureResult
        }.get()
    }

    /// Sends the last part; the task does not wait until it is sent, because it has nothing left to do.
    private func writeLast(_ part: ResponsePart) {
        eventLoop.execute { sink.value.write(part, promise: nil) }
    }

    struct Writer: ResponseBodyWriter {
        /// The part that collects written bytes until they are sent; only one task uses it, one call at a time.
        final class State {
            var part: ResponsePart
            var isFinished = false

            init(_ part: ResponsePart) { self.part = part }
        }

        let sender: ResponseSender
        let state: State

        mutating func write(_ buffer: ByteBuffer) async throws {
            state.part.bytes.writeImmutableBuffer(buffer)
            // A body of unknown length may be an event stream. Each event must be sent at once.
            let part = state.part
            guard part.length == nil || part.bytes.readableBytes >= ResponsePart.collectedSize else { return }
            state.part = ResponsePart(length: part.length)
            try await sender.write(part)
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
            state.part.isLast = true
            state.isFinished = true
            sender.writeLast(state.part)
        }
    }
}

/// A receiver of the parts of a response, on the event loop of its connection.
protocol ResponseSink: AnyObject {
    /// Writes a part of the response; the promise is fulfilled when it is sent.
    func write(_ part: ResponsePart, promise: EventLoopPromise<Void>?)

    func send(_ response: PreparedResponse)

    /// Ends the connection or the HTTP/2 stream, so that the client sees that the response is incomplete.
    func fail()
}

struct ResponsePart: Sendable {
    /// The number of bytes that are collected before they are sent, if the length of the response is known.
    static let collectedSize = 65_536

    /// The head, in the first part only.
    var head: HTTPResponse?
    /// The length of the whole body in bytes, in the part with the head; nil if it is not known.
    var length: Int?
    var bytes = ByteBuffer()
    var isLast = false
}
