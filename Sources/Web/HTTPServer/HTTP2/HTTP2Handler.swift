// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// An HTTP/2 connection.
///
/// It reads and writes frames, and handles several requests at a time. Requests take the same two lanes as in
/// ``HTTP1Handler``. NIOHTTP2 checks the syntax and the order of frames.
final class HTTP2Handler: EventLoopConnection, ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// The state of a connection; it only changes to a later case.
    enum State {
        /// Requests are accepted.
        case open
        /// No new requests are accepted. Requests that have begun continue.
        case draining
        /// All streams have ended, and the last frames are being sent.
        case sendingLast
        /// All frames are sent, and the client has not closed the connection yet.
        case lingering
        case closed
    }

    let loop: EventLoopState
    let frameGuard: HTTP2FrameGuard
    /// The place among all connections; nil if the connection is not counted.
    let place: ConnectionPlace?
    let connection: Connection
    let onError: (any Error, Connection) -> Void
    /// Called once, when the connection has ended.
    let onEnd: () -> Void
    private(set) var context: ChannelHandlerContext?
    var state = State.open
    var deadlines: ConnectionDeadlines
    var streams: [HTTP2StreamID: HTTP2Stream] = [:]
    var lastStream = HTTP2StreamID.rootStream
    /// The number of bytes of DATA that the client may still send on the connection.
    var window = HTTP2Configuration.windowSize
    /// The number of responses that are written and wait until the client opens its windows.
    var unsentCount = 0
    /// The number of these that is counted for the address of the client.
    private var countedUnsent = 0
    /// The number of rejected requests.
    var faultCount = 0
    /// True if the client has closed its side of the connection.
    var hasPeerEnded = false
    /// True if `read()` was called while responses waited for the client to read them.
    private(set) var isReadPending = false
    private var isReading = false
    /// True if this connection is in the list of its loop.
    private(set) var isInLoop = false

    init(
        _ loop: EventLoopState,
        place: ConnectionPlace?,
        connection: Connection,
        onError: @escaping (any Error, Connection) -> Void,
        onEnd: @escaping () -> Void
    ) {
        self.loop = loop
        self.place = place
        self.connection = connection
        self.onError = onError
        self.onEnd = onEnd
        frameGuard = HTTP2FrameGuard(loop)
        deadlines = ConnectionDeadlines(at: loop.now)
    }

    /// Makes the handlers of a connection, in the order from the network; this handler is the last.
    func makeHandlers() -> [any ChannelHandler] {
        frameGuard.owner = self
        let frames = NIOHTTP2Handler(
            mode: .server,
            frameDelegate: frameGuard,
            connectionConfiguration: HTTP2Configuration.connection(loop.limits),
            streamConfiguration: HTTP2Configuration.stream
        )
        return [frameGuard, frames, self]
    }

    /// Sends the settings of ``HTTP2Configuration/restrictiveSettings(_:)``; all handlers must be in the pipeline.
    func begin() {
        write(.settings(.settings(HTTP2Configuration.restrictiveSettings(loop.limits))), to: .rootStream)
        flush()
    }

    // MARK: - The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        deadlines.recordWritability(context.channel.isWritable, at: loop.now)
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
        case is ConnectionEviction: evict()
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard isServing else { return }
        // Frames that are written during the read are sent together at the end of the read.
        isReading = true
        defer { isReading = false }
        switch frame.payload {
        case .headers(let payload):
            if let stream = streams[frame.streamID] {
                receiveTrailers(payload, of: stream)
            } else {
                receiveRequest(payload, id: frame.streamID)
            }
        case .data(let payload):
            if let stream = streams[frame.streamID] { receiveData(payload, of: stream) }
        case .goAway: stopAcceptingRequests()
        case .alternativeService, .origin, .ping, .priority, .pushPromise, .rstStream, .settings, .windowUpdate: break
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        deadlines.recordWritability(context.channel.isWritable, at: loop.now)
        context.fireChannelWritabilityChanged()
        if deadlines.isWritable {
            creditConnection()
            for stream in Array(streams.values) { creditWindows(stream) }
        }
        if isReadPending, deadlines.isWritable { context.channel.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        onError(error, connection)
        // If the connection has not failed, the error concerns one stream, which NIOHTTP2 has reset.
        if frameGuard.hasFailed { linger() }
    }

    func read(context: ChannelHandlerContext) {
        // While responses wait for the client to read them, no new requests are read.
        isReadPending = isServing && !deadlines.isWritable
        if !isReadPending { context.read() }
    }

    // MARK: - The event loop

    override func closeIfExpired(at now: UInt64) {
        let (times, elapsed) = (loop.times, deadlines.elapsed(at: now))
        place?.recordIdleTime(isIdle ? elapsed : nil)
        if deadlines.isWriteOverdue(at: now, times: times) { return abort() }
        switch state {
        case .open, .draining:
            if let start = frameGuard.incompleteSince, now &- start > times.header { return fail(.enhanceYourCalm) }
            guard streams.isEmpty else { return expireStreams(now) }
            guard deadlines.isRequestOverdue(at: now, times: times) else { return }
            goAway(.noError)
            linger()
        case .sendingLast: if elapsed > times.write { abort() }
        case .lingering: if elapsed > times.linger { abort() }
        case .closed: break
        }
    }

    private func expireStreams(_ now: UInt64) {
        for stream in Array(streams.values) where isOpen(stream) {
            if stream.isStalled(at: now) {
                reset(stream, code: .cancel)
            } else if stream.isBodyWithheld {
                stream.exclude(UInt64(EventLoopState.tick.nanoseconds))
            } else if stream.isTooSlow(at: now) {
                refuse(stream, because: .timedOut)
            }
        }
        flush()
    }

    override func drain() {
        guard state == .open else { return }
        goAway(.noError)
        flush()
        stopAcceptingRequests()
    }

    override func abort() {
        if state == .closed { return }
        end()
        context?.close(mode: .all, promise: nil)
    }

    override func flushNow() {
        frameGuard.flushNow()
        if unsentCount != countedUnsent { countUnsent() }
    }

    /// Counts the responses that wait for the windows of the client, and resets their streams if there are too many.
    func countUnsent() {
        let isAllowed = place?.replaceUnsentCount(countedUnsent, by: unsentCount) ?? true
        countedUnsent = unsentCount
        guard !isAllowed else { return }
        for stream in Array(streams.values) where stream.hasResponseEnded { reset(stream, code: .enhanceYourCalm) }
    }

    // MARK: - Frames

    /// Returns whether a stream belongs to this connection and is not closed.
    func isOpen(_ stream: HTTP2Stream) -> Bool { streams[stream.id] === stream }

    func write(_ payload: HTTP2Frame.FramePayload, to id: HTTP2StreamID, promise: EventLoopPromise<Void>? = nil) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: promise)
    }

    /// Sends the written frames; during a read this does nothing, because they are sent at the end of the read.
    func flush() {
        if !isReading { context?.flush() }
    }

    func reset(_ stream: HTTP2Stream, code: HTTP2ErrorCode) { reset(stream.id, code: code) }

    func reset(_ id: HTTP2StreamID, code: HTTP2ErrorCode) {
        write(.rstStream(code), to: id)
        flush()
    }
}
