// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// The network between the connection and its client.
///
/// It keeps sent bytes until the client reads them.
final class SlowNetwork: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The bytes that the client has read.
    private(set) var readByClient = ByteBuffer()
    /// The number of calls of `read()` that reached the network.
    private(set) var readCount = 0
    private(set) var flushCount = 0
    /// True if the connection has closed its outgoing direction and the client has read all bytes.
    private(set) var isOutputClosed = false
    private(set) var isClosed = false
    /// The number of attempts to close the outgoing direction.
    private(set) var outputCloseCount = 0
    /// The largest number of bytes that have waited for the client.
    private(set) var maximumWaitingCount = 0
    /// True if the client reads all bytes at once.
    var isClientReading = true
    /// Called at the end of each flush.
    var onFlush: ((ChannelHandlerContext) -> Void)?

    private typealias Entry = (data: ByteBuffer, promise: EventLoopPromise<Void>?)
    private var unflushed: [Entry] = []
    private var waiting: [Entry] = []
    private var waitingCount = 0
    private var isWritable = true
    private var isOutputClosing = false
    private var outputClose: EventLoopPromise<Void>?
    private let setWritable: (Bool) -> Void
    private var context: ChannelHandlerContext?

    init(_ setWritable: @escaping (Bool) -> Void) {
        self.setWritable = setWritable
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func read(context: ChannelHandlerContext) {
        readCount += 1
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosed, !isOutputClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let data = unwrapOutboundIn(data)
        unflushed.append((data, promise))
        waitingCount += data.readableBytes
        maximumWaitingCount = max(maximumWaitingCount, waitingCount)
        updateWritability()
    }

    func flush(context: ChannelHandlerContext) {
        flushCount += 1
        waiting += unflushed
        unflushed = []
        if isClientReading { clientReads() }
        onFlush?(context)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .output:
            outputCloseCount += 1
            isOutputClosing = true
            outputClose = promise
            completeOutputClose()
        case .input: promise?.succeed(())
        case .all:
            isClosed = true
            let entries = waiting + unflushed
            waiting = []
            unflushed = []
            for entry in entries { entry.promise?.fail(ChannelError.ioOnClosedChannel) }
            if !isOutputClosed { outputClose?.fail(ChannelError.ioOnClosedChannel) }
            context.close(promise: promise)
        }
    }

    /// Lets the client read some of the waiting bytes.
    func clientReads(_ count: Int = .max) {
        var count = count
        while count > 0, !waiting.isEmpty {
            var entry = waiting.removeFirst()
            guard let part = entry.data.readSlice(length: min(count, entry.data.readableBytes)) else { return }
            readByClient.writeImmutableBuffer(part)
            count -= part.readableBytes
            waitingCount -= part.readableBytes
            if entry.data.readableBytes > 0 {
                waiting.insert(entry, at: 0)
            } else {
                entry.promise?.succeed(())
            }
        }
        completeOutputClose()
        updateWritability()
    }

    private func completeOutputClose() {
        guard isOutputClosing, waiting.isEmpty, !isOutputClosed else { return }
        isOutputClosed = true
        outputClose?.succeed(())
    }

    private func updateWritability() {
        let isNow = isWritable ? waitingCount <= 65_536 : waitingCount < 32_768
        guard isNow != isWritable else { return }
        isWritable = isNow
        setWritable(isNow)
        context?.fireChannelWritabilityChanged()
    }
}
