// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import NIOHTTPTypes

/// Bounds what one request may send and how long it may take; the connection of one that goes beyond is closed.
///
/// Nothing that is served here needs a body, so one that is sent is read only to get at the next request.
final class RequestLimits: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    /// The longest body, in bytes: 64 KiB.
    static let maximumBody = 64 << 10

    /// How long a body may take to arrive: 20 seconds.
    static let bodyTime = TimeAmount.seconds(20)

    private var received = 0
    private var deadline: Scheduled<Void>?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            received = 0
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: Self.bodyTime) { channel.close(promise: nil) }
        case .body(let part):
            received += part.readableBytes
            guard received <= Self.maximumBody else {
                context.close(promise: nil)
                return
            }
        case .end:
            deadline?.cancel()
            deadline = nil
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = nil
        context.fireChannelInactive()
    }
}
