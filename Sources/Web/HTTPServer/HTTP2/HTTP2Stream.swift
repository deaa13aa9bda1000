// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// A request of an HTTP/2 connection and its response, which a task may produce.
///
/// The connection keeps the object in a table until NIOHTTP2 has closed the stream.
final class HTTP2Stream: ResponseSink {
    let id: HTTP2StreamID
    /// True if the whole request has arrived.
    private(set) var hasRequestEnded: Bool
    /// True if the whole response has been written.
    private(set) var hasResponseEnded = false {
        didSet {
            guard hasResponseEnded, !oldValue else { return }
            // The runtime keeps the memory of a task as long as there is a reference to it.
            task = nil
            handler.unsentCount += 1
        }
    }
    private(set) var hasResponseBegun = false
    /// The number of received bytes for which the stream's window has not been enlarged yet.
    var uncreditedCount = 0

    // This is a reference cycle until the stream is closed.
    private let handler: HTTP2Handler
    private let isHead: Bool
    /// True if the client waits for 100 (Continue), which it does not get, before it sends the body.
    private(set) var isBodyWithheld = false
    /// The body length that the client has announced; nil if it has announced no length.
    private let announcedLength: Int?
    private var pace: BodyPace
    /// The head, and the function that produces the response; nil after its task has begun.
    private var waiting: (head: RequestHead, produce: @Sendable (Request) async -> Response)?
    /// The part of the body that has arrived.
    private var body = ByteBuffer()
    private var task: Task<Void, Never>?
    /// The number of bytes of the response that have not been written yet; nil if its length is not known.
    private var remaining: Int?
    private var hasContent = true
    /// The number of writes that have not been sent yet.
    private var unsentCount = 0
    private var unsentSince: UInt64 = 0

    init(_ handler: HTTP2Handler, id: HTTP2StreamID, request: RequestHead.Summary?, endsStream: Bool) {
        self.handler = handler
        self.id = id
        isHead = request?.method == .head
        hasRequestEnded = endsStream
        pace = BodyPace(at: handler.loop.now)
        if case .length(let length)? = request?.body { announcedLength = length } else { announcedLength = nil }
    }

    // MARK: - The request

    /// Produces and sends the response in a task, which begins when the whole body has arrived.
    func start(_ head: RequestHead, producing produce: @escaping @Sendable (Request) async -> Response) {
        waiting = (head, produce)
        if hasRequestEnded { startTask() }
    }

    private func startTask() {
        guard let (head, produce) = waiting.take() else { return }
        let request = Request(head: head.request, body: RequestBody(buffer: body))
        body = ByteBuffer()
        let sender = ResponseSender(self, on: handler.loop.eventLoop)
        task = Task { await sender.send(await produce(request)) }
    }

    func prepare(_ head: RequestHead, onEventLoop: Bool, by prepare: @escaping @Sendable () async -> PreparedResponse) {
        isBodyWithheld = head.summary.expectsContinue
        let started = ResponseSender(self, on: handler.loop.eventLoop).start(onEventLoop: onEventLoop, prepare)
        if !hasResponseEnded { task = started }
    }

    enum BodyFault {
        /// The body is longer or shorter than the client has announced.
        case mismatch
        /// The body is longer than the limit.
        case tooLong
    }

    /// Keeps a piece of the body for the task, which begins after the last piece; drops it if there is none.
    ///
    /// The result is the reason if the piece is rejected.
    func receive(_ data: ByteBuffer, isLast: Bool) -> BodyFault? {
        if hasResponseEnded {
            // The response is complete, so the task no longer reads the body.
            hasRequestEnded = hasRequestEnded || isLast
            return nil
        }
        pace.recordReceived(data.readableBytes)
        let receivedCount = pace.receivedCount
        if let announcedLength, receivedCount > announcedLength || isLast && receivedCount < announcedLength {
            return .mismatch
        }
        guard receivedCount <= handler.loop.limits.body else { return .tooLong }
        if waiting != nil {
            guard receivedCount <= ResponseMode.maximumBody else { return .tooLong }
            body.writeImmutableBuffer(data)
        }
        hasRequestEnded = isLast
        if isLast { startTask() }
        return nil
    }

    func receiveTrailers() -> BodyFault? { receive(ByteBuffer(), isLast: true) }

    /// True if the stream waits for the rest of its body, or for the client to open its windows.
    var isWaitingForClient: Bool { hasResponseEnded || waiting != nil }

    /// Cancels the task and drops the body.
    func end() {
        waiting = nil
        body = ByteBuffer()
        task?.cancel()
    }

    // MARK: - Time

    /// Returns whether the client has read no part of the response for longer than the limit.
    func isStalled(at now: UInt64) -> Bool {
        unsentCount > 0 && now &- unsentSince > handler.loop.times.write
    }

    func exclude(_ nanoseconds: UInt64) { pace.exclude(nanoseconds) }

    func isTooSlow(at now: UInt64) -> Bool {
        !hasRequestEnded && !hasResponseEnded && pace.isTooSlow(at: now, times: handler.loop.times)
    }

    // MARK: - The response

    func send(_ response: PreparedResponse) {
        guard handler.isOpen(self), !hasResponseEnded else { return }
        answer(response)
        handler.flush()
    }

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
        if let head = part.head { begin(head, with: part) }
        if let remaining, hasContent {
            self.remaining = remaining - part.bytes.readableBytes
            // The body is longer or shorter than announced. The stream is reset, so that the client does not take the
            // response for complete.
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
        if handler.isOpen(self) { handler.reset(self, code: .internalError) }
    }

    /// Sends 100 (Continue), for which the client waits before it sends the body.
    func writeContinue() {
        var fields = HPACKHeaders()
        fields.add(name: ":status", value: "100")
        handler.write(.headers(.init(headers: fields)), to: id)
    }

    private func begin(_ response: HTTPResponse, with part: ResponsePart) {
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
        handler.write(.headers(.init(headers: fields, endStream: isLast)), to: id, promise: promise)
    }

    private func write(_ bytes: ByteBuffer, isLast: Bool, promise: EventLoopPromise<Void>?) {
        hasResponseEnded = isLast
        unsentCount += 1
        unsentSince = handler.loop.now
        var promise = promise
        if isLast {
            // The count need not be reduced after the last part, because NIOHTTP2 then closes the stream.
            promise = lastPromise(promise)
        } else {
            let sent = promise ?? handler.loop.eventLoop.makePromise()
            let bound = NIOLoopBound(self, eventLoop: handler.loop.eventLoop)
            sent.futureResult.whenComplete { _ in bound.value.unsentCount -= 1 }
            promise = sent
        }
        handler.write(.data(.init(data: .byteBuffer(bytes), endStream: isLast)), to: id, promise: promise)
    }

    /// Makes a promise that resets the stream after the response, if the request is incomplete (RFC 9113 section 8.1).
    private func lastPromise(_ promise: EventLoopPromise<Void>?) -> EventLoopPromise<Void>? {
        guard !hasRequestEnded else { return promise }
        let sent = promise ?? handler.loop.eventLoop.makePromise()
        let bound = NIOLoopBound(self, eventLoop: handler.loop.eventLoop)
        sent.futureResult.whenSuccess {
            let stream = bound.value
            guard stream.handler.isOpen(stream), !stream.hasRequestEnded else { return }
            stream.handler.reset(stream, code: .noError)
        }
        return sent
    }
}
