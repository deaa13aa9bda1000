// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import NIOHTTP2

/// The handler between TLS and NIOHTTP2: it collects the frames of a round in one write, and limits the bytes that the
/// client sends.
final class HTTP2FrameGuard: ChannelDuplexHandler, NIOHTTP2FrameDelegate {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The number of bytes that a client may send without a request, a body, or data of a response in between.
    ///
    /// It limits floods of WINDOW_UPDATE, of unknown frames and of padding, which NIOHTTP2 does not count.
    static let idleLimit = 131_072

    /// The connection's handler; nil when this handler is out of the pipeline.
    var owner: HTTP2Handler?
    /// True if received bytes are dropped.
    var discardsInput = false
    /// True if NIOHTTP2 has ended the connection because of an error.
    private(set) var hasFailed = false
    /// The time in nanoseconds since when a frame or a header block is incomplete; nil if none is.
    private(set) var unfinishedSince: UInt64?

    private let loop: ConnectionLoop
    private var context: ChannelHandlerContext?
    private var watch = FrameWatch()
    private var settings = EarlySettings()
    private var idleBytes = 0
    private var output = ByteBuffer()
    private var promises: [EventLoopPromise<Void>] = []
    private var isFlushScheduled = false

    init(_ loop: ConnectionLoop) {
        self.loop = loop
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // The client's preface is missing.
        unfinishedSince = loop.now
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        owner = nil
        for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
        promises = []
        output = ByteBuffer()
    }

    // MARK: - From the client

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !discardsInput else { return }
        let bytes = unwrapInboundIn(data)
        let before = watch.completedCount
        watch.note(bytes.readableBytesUInt8Span)
        if !watch.isUnfinished {
            unfinishedSince = nil
        } else if unfinishedSince == nil || watch.completedCount != before {
            unfinishedSince = loop.now
        }
        // A header block has a limit and a deadline of its own, and ends in a request.
        if !watch.isInBlock { idleBytes += bytes.readableBytes }
        context.fireChannelRead(wrapInboundOut(settings.filter(bytes)))
        if idleBytes > Self.idleLimit { owner?.fail(.enhanceYourCalm) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error of TLS or of the network: nothing can be sent any more.
        owner?.connectionFailed(error)
    }

    /// Records a request or a piece of a body.
    func noteProgress() { idleBytes = 0 }

    func wroteFrame(_ frame: HTTP2Frame) {
        switch frame.payload {
        case .data: idleBytes = 0
        case .goAway(_, let code, _): if code != .noError { hasFailed = true }
        default: break
        }
    }

    // MARK: - To the client

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        output.writeImmutableBuffer(unwrapOutboundIn(data))
        if let promise { promises.append(promise) }
        if output.readableBytes > ConnectionLoop.outputSize { send(context) }
    }

    func flush(context: ChannelHandlerContext) {
        guard !isFlushScheduled else { return }
        guard let owner else { return flushNow() }
        isFlushScheduled = true
        loop.flushLater(owner)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        flushNow()
        context.close(mode: mode, promise: promise)
    }

    /// Sends the collected frames.
    func flushNow() {
        isFlushScheduled = false
        guard let context else { return }
        send(context)
        context.flush()
    }

    private func send(_ context: ChannelHandlerContext) {
        guard output.readableBytes > 0 else { return }
        let bytes = output
        output = ByteBuffer()
        let waiting = promises
        promises = []
        guard let first = waiting.first else { return context.write(wrapOutboundOut(bytes), promise: nil) }
        for promise in waiting.dropFirst() { first.futureResult.cascade(to: promise) }
        context.write(wrapOutboundOut(bytes), promise: first)
    }
}
