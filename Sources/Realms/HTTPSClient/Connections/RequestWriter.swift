// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1

/// Writes the request whose head passes through the pipeline, wipes the buffer when it is sent, and limits the bytes
/// that are received until the next request.
///
/// The decoder has no limit for everything that is no field and no body, such as the extensions of chunks. It must see
/// the method of every request, so a head and an end are written. The bytes are those of the ``HTTPSRequest``, because
/// the encoder of NIOHTTP1 takes fields as `String` only, and a `String` cannot be wiped.
final class RequestWriter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = ByteBuffer

    private let userAgent: String
    private let maximumBytes: Int
    private var received = 0
    private var sent = ByteBuffer()
    var request: HTTPSRequest?

    struct TooManyBytes: Error { let maximum: Int }

    init(_ configuration: HTTPSClientConfiguration) {
        userAgent = configuration.userAgent
        // The framing of small chunks has more bytes than their data. The limits may be as large as Int.max.
        maximumBytes = min(configuration.maximumHead, 1 << 40) + 16 * min(configuration.maximumBody, 1 << 40)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard received <= maximumBytes else { return }
        received += unwrapInboundIn(data).readableBytes
        guard received <= maximumBytes else { return context.fireErrorCaught(TooManyBytes(maximum: maximumBytes)) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data), let request else { return }
        self.request = nil
        received = 0
        sent = request.encoded(userAgent: userAgent)
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        // The TLS handler has released the buffer by then, so this is its only owner.
        written.futureResult.whenComplete { _ in bound.value.sent.wipe() }
        context.write(wrapOutboundOut(sent), promise: written)
    }
}
