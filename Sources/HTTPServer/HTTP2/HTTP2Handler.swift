// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// An HTTP/2 connection: frames in, frames out, any number of requests at a time.
///
/// Requests take the same two lanes as those of ``HTTP1Handler``. What is a frame, and in which order they may come, is the
/// library's to know.
final class HTTP2Handler: LoopMember, ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// What the connection is about.
    enum Phase {
        /// Requests may come.
        case open
        /// No more requests may come; what has begun goes on.
        case draining
        /// Everything is said; what still comes is dropped until the client is gone too.
        case lingering
        case closed
    }

    /// How long a client may take to close after the last answer, in nanoseconds.
    private static let lingerTime: UInt64 = 5_000_000_000

    let loop: ConnectionLoop
    let wire: HTTP2Wire
    private let connection: Connection
    private let onEnd: () -> Void
    private let onError: (any Error, Connection) -> Void
    private var context: ChannelHandlerContext?
    private var phase = Phase.open
    private var streams: [HTTP2StreamID: HTTP2Stream] = [:]
    private var lastStream = HTTP2StreamID.rootStream
    private var isFirst = true
    private var isReading = false
    private var isReadPending = false
    private var isWritable = true
    private var isInLoop = false
    private var hasPeerEnded = false
    private var faultCount = 0
    /// How much the client may still send on the connection, in bytes.
    private var window = HTTP2Configuration.window
    /// When the connection began, its last stream was closed or it began to linger; nanoseconds.
    private var since: UInt64
    /// When the client stopped taking what is sent; nil while it does.
    private var blockedSince: UInt64?
    /// Whether the client has everything, and only its own end is waited for.
    private var isSent = false

    /// - Parameters:
    ///   - loop: The event loop's share.
    ///   - connection: Where requests come from.
    ///   - onError: Told of what goes wrong with the connection.
    ///   - onEnd: Called once, when the connection has ended.
    init(
        _ loop: ConnectionLoop,
        _ connection: Connection,
        onError: @escaping (any Error, Connection) -> Void,
        onEnd: @escaping () -> Void
    ) {
        self.loop = loop
        self.connection = connection
        self.onError = onError
        self.onEnd = onEnd
        wire = HTTP2Wire(loop)
        since = loop.now
    }

    /// Makes the handlers of a connection, from the network's end; this one is the last.
    func makeHandlers() -> [any ChannelHandler] {
        wire.owner = self
        let frames = NIOHTTP2Handler(
            mode: .server,
            frameDelegate: wire,
            connectionConfiguration: HTTP2Configuration.connection(loop.limits),
            streamConfiguration: HTTP2Configuration.stream
        )
        return [wire, frames, self]
    }

    // MARK: - The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        isWritable = context.channel.isWritable
        isInLoop = true
        loop.insert(self)
        if loop.isDraining { drain() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let closed as StreamClosedEvent: streamClosed(closed.streamID)
        case let update as NIOHTTP2WindowUpdatedEvent:
            if update.streamID == .rootStream, let size = update.inboundWindowSize {
                window = size
                creditConnection()
            }
        case ChannelEvent.inputClosed: peerEnded()
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard isServing else { return }
        // What is written meanwhile is sent at the end of the read.
        isReading = true
        defer { isReading = false }
        switch frame.payload {
        case .headers(let payload):
            if let stream = streams[frame.streamID] {
                takeTrailers(payload, stream)
            } else {
                take(payload, frame.streamID)
            }
        case .data(let payload):
            if let stream = streams[frame.streamID] { take(payload, stream) }
        case .goAway: leave()
        case .alternativeService, .origin, .ping, .priority, .pushPromise, .rstStream, .settings, .windowUpdate: break
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        blockedSince = isWritable ? nil : loop.now
        context.fireChannelWritabilityChanged()
        if isWritable {
            creditConnection()
            for stream in Array(streams.values) { creditWindows(stream) }
        }
        if isReadPending, isWritable { context.channel.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        onError(error, connection)
        // The rest are errors of a stream, which the library has reset.
        if wire.hasFailed { linger() }
    }

    func read(context: ChannelHandlerContext) {
        // What comes makes answers, and there is no place for them.
        isReadPending = isServing && !isWritable
        if !isReadPending { context.read() }
    }

    // MARK: - Time and ends

    override func expire(_ now: UInt64) {
        let times = loop.times
        if let blockedSince, now &- blockedSince > times.write { return abort() }
        switch phase {
        case .open, .draining:
            if let unfinished = wire.unfinishedSince, now &- unfinished > times.head { return fail(.enhanceYourCalm) }
            guard !streams.isEmpty else {
                if now &- since > (isFirst ? times.head : times.idle) { goAway(.noError, thenLinger: true) }
                return
            }
            expireStreams(now)
        case .lingering: if now &- since > (isSent ? Self.lingerTime : times.write) { abort() }
        case .closed: break
        }
    }

    private func expireStreams(_ now: UInt64) {
        // The client cannot send what there is no window for.
        let isWindowShort = heldCount > HTTP2Configuration.window / 2
        for stream in Array(streams.values) where isOpen(stream) {
            if stream.isStalled(now) {
                reset(stream, .cancel)
            } else if isWindowShort || stream.heldCount > 0 {
                stream.excuse(UInt64(ConnectionLoop.tick.nanoseconds))
            } else if stream.isTooSlow(now) {
                refuse(.late, stream)
            }
        }
        flush()
    }

    override func drain() {
        guard case .open = phase else { return }
        goAway(.noError, thenLinger: false)
        flush()
        leave()
    }

    override func abort() {
        if case .closed = phase { return }
        end()
        context?.close(mode: .all, promise: nil)
    }

    override func flushNow() { wire.flushNow() }

    /// Ends the connection because the network or TLS has failed.
    func connectionFailed(_ error: any Error) {
        onError(error, connection)
        abort()
    }

    /// Ends the connection because of what the client does.
    func fail(_ code: HTTP2ErrorCode) {
        guard isServing else { return }
        goAway(code, thenLinger: true)
    }

    /// Lets go of everything, once.
    func end() {
        if case .closed = phase { return }
        phase = .closed
        endStreams()
        if isInLoop { loop.remove(self) }
        onEnd()
    }

    private func endStreams() {
        let ended = streams
        streams = [:]
        for stream in ended.values { stream.end() }
    }

    /// Takes no more requests.
    private func leave() {
        guard isServing else { return }
        phase = .draining
        if streams.isEmpty { linger() }
    }

    private func goAway(_ code: HTTP2ErrorCode, thenLinger: Bool) {
        write(.rootStream, .goAway(lastStreamID: lastStream, errorCode: code, opaqueData: nil))
        if thenLinger { linger() }
    }

    /// Says that nothing more will come, and waits for the client to have read that; as ``HTTP1Handler`` does.
    private func linger() {
        guard isServing, let context else { return }
        phase = .lingering
        since = loop.now
        wire.isDeaf = true
        endStreams()
        context.flush()
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenSuccess { self.lastIsSent() }
        context.close(mode: .output, promise: sent)
        if isReadPending { context.channel.read() }
    }

    private func lastIsSent() {
        guard case .lingering = phase else { return }
        since = loop.now
        isSent = true
        if hasPeerEnded { abort() }
    }

    private func peerEnded() {
        hasPeerEnded = true
        switch phase {
        case .open, .draining:
            // A body that was cut off is no request; a whole one is answered.
            for stream in Array(streams.values) where !stream.hasRequestEnded { reset(stream, .cancel) }
            flush()
            leave()
        case .lingering: if isSent { abort() }
        case .closed: break
        }
    }

    private var isServing: Bool {
        switch phase {
        case .open, .draining: true
        case .lingering, .closed: false
        }
    }

    // MARK: - Requests

    private func take(_ payload: HTTP2Frame.FramePayload.Headers, _ id: HTTP2StreamID) {
        lastStream = max(lastStream, id)
        // A client may open more until it has read the settings, but not here.
        guard case .open = phase, streams.count < loop.limits.streams else { return reset(id, .refusedStream) }
        isFirst = false
        wire.noteProgress()
        do throws(HTTP2HeadReader.Fault) {
            let head = try HTTP2HeadReader.read(
                payload.headers,
                endsStream: payload.endStream,
                loop.limits,
                into: &loop.fields
            )
            answer(head, id, endsStream: payload.endStream)
        } catch {
            switch error {
            case .malformed: reset(id, .protocolError)
            case .refused(let fault):
                let stream = HTTP2Stream(self, id, nil, endsStream: payload.endStream)
                streams[id] = stream
                stream.answer(loop.responder.respond(to: fault, on: connection))
            }
            noteFault()
        }
    }

    private func answer(_ head: RequestHead, _ id: HTTP2StreamID, endsStream: Bool) {
        let stream = HTTP2Stream(self, id, head.facts, endsStream: endsStream)
        streams[id] = stream
        if case .length(let length) = head.facts.body, length > loop.limits.body { return refuse(.bodyTooLong, stream) }
        switch loop.responder.respond(to: head, on: connection) {
        case .now(let response): stream.answer(response)
        case .later(let produce):
            if head.facts.expectsContinue, !endsStream { stream.writeContinue() }
            // Or nobody would end its task.
            guard isOpen(stream) else { return }
            stream.start(head, produce)
        }
    }

    private func take(_ payload: HTTP2Frame.FramePayload.Data, _ stream: HTTP2Stream) {
        guard case .byteBuffer(let data) = payload.data else { return }
        if data.readableBytes > 0 { wire.noteProgress() }
        if let fault = stream.take(data, isLast: payload.endStream) { return refuse(fault, stream) }
        creditStream(stream, data.readableBytes + (payload.paddingBytes.map { $0 + 1 } ?? 0))
    }

    private func takeTrailers(_ payload: HTTP2Frame.FramePayload.Headers, _ stream: HTTP2Stream) {
        guard payload.endStream, HTTP2HeadReader.areTrailers(payload.headers) else {
            reset(stream, .protocolError)
            return noteFault()
        }
        if let fault = stream.takeTrailers() { refuse(fault, stream) }
    }

    private func refuse(_ fault: HTTP2Stream.BodyFault, _ stream: HTTP2Stream) {
        switch fault {
        case .mismatch:
            reset(stream, .protocolError)
            noteFault()
        case .tooLong: refuse(.bodyTooLong, stream)
        }
    }

    /// Answers what cannot be taken for a request; it ends the stream and not the connection.
    private func refuse(_ fault: RequestFault, _ stream: HTTP2Stream) {
        guard !stream.hasResponseBegun else { return reset(stream, .cancel) }
        stream.end()
        stream.answer(loop.responder.respond(to: fault, on: connection))
        noteFault()
    }

    private func noteFault() {
        faultCount += 1
        if faultCount > HTTP2Configuration.faults { fail(.enhanceYourCalm) }
    }

    // MARK: - Windows

    private var heldCount: Int { streams.values.reduce(0) { $0 + $1.heldCount } }

    /// Gives back to the connection's window what nobody holds any more, as soon as it is half of it.
    private func creditConnection() {
        guard isServing, isWritable, window <= HTTP2Configuration.window / 2 else { return }
        let credit = HTTP2Configuration.window - window - heldCount
        guard credit > HTTP2Configuration.window / 4 else { return }
        write(.rootStream, .windowUpdate(windowSizeIncrement: credit))
        flush()
    }

    private func creditStream(_ stream: HTTP2Stream, _ count: Int) {
        stream.uncredited += count
        creditWindows(stream)
    }

    /// Gives back to a stream's window what its task has read.
    func creditWindows(_ stream: HTTP2Stream) {
        guard isOpen(stream), isWritable else { return }
        creditConnection()
        guard !stream.hasRequestEnded, stream.heldCount == 0, stream.uncredited > HTTP2Configuration.window / 4 else {
            return
        }
        let credit = stream.uncredited
        stream.uncredited = 0
        write(stream.id, .windowUpdate(windowSizeIncrement: credit))
        flush()
    }

    // MARK: - Frames

    /// Whether a stream is one of this connection's, and not closed.
    func isOpen(_ stream: HTTP2Stream) -> Bool { streams[stream.id] === stream }

    func write(
        _ id: HTTP2StreamID,
        _ payload: HTTP2Frame.FramePayload,
        promise: EventLoopPromise<Void>? = nil
    ) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: promise)
    }

    /// Sends what was written, if nothing else will.
    func flush() {
        if !isReading { context?.flush() }
    }

    func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) { reset(stream.id, code) }

    private func reset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        write(id, .rstStream(code))
        flush()
    }

    private func streamClosed(_ id: HTTP2StreamID) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        stream.end()
        creditConnection()
        guard streams.isEmpty else { return }
        since = loop.now
        if case .draining = phase { linger() }
    }
}
