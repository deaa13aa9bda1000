// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import NIOHTTP2

/// Stands between TLS and the frames: one write for all frames of a round, and an eye on what the client sends.
final class HTTP2Wire: ChannelDuplexHandler, NIOHTTP2FrameDelegate {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How much a client may send that is neither a request nor a body, and has no answer's progress between, in bytes.
    ///
    /// It bounds floods of WINDOW_UPDATE, of unknown frames and of padding, which the library does not count.
    static let idleTalk = 131_072

    /// The connection; gone when the wire is out of the pipeline.
    var owner: HTTP2Handler?
    /// Whether what comes is dropped.
    var isDeaf = false
    /// Whether the library has ended the connection because of a fault.
    private(set) var hasFailed = false
    /// Since when the client owes the rest of a frame or of a header block, in nanoseconds; nil if it does not.
    private(set) var unfinishedSince: UInt64?

    private let loop: ConnectionLoop
    private var context: ChannelHandlerContext?
    private var watch = FrameWatch()
    private var talk = 0
    private var output = ByteBuffer()
    private var promises: [EventLoopPromise<Void>] = []
    private var isFlushScheduled = false

    init(_ loop: ConnectionLoop) {
        self.loop = loop
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // Nobody has sent the preface yet, and it is owed.
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
        guard !isDeaf else { return }
        let bytes = unwrapInboundIn(data)
        let before = watch.completedCount
        watch.note(bytes.readableBytesUInt8Span)
        if !watch.isUnfinished {
            unfinishedSince = nil
        } else if unfinishedSince == nil || watch.completedCount != before {
            unfinishedSince = loop.now
        }
        talk += bytes.readableBytes
        context.fireChannelRead(data)
        if talk > Self.idleTalk { owner?.fail(.enhanceYourCalm) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // From TLS or the network: there is nobody to talk to any more.
        owner?.connectionFailed(error)
    }

    /// Takes note that the client has done something of use.
    func noteProgress() { talk = 0 }

    func wroteFrame(_ frame: HTTP2Frame) {
        switch frame.payload {
        case .data: talk = 0
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

    /// Sends what has been put together.
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
