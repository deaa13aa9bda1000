// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// A request that is answered in a task: the async lane.
///
/// It belongs to its connection, which cancels the task when the client is gone.
final class Exchange: ResponseTaker {
    /// How much of a response whose length is known is put together before it is sent.
    static let collectedSize = 65_536

    /// Whether the responder can be given more of the body now.
    private(set) var takesBody = true
    /// Whether anything of the response has been written.
    private(set) var hasBegunResponse = false

    // They hold on to each other until the connection lets go of its exchange.
    private let handler: HTTP1Handler
    private let head: RequestHead
    private let request: Request
    private let source: BodyStream.Source?
    private var task: Task<Void, Never>?
    private var framing = Framing.none

    /// How the client is to find the response's end.
    private enum Framing {
        case none
        case length(Int)
        case chunked
        case untilClose
    }

    init(_ handler: HTTP1Handler, _ head: RequestHead, hasBody: Bool) {
        self.handler = handler
        self.head = head
        guard hasBody else {
            source = nil
            request = Request(head: head.request, body: RequestBody(buffer: ByteBuffer()))
            return
        }
        let bound = NIOLoopBoundBox<Exchange?>(nil, eventLoop: handler.loop.eventLoop)
        let (stream, source) = BodyStream.make(on: handler.loop.eventLoop) { wanted in
            bound.value?.bodyWanted(wanted)
        }
        self.source = source
        request = Request(head: head.request, body: RequestBody(asyncSequence: stream))
        bound.value = self
        self.bound = bound
    }

    private var bound: NIOLoopBoundBox<Exchange?>?

    /// Has the response made and sent.
    func start(_ produce: @escaping @Sendable (Request) async -> Response) {
        let eventLoop = handler.loop.eventLoop
        let output = ExchangeOutput(NIOLoopBound<any ResponseTaker>(self, eventLoop: eventLoop), eventLoop)
        task = Task { [request] in
            await output.send(await produce(request))
        }
    }

    /// Ends the task; what it still sends is dropped.
    func cancel() {
        task?.cancel()
        release()
    }

    /// Lets go of the body: whoever still reads it is told that no more will come.
    ///
    /// A source that goes unfinished ends the process.
    private func release() {
        source?.finish(CancellationError())
        bound?.value = nil
    }

    /// Hands on a piece of the body.
    func deliver(_ data: ByteBuffer) {
        takesBody = source?.yield(data) ?? true
    }

    /// Tells that the body has come to its end.
    func finishBody() {
        source?.finish()
        takesBody = true
    }

    private func bodyWanted(_ wanted: Bool) {
        takesBody = true
        handler.process()
    }

    // MARK: - The response

    /// Writes a part of the response.
    ///
    /// Called on the event loop.
    ///
    /// - Parameters:
    ///   - part: What to write.
    ///   - promise: Told when the client's side has taken it.
    func write(_ part: ResponsePart, promise: EventLoopPromise<Void>?) {
        guard let context = handler.context, handler.exchange === self else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if let head = part.head { begin(head, length: part.length) }
        let isAsAnnounced = (part.bytes.readableBytes == 0 || encode(part.bytes)) && (!part.isLast || finish())
        // Taken in any case: what stayed there would go to the next connection.
        let bytes = handler.loop.takeOutput()
        guard isAsAnnounced else {
            // The client could take more than was announced for the next response, and that for the rest of less.
            promise?.fail(ChannelError.ioOnClosedChannel)
            return handler.abort()
        }
        if let promise { handler.awaitSent(promise.futureResult) }
        context.writeAndFlush(handler.wrapOutboundOut(bytes), promise: promise)
        guard part.isLast, handler.exchange === self else { return }
        release()
        handler.finishResponse(context)
        handler.process()
    }

    /// Ends the connection in the middle of a response, so that the client cannot take it for a whole one.
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
            // RFC 9110 section 8.6 has no length where there is never a body.
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
            handler.option(head.version),
            into: &handler.loop.output
        )
    }

    /// - Returns: False if there is more than was announced.
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

    /// - Returns: False if there is less than was announced.
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

/// What a task hands to its event loop.
struct ResponsePart: Sendable {
    /// The head, in the first part only.
    var head: HTTPResponse?
    /// How long the body will be, if that is known; counts with the head.
    var length: Int?
    var bytes = ByteBuffer()
    var isLast = false
}
