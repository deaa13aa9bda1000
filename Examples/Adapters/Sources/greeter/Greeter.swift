// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIORealms

/// Greets the user of each request.
final class Greeter: ChannelInboundHandler {
    typealias InboundIn = AuthenticatedRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let request) = unwrapInboundIn(data) else { return }
        let text = ByteBuffer(string: "Welcome to \(request.head.uri), \(request.user.username).\n")
        let head = HTTPResponseHead(
            version: .http1_1,
            status: .ok,
            headers: ["Content-Length": "\(text.readableBytes)"]
        )
        for part: OutboundOut in [.head(head), .body(.byteBuffer(text))] {
            context.write(wrapOutboundOut(part), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
