// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import HTTPTypes
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
    /// The client holds the body back until 100 (Continue), which is never sent.
    private(set) var isBodyWithheld = false
    /// The body length that the client has announced; nil if it has announced no length.
    private let announcedLength: Int?
    private var pace: BodyPace
    /// The function that produces the response; nil after its task has begun.
    private var produce: (@Sendable (ByteBuffer) async -> TaskResponse)?
    /// The part of the body that has arrived.
    private var body = ByteBuffer()
    private var task: Task<Void, Never>?
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
    func start(_ produce: @escaping @Sendable (ByteBuffer) async -> TaskResponse) {
        self.produce = produce
        if hasRequestEnded { startTask() }
    }

    private func startTask() {
        guard let produce = produce.take() else { return }
        task = ResponseSender(self, on: handler.loop.eventLoop).start { [body] in await produce(body) }
        body = ByteBuffer()
    }

    func prepare(_ head: RequestHead, onEventLoop: Bool, by prepare: @escaping @Sendable () async -> PreparedResponse) {
        isBodyWithheld = head.summary.expectsContinue
        let started = ResponseSender(self, on: handler.loop.eventLoop).start(onEventLoop: onEventLoop) {
            .whole(await prepare())
        }
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
        if produce != nil {
            guard receivedCount <= ResponseMode.maximumBody else { return .tooLong }
            body.writeImmutableBuffer(data)
        }
        hasRequestEnded = isLast
        if isLast { startTask() }
        return nil
    }

    func receiveTrailers() -> BodyFault? { receive(ByteBuffer(), isLast: true) }

    /// True if the stream waits for the rest of its body, or for the client to open its windows.
    var isWaitingForClient: Bool { hasResponseEnded || produce != nil }

    /// Cancels the task and drops the body.
    func end() {
        produce = nil
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
        begin(response.fields, isLast: isHead || response.bodyLength == 0)
        if !hasResponseEnded { write(response.body, isLast: true, promise: nil) }
    }

    func begin(_ head: HTTPResponse) -> Bool {
        guard handler.isOpen(self), !hasResponseEnded else { return false }
        begin(HTTP2Fields.fields(of: head), isLast: isHead)
        handler.flush()
        return !isHead
    }

    func write(_ part: ByteBuffer, promise: EventLoopPromise<Void>) {
        guard handler.isOpen(self), !hasResponseEnded else { return promise.fail(ChannelError.ioOnClosedChannel) }
        write(part, isLast: false, promise: promise)
        handler.flush()
    }

    func finish() {
        guard handler.isOpen(self), !hasResponseEnded else { return }
        write(ByteBuffer(), isLast: true, promise: nil)
        handler.flush()
    }

    /// Sends 100 (Continue), for which the client waits before it sends the body.
    func writeContinue() {
        var fields = HPACKHeaders()
        fields.add(name: ":status", value: "100")
        handler.write(.headers(.init(headers: fields)), to: id)
    }

    private func begin(_ fields: HPACKHeaders, isLast: Bool) {
        var fields = fields
        fields.add(name: "date", value: handler.loop.dateText)
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
