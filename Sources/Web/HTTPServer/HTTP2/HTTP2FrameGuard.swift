// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2

/// The handler between TLS and NIOHTTP2.
///
/// It combines the outgoing frames of one round of the event loop in one write. It also limits the bytes that a client
/// may send without a request.
final class HTTP2FrameGuard: ChannelDuplexHandler, NIOHTTP2FrameDelegate {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The maximum number of bytes that a client may send between requests, pieces of bodies and pieces of responses.
    ///
    /// It limits floods of WINDOW_UPDATE frames, unknown frames and padding, which NIOHTTP2 does not count.
    static let idleLimit = 131_072

    /// The connection's handler; nil after this handler has been removed from the pipeline.
    var owner: HTTP2Handler?
    /// True if received bytes are dropped.
    var discardsInput = false
    /// True if NIOHTTP2 has ended the connection because of an error.
    private(set) var hasFailed = false
    /// The time in nanoseconds when the incomplete frame or header block began; nil if nothing is incomplete.
    private(set) var incompleteSince: UInt64?

    private let loop: EventLoopState
    private var context: ChannelHandlerContext?
    private var tracker = FrameTracker()
    private var settings = EarlySettings()
    private var idleBytes = 0
    private var output = ByteBuffer()
    private var promises: [EventLoopPromise<Void>] = []
    private var isFlushScheduled = false

    init(_ loop: EventLoopState) { self.loop = loop }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // The client's preface is incomplete.
        incompleteSince = loop.now
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
        let before = tracker.completedCount
        tracker.consume(bytes.readableBytesUInt8Span)
        if !tracker.isIncomplete {
            incompleteSince = nil
        } else if incompleteSince == nil || tracker.completedCount != before {
            incompleteSince = loop.now
        }
        // A header block has its own limit and deadline, and results in a request.
        if !tracker.isInHeaderBlock { idleBytes += bytes.readableBytes }
        context.fireChannelRead(wrapInboundOut(settings.filter(bytes)))
        if idleBytes > Self.idleLimit { owner?.fail(.enhanceYourCalm) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After an error of TLS or of the network nothing can be sent.
        owner?.connectionFailed(error)
    }

    /// Resets the count of ``idleLimit`` after a request or a piece of a body.
    func resetIdleCount() { idleBytes = 0 }

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
        if output.readableBytes > EventLoopState.outputSize { send(context) }
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

/// Tracks the frames that a client sends (RFC 9113 section 4.1), without reading their payloads.
///
/// NIOHTTP2 reports only complete frames and complete header blocks. The tracker detects a client that never completes
/// a frame or a header block.
struct FrameTracker {
    /// The client's preface, RFC 9113 section 3.4.
    private static let prefaceLength = 24
    private static let headerLength = 9

    /// The number of complete frames; a header block and its CONTINUATION frames count as one.
    private(set) var completedCount = 0

    /// The number of missing bytes of the preface or of the current frame's payload.
    private var remaining = FrameTracker.prefaceLength
    private var headerBytesRead = 0
    private var length = 0
    private var type: UInt8 = 0xFF
    /// True if a header block is incomplete.
    private(set) var isInHeaderBlock = false

    /// True if a header block, or a frame other than DATA, is incomplete.
    var isIncomplete: Bool { isInHeaderBlock || headerBytesRead > 0 || remaining > 0 && type != 0 }

    mutating func consume(_ bytes: Span<UInt8>) {
        var position = 0
        while position < bytes.count {
            if remaining > 0 {
                let count = min(remaining, bytes.count - position)
                remaining -= count
                position += count
                if remaining == 0 { finish() }
            } else {
                consumeHeaderByte(bytes[position])
                position += 1
            }
        }
    }

    private mutating func consumeHeaderByte(_ byte: UInt8) {
        switch headerBytesRead {
        case 0: length = Int(byte)
        case 1, 2: length = length << 8 | Int(byte)
        case 3: type = byte
        case 4: readFlags(byte)
        default: break
        }
        headerBytesRead += 1
        guard headerBytesRead == Self.headerLength else { return }
        headerBytesRead = 0
        remaining = length
        if remaining == 0 { finish() }
    }

    /// A header block is incomplete until a HEADERS or CONTINUATION frame has the flag END_HEADERS.
    private mutating func readFlags(_ flags: UInt8) {
        guard type == 0x1 || type == 0x9 else { return }
        isInHeaderBlock = flags & 0x4 == 0
    }

    private mutating func finish() {
        if !isInHeaderBlock { completedCount += 1 }
    }
}
