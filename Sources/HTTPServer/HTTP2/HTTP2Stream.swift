// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// A request of an HTTP/2 connection, and its answer; in a task if it takes one.
///
/// It is in its connection's table until the library says that the stream is closed.
final class HTTP2Stream: ResponseTaker {
    let id: HTTP2StreamID
    /// Whether all of the request has come.
    private(set) var hasRequestEnded: Bool
    /// Whether all of the response has been handed on.
    private(set) var hasResponseEnded = false
    /// Whether anything of the response has been handed on.
    private(set) var hasResponseBegun = false
    /// How much of the body was handed on and is not read yet, in bytes.
    private(set) var heldCount = 0
    /// How much of the body was not given back to the stream's window, in bytes.
    var uncredited = 0

    // They hold on to each other until the stream is closed.
    private let handler: HTTP2Handler
    private let isHead: Bool
    /// How long the body is said to be; nil if it was not said.
    private let announced: Int?
    private var bodyBegan: UInt64
    private var receivedCount = 0
    private var source: BodyStream.Source?
    private var bound: NIOLoopBoundBox<HTTP2Stream?>?
    private var task: Task<Void, Never>?
    /// How much of the response may still come; nil if that was not said.
    private var remaining: Int?
    private var hasContent = true
    /// How many writes wait for the client.
    private var unsentCount = 0
    private var unsentSince: UInt64 = 0

    init(_ handler: HTTP2Handler, _ id: HTTP2StreamID, _ facts: RequestHead.Facts?, endsStream: Bool) {
        self.handler = handler
        self.id = id
        isHead = facts?.method == .head
        hasRequestEnded = endsStream
        bodyBegan = handler.loop.now
        if case .length(let length)? = facts?.body { announced = length } else { announced = nil }
    }

    // MARK: - The request

    /// Has the response made in a task.
    func start(_ head: RequestHead, _ produce: @escaping @Sendable (Request) async -> Response) {
        let eventLoop = handler.loop.eventLoop
        let request: Request
        if hasRequestEnded {
            request = Request(head: head.request, body: RequestBody(buffer: ByteBuffer()))
        } else {
            let bound = NIOLoopBoundBox<HTTP2Stream?>(nil, eventLoop: eventLoop)
            let (stream, source) = BodyStream.make(on: eventLoop) { _ in bound.value?.bodyWanted() }
            self.source = source
            bound.value = self
            self.bound = bound
            request = Request(head: head.request, body: RequestBody(asyncSequence: stream))
        }
        let output = ExchangeOutput(NIOLoopBound<any ResponseTaker>(self, eventLoop: eventLoop), eventLoop)
        task = Task { await output.send(await produce(request)) }
    }

    /// What is wrong with a piece of the body.
    enum BodyFault {
        /// It is not as long as it was said to be.
        case mismatch
        /// It is longer than a body may be.
        case tooLong
    }

    /// Takes in a piece of the body.
    ///
    /// - Returns: What is wrong with it; nil if nothing is.
    func take(_ data: ByteBuffer, isLast: Bool) -> BodyFault? {
        if hasResponseEnded {
            // Nobody reads it any more.
            hasRequestEnded = hasRequestEnded || isLast
            return nil
        }
        receivedCount += data.readableBytes
        if let announced, receivedCount > announced || isLast && receivedCount < announced { return .mismatch }
        guard receivedCount <= handler.loop.limits.body else { return .tooLong }
        if let source, data.readableBytes > 0, !source.yield(data) { heldCount += data.readableBytes }
        if isLast { finishRequest() }
        return nil
    }

    /// Takes note of fields after the body.
    func takeTrailers() -> BodyFault? { take(ByteBuffer(), isLast: true) }

    private func finishRequest() {
        hasRequestEnded = true
        source?.finish()
    }

    private func bodyWanted() {
        heldCount = 0
        handler.creditWindows(self)
    }

    /// Ends what goes on for the stream.
    func end() {
        bound?.value = nil
        source?.finish(CancellationError())
        if !hasResponseEnded { task?.cancel() }
        heldCount = 0
    }

    // MARK: - Time

    /// Whether the client takes nothing of the response.
    func isStalled(_ now: UInt64) -> Bool {
        unsentCount > 0 && now &- unsentSince > handler.loop.times.write
    }

    /// Has some time not count in which the client could not send.
    func excuse(_ time: UInt64) { bodyBegan &+= time }

    /// Whether the body comes more slowly than it may.
    func isTooSlow(_ now: UInt64) -> Bool {
        !hasRequestEnded && !hasResponseEnded
            && handler.loop.isTooSlow(received: receivedCount, since: bodyBegan, now)
    }

    // MARK: - The response

    /// Answers with a response that is there.
    func answer(_ response: PreparedResponse) {
        var fields = response.fields
        fields.add(name: "date", value: handler.loop.dateText)
        hasContent = !isHead && response.status != 204 && response.status != 304
        write(fields, isLast: !hasContent || response.bodyLength == 0)
        if !hasResponseEnded { write(response.body, isLast: true, promise: nil) }
    }

    func write(_ part: ResponsePart, promise: EventLoopPromise<Void>?) {
        guard handler.isOpen(self), !hasResponseEnded else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if let head = part.head { begin(head, part) }
        if let remaining, hasContent {
            self.remaining = remaining - part.bytes.readableBytes
            // Too much or too little: the client must not take it for a whole response.
            guard remaining >= part.bytes.readableBytes, !part.isLast || remaining == part.bytes.readableBytes else {
                promise?.fail(ChannelError.ioOnClosedChannel)
                return fail()
            }
        }
        let bytes = hasContent ? part.bytes : ByteBuffer()
        if hasResponseEnded || bytes.readableBytes == 0 && !part.isLast {
            promise?.succeed()
        } else {
            write(bytes, isLast: part.isLast, promise: promise)
        }
        handler.flush()
    }

    func fail() {
        if handler.isOpen(self) { handler.reset(self, .internalError) }
    }

    /// Says that the body may come.
    func writeContinue() {
        var fields = HPACKHeaders()
        fields.add(name: ":status", value: "100")
        handler.write(id, .headers(.init(headers: fields)))
    }

    private func begin(_ response: HTTPResponse, _ part: ResponsePart) {
        var fields = HTTP2Fields.fields(of: response)
        let status = response.status.code
        hasContent = !isHead && status != 204 && status != 304
        if hasContent, let length = part.length {
            fields.replaceOrAdd(name: "content-length", value: String(length))
            remaining = length
        } else if hasContent {
            fields.remove(name: "content-length")
        }
        fields.add(name: "date", value: handler.loop.dateText)
        write(fields, isLast: part.isLast && (!hasContent || part.bytes.readableBytes == 0 && (part.length ?? 0) == 0))
    }

    private func write(_ fields: HPACKHeaders, isLast: Bool) {
        hasResponseBegun = true
        hasResponseEnded = isLast
        let promise = isLast ? lastPromise(nil) : nil
        handler.write(id, .headers(.init(headers: fields, endStream: isLast)), promise: promise)
    }

    private func write(_ bytes: ByteBuffer, isLast: Bool, promise: EventLoopPromise<Void>?) {
        hasResponseEnded = isLast
        unsentCount += 1
        unsentSince = handler.loop.now
        var promise = promise
        if isLast {
            // The stream is closed as soon as both sides have ended it.
            promise = lastPromise(promise)
        } else {
            let sent = promise ?? handler.loop.eventLoop.makePromise()
            let bound = NIOLoopBound(self, eventLoop: handler.loop.eventLoop)
            sent.futureResult.whenComplete { _ in bound.value.unsentCount -= 1 }
            promise = sent
        }
        handler.write(id, .data(.init(data: .byteBuffer(bytes), endStream: isLast)), promise: promise)
    }

    /// Nobody needs the rest of a request that is answered (RFC 9113 section 8.1); once the answer is out, it is told so.
    private func lastPromise(_ promise: EventLoopPromise<Void>?) -> EventLoopPromise<Void>? {
        guard !hasRequestEnded else { return promise }
        let sent = promise ?? handler.loop.eventLoop.makePromise()
        let bound = NIOLoopBound(self, eventLoop: handler.loop.eventLoop)
        sent.futureResult.whenSuccess {
            let stream = bound.value
            guard stream.handler.isOpen(stream), !stream.hasRequestEnded else { return }
            stream.handler.reset(stream, .noError)
        }
        return sent
    }
}
