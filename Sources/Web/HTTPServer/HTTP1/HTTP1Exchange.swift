// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// An HTTP/1 request that is answered in a task (the async lane).
///
/// The connection owns the exchange, and cancels the task when the client disconnects.
final class HTTP1Exchange: ResponseSink {
    /// True if the client waits for 100 (Continue), which it does not get, before it sends the body.
    private(set) var isBodyWithheld = false
    private(set) var hasBegunResponse = false

    // This is a reference cycle until the connection releases its exchange.
    private let handler: HTTP1Handler
    private let head: RequestHead
    /// The function that produces the response; nil after its task has begun.
    private var produce: (@Sendable (Request) async -> Response)?
    /// The part of the body that has arrived.
    private var body = ByteBuffer()
    private var task: Task<Void, Never>?
    private var framing = Framing.none

    /// The encoding of the response body's length (RFC 9112 section 6.3).
    private enum Framing {
        case none
        case length(Int)
        case chunked
        case untilClose
    }

    init(_ handler: HTTP1Handler, head: RequestHead) {
        self.handler = handler
        self.head = head
    }

    /// Produces and sends the response in a task, which begins when the whole body has arrived.
    func start(hasBody: Bool, _ produce: @escaping @Sendable (Request) async -> Response) {
        self.produce = produce
        if !hasBody { finishBody() }
    }

    func prepare(onEventLoop: Bool, _ prepare: @escaping @Sendable () async -> PreparedResponse) {
        isBodyWithheld = head.summary.expectsContinue
        task = ResponseSender(self, on: handler.loop.eventLoop).start(onEventLoop: onEventLoop, prepare)
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
        let sender = ResponseSender(self, on: handler.loop.eventLoop)
        let request = Request(head: head.request, body: RequestBody(buffer: body))
        body = ByteBuffer()
        task = Task { await sender.send(await produce(request)) }
    }

    // MARK: - The response

    func send(_ response: PreparedResponse) {
        guard let context = handler.context, handler.exchange === self else { return }
        hasBegunResponse = true
        handler.write(response, to: head.summary)
        handler.finishResponse(context)
        // If the task has not waited, the connection is processing this request and continues by itself.
        handler.process()
    }

    func write(_ part: ResponsePart, promise: EventLoopPromise<Void>?) {
        guard let context = handler.context, handler.exchange === self else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if let head = part.head { begin(head, length: part.length) }
        let hasAnnouncedLength = (part.bytes.readableBytes == 0 || encode(part.bytes)) && (!part.isLast || finish())
        // All connections of the event loop share the output buffer. It must be emptied even after an error. Otherwise
        // another connection would send its content.
        let bytes = handler.loop.takeOutput()
        guard hasAnnouncedLength else {
            // The client would misread surplus bytes as the next response, or the next response as the missing bytes.
            promise?.fail(ChannelError.ioOnClosedChannel)
            return handler.abort()
        }
        if let promise { handler.startWriteDeadline(promise.futureResult) }
        context.writeAndFlush(handler.wrapOutboundOut(bytes), promise: promise)
        guard part.isLast, handler.exchange === self else { return }
        handler.finishResponse(context)
        handler.process()
    }

    func fail() {
        if handler.exchange === self { handler.abort() }
    }

    private func begin(_ response: HTTPResponse, length: Int?) {
        var response = response
        hasBegunResponse = true
        let isHead = head.method == .head
        let status = response.status.code
        response.headerFields[.transferEncoding] = nil
        if isHead || status == 304 || status == 204 {
            // RFC 9110 section 8.6: a response of status 204 has no body and no Content-Length.
            if status == 204 { response.headerFields[.contentLength] = nil }
            framing = .none
        } else if let length {
            response.headerFields[.contentLength] = String(length)
            framing = .length(length)
        } else if head.version == .http11 {
            response.headerFields[.contentLength] = nil
            response.headerFields[.transferEncoding] = "chunked"
            framing = .chunked
        } else {
            response.headerFields[.contentLength] = nil
            handler.closesAfterResponse = true
            framing = .untilClose
        }
        ResponseEncoder.encode(response, into: &handler.loop.output)
        ResponseEncoder.finish(
            date: handler.loop.date,
            connection: handler.connectionOption(for: head.version),
            into: &handler.loop.output
        )
    }

    /// Appends a piece of the body to the output; false if the body is longer than announced.
    private func encode(_ bytes: ByteBuffer) -> Bool {
        switch framing {
        case .none: return true
        case .length(let remaining):
            guard bytes.readableBytes <= remaining else { return false }
            framing = .length(remaining - bytes.readableBytes)
            handler.loop.output.writeImmutableBuffer(bytes)
        case .chunked:
            handler.loop.output.writeString(String(bytes.readableBytes, radix: 16) + "\r\n")
            handler.loop.output.writeImmutableBuffer(bytes)
            handler.loop.output.writeStaticString("\r\n")
        case .untilClose: handler.loop.output.writeImmutableBuffer(bytes)
        }
        return true
    }

    /// Ends the body in the output; false if the body is shorter than announced.
    private func finish() -> Bool {
        switch framing {
        case .none, .untilClose: return true
        case .length(let remaining): return remaining == 0
        case .chunked:
            handler.loop.output.writeStaticString("0\r\n\r\n")
            return true
        }
    }
}
