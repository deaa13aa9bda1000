// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore

/// An HTTP/1 request that is answered in a task (the async lane).
///
/// The connection owns the exchange, and cancels the task when the client disconnects.
final class HTTP1Exchange: ResponseSink {
    /// The client holds the body back until 100 (Continue), which is never sent.
    private(set) var isBodyWithheld = false
    private(set) var hasBegunResponse = false

    // This is a reference cycle until the connection releases its exchange.
    private let handler: HTTP1Handler
    private let request: RequestHead.Summary
    /// The function that produces the response; nil after its task has begun.
    private var produce: (@Sendable (ByteBuffer) async -> TaskResponse)?
    /// The part of the body that has arrived.
    private var body = ByteBuffer()
    private var task: Task<Void, Never>?
    /// True if the parts of the response are chunks (RFC 9112 section 7.1); otherwise the connection ends after them.
    private var isChunked = false

    init(_ handler: HTTP1Handler, _ request: RequestHead.Summary) {
        self.handler = handler
        self.request = request
    }

    /// Produces and sends the response in a task, which begins when the whole body has arrived.
    func start(hasBody: Bool, _ produce: @escaping @Sendable (ByteBuffer) async -> TaskResponse) {
        self.produce = produce
        if !hasBody { finishBody() }
    }

    func prepare(onEventLoop: Bool, _ prepare: @escaping @Sendable () async -> PreparedResponse) {
        isBodyWithheld = request.expectsContinue
        task = ResponseSender(self, on: handler.loop.eventLoop).start(onEventLoop: onEventLoop) {
            .whole(await prepare())
        }
    }

    /// Cancels the task; everything that it still sends is dropped.
    func cancel() {
        task?.cancel()
        produce = nil
    }

    /// True while the exchange waits for the rest of the body, without a task.
    var awaitsBody: Bool { produce != nil }

    /// Keeps a piece of the body for the task, or drops it if there is none; false if the body is too long.
    func receive(_ data: inout ByteBuffer) -> Bool {
        guard awaitsBody else { return true }
        body.writeBuffer(&data)
        return body.readableBytes <= ResponseMode.maximumBody
    }

    /// Starts the task after the last piece of the body.
    func finishBody() {
        guard let produce = produce.take() else { return }
        task = ResponseSender(self, on: handler.loop.eventLoop).start { [body] in await produce(body) }
        body = ByteBuffer()
    }

    // MARK: - The response

    /// The context of the connection; nil if it has ended or no longer waits for this response.
    private var context: ChannelHandlerContext? { handler.exchange === self ? handler.context : nil }

    func send(_ response: PreparedResponse) {
        guard let context else { return }
        hasBegunResponse = true
        handler.write(response, to: request)
        end(context)
    }

    /// Begins a response without Content-Length (RFC 9112 section 6.3).
    func begin(_ head: HTTPResponse) -> Bool {
        guard let context else { return false }
        hasBegunResponse = true
        var head = head
        isChunked = request.version == .http11 && request.method != .head
        head.headerFields[.transferEncoding] = isChunked ? "chunked" : nil
        if request.version == .http10, request.method != .head { handler.closesAfterResponse = true }
        ResponseEncoder.encode(head, into: &handler.loop.output)
        ResponseEncoder.finish(
            date: handler.loop.date,
            connection: handler.connectionOption(for: request.version),
            into: &handler.loop.output
        )
        guard request.method == .head else {
            handler.flush(context)
            return true
        }
        end(context)
        return false
    }

    func write(_ part: ByteBuffer, promise: EventLoopPromise<Void>) {
        guard let context else { return promise.fail(ChannelError.ioOnClosedChannel) }
        // All connections of the event loop share the output buffer, so it must be emptied here.
        if isChunked { handler.loop.output.writeString(String(part.readableBytes, radix: 16) + "\r\n") }
        handler.loop.output.writeImmutableBuffer(part)
        if isChunked { handler.loop.output.writeStaticString("\r\n") }
        handler.startWriteDeadline(promise.futureResult)
        context.writeAndFlush(handler.wrapOutboundOut(handler.loop.takeOutput()), promise: promise)
    }

    func finish() {
        guard let context else { return }
        if isChunked { handler.loop.output.writeStaticString("0\r\n\r\n") }
        end(context)
    }

    private func end(_ context: ChannelHandlerContext) {
        handler.finishResponse(context)
        // If the task has not waited, the connection is processing this request and continues by itself.
        handler.process()
    }
}
