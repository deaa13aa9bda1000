// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import NIOHTTP1

/// Writes the request whose head passes through the pipeline, and wipes the buffer when it is sent.
///
/// The decoder of responses must see the method of every request, so a head and an end are written. The bytes are those of
/// the ``HTTPSRequest``, because the encoder of NIOHTTP1 takes fields as `String` only, and a `String` cannot be wiped.
final class RequestEncoder: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = ByteBuffer

    private let userAgent: String
    private var sent = ByteBuffer()
    /// The next request.
    var request: HTTPSRequest?

    init(userAgent: String) {
        self.userAgent = userAgent
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data), let request else { return }
        self.request = nil
        sent = request.encoded(userAgent: userAgent)
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        // The TLS handler has released the buffer by then, so this is its only owner.
        written.futureResult.whenComplete { _ in bound.value.sent.wipe() }
        context.write(wrapOutboundOut(sent), promise: written)
    }
}
