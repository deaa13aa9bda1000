// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// Passes a response from its task to the event loop of its connection.
struct ResponseSender: Sendable {
    private let sink: NIOLoopBound<any ResponseSink>
    private let eventLoop: any EventLoop

    init(_ sink: NIOLoopBound<any ResponseSink>, on eventLoop: any EventLoop) {
        self.sink = sink
        self.eventLoop = eventLoop
    }

    /// Sends a response.
    ///
    /// An error ends the connection or the HTTP/2 stream.
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

    /// Starts a task that prepares and sends a whole response.
    ///
    /// - Parameters:
    ///   - onEventLoop: True if the task begins on the event loop, at once.
    ///   - prepare: Prepares the response.
    /// - Returns: The task, which the sink cancels when its client disconnects.
    func start(onEventLoop: Bool, _ prepare: @escaping @Sendable () async -> PreparedResponse) -> Task<Void, Never> {
        let work = { @Sendable in send(await prepare()) }
        return onEventLoop ? Task.immediate(operation: work) : Task(operation: work)
    }

    /// Sends a whole response.
    ///
    /// It is sent at once if the task still runs on the event loop.
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

    /// Sends the last part.
    ///
    /// The task does not wait until the part is sent, because it has nothing left to do.
    private func writeLast(_ part: ResponsePart) {
        eventLoop.execute { sink.value.write(part, promise: nil) }
    }

    /// The writer for Hummingbird's response bodies.
    struct Writer: ResponseBodyWriter {
        /// The part that collects written bytes until they are sent.
        ///
        /// Only one task uses it, one call at a time.
        final class State {
            var part: ResponsePart
            var isFinished = false

            init(_ part: ResponsePart) {
                self.part = part
            }
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
    /// Writes a part of the response.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - promise: The promise that is fulfilled when the part is sent.
    func write(_ part: ResponsePart, promise: EventLoopPromise<Void>?)

    /// Sends a whole response.
    ///
    /// - Parameter response: The response.
    func send(_ response: PreparedResponse)

    /// Ends the connection or the HTTP/2 stream before the response is complete. The client then sees that the response
    /// is incomplete.
    func fail()
}

/// A part of a response.
struct ResponsePart: Sendable {
    /// The number of bytes that are collected before they are sent, if the length of the response is known.
    static let collectedSize = 65_536

    /// The head, in the first part only.
    var head: HTTPResponse?
    /// The length of the whole body in bytes; nil if it is not known.
    ///
    /// A sink reads it from the part with the head only.
    var length: Int?
    var bytes = ByteBuffer()
    var isLast = false
}
